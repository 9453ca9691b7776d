"""Predictions beyond the data: beside Extra-P's on 120 studies of known truth, and on others of our own seeds."""

import time

import numpy as np
from scaling_studies import QUARTILES, at, errors, frame_of, given, held_out, inside, parameters_of, study

import analyzer
from analyzer.models.choose.likely_models import choose_models


def models_of(cases):
    return [analyzer.fit(frame_of(case), "time", parameters_of(case)) for case in cases]


def beside_extra_p(cases, theirs):
    """Return for each kind quartiles, median and 90 % of our errors and Extra-P's, and truths in our intervals."""
    models = models_of(cases)
    ours = errors(cases, lambda number, place: models[number].predict(**at(cases[number], place)))
    extrap = errors(cases, lambda number, place: theirs[number]["predicted"][place])
    figures = {kind: [np.percentile(of[kind], QUARTILES) for of in (ours, extrap)] for kind in ours}
    return figures, inside(cases, models)


def test_every_figure_is_below_that_of_extra_p():
    figures, held = beside_extra_p(*given())
    for kind, (ours, theirs) in figures.items():
        assert (ours < theirs).all(), kind
        assert ours[1] < 0.55 * theirs[1]
    assert 0.90 <= held <= 0.98


def test_so_it_is_in_studies_that_the_method_was_not_chosen_by():
    figures, held = beside_extra_p(*held_out(240))
    for kind, (ours, theirs) in figures.items():
        assert (ours < theirs).all(), kind
        assert ours[1] < 0.8 * theirs[1]
    assert 0.90 <= held <= 0.98


def small_steps() -> float:
    """CPU seconds of 4000 small steps of NumPy: 4.6 ms where a model takes 37, more on a slower or shared core."""
    x, sums = np.linspace(1, 2, 60), {}
    begin = time.process_time()
    for k in range(2000):
        sums[k, str(k)] = float(np.log2(np.power(x, 0.5)).sum())
    return time.process_time() - begin


def test_a_model_takes_less_than_50_ms():
    case = study(1, "mul")
    frame = frame_of(case)
    values = {name: frame[name].to_numpy(float) for name in ("p", "n")}
    spent, beside = [], []
    for _ in range(5):
        begin = time.process_time()
        choose_models(values, frame["time"].to_numpy())
        spent.append(time.process_time() - begin)
        beside.append(small_steps())
    assert min(spent) < 0.05 / 0.0046 * min(beside)


def test_a_prediction_takes_microseconds():
    model = analyzer.fit(frame_of(study(1, "mul")), "time", ["p", "n"])
    begin = time.process_time()
    for _ in range(1000):
        model.predict(p=512, n=160)
    assert (time.process_time() - begin) / 1000 < 200e-6
