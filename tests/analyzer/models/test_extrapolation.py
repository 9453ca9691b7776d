"""Predictions beyond the data: beside Extra-P's on 120 studies of known truth, and on studies of our own seeds."""

import time

import numpy as np
from scaling_studies import at, errors, frame_of, given, parameters_of, study

import analyzer
from analyzer.models.choose.choose import choose_models

QUARTILES = (25, 50, 75, 90)


def models_of(cases):
    return [analyzer.fit(frame_of(case), "time", parameters_of(case)) for case in cases]


def inside(cases, models):
    """The part of all truths that their intervals hold."""
    held = []
    for case, model in zip(cases, models, strict=True):
        for place, (_, _, truth) in enumerate(case["truth"]):
            low, high = model.prediction(**at(case, place)).interval
            held.append(low <= truth <= high)
    return np.mean(held)


def test_every_figure_is_below_that_of_extra_p():
    cases, theirs = given()
    models = models_of(cases)
    ours = errors(cases, lambda number, place: models[number].predict(**at(cases[number], place)))
    extrap = errors(cases, lambda number, place: theirs[number]["predicted"][place])
    for kind in extrap:
        assert (np.percentile(ours[kind], QUARTILES) < np.percentile(extrap[kind], QUARTILES)).all(), kind
        assert np.median(ours[kind]) < 0.55 * np.median(extrap[kind])
    assert 0.90 <= inside(cases, models) <= 0.98


def test_intervals_hold_the_truth_of_studies_of_other_seeds():
    cases = [study(40_000 + seed, mode) for seed, mode in enumerate(["one", "one", "add", "mul"] * 25)]
    models = models_of(cases)
    assert 0.90 <= inside(cases, models) <= 0.99
    found = errors(cases, lambda number, place: models[number].predict(**at(cases[number], place)))
    assert np.median(found["one near"]) < 0.05
    assert np.median(found["two far"]) < 0.05


def test_a_model_takes_less_than_50_ms():
    case = study(1, "mul")
    frame = frame_of(case)
    values = {name: frame[name].to_numpy(float) for name in ("p", "n")}
    spent = []
    for _ in range(5):
        begin = time.process_time()
        choose_models(values, frame["time"].to_numpy())
        spent.append(time.process_time() - begin)
    assert min(spent) < 0.05


def test_a_prediction_takes_microseconds():
    model = analyzer.fit(frame_of(study(1, "mul")), "time", ["p", "n"])
    begin = time.process_time()
    for _ in range(1000):
        model.predict(p=512, n=160)
    assert (time.process_time() - begin) / 1000 < 200e-6
