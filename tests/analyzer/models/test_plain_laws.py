"""Data of plain laws give plain formulas, and powers that are no fractions give intervals that hold the truth."""

import numpy as np
import pandas
import pytest
import scaling_studies
from plain_laws import LAWS, case, growth_of
from scaling_studies import at, frame_of, parameters_of

import analyzer
from analyzer.models.averaging import WeightedModel
from analyzer.models.choose.likely_models import complexity, plainest
from analyzer.models.choose.shapes import ROUNDING, rounded, rounding_error
from analyzer.models.terms.parsing import parse


def test_plain_laws_are_found_and_predicted():
    right, errors = [], []
    for seed in range(2 * len(LAWS)):
        of = case(seed)
        model = analyzer.fit(of.frame, "time", list(of.growth))
        right.append(all(growth_of(model.selected, name) == growth for name, growth in of.growth.items()))
        errors.append(abs(model.predict(**of.at) / of.truth - 1))
    assert np.mean(right) >= 0.9
    assert np.percentile(errors, 75) < 0.03 and np.percentile(errors, 90) < 0.1


def test_intervals_hold_the_truth_where_powers_are_no_fractions(monkeypatch):
    held = []
    for seed, mode in enumerate(["one", "add", "mul", "one"] * 8):
        monkeypatch.setattr(scaling_studies, "POWERS", np.random.default_rng(seed).uniform(0.1, 3, 12))
        study = scaling_studies.study(70_000 + seed, mode)
        model = analyzer.fit(frame_of(study), "time", parameters_of(study))
        for place, (_, _, truth) in enumerate(study["truth"]):
            low, high = model.prediction(**at(study, place)).interval
            held.append(low <= truth <= high)
    assert 0.87 <= np.mean(held) <= 0.99  # of 96 truths that depend on each other: 0.9 to 0.98 of many


def test_data_without_noise_have_a_model_though_many_terms_say_the_same():
    p, n = (axis.ravel() for axis in np.meshgrid([2.0, 4, 8, 16], [32.0, 64, 128]))
    model = analyzer.fit(pandas.DataFrame({"p": p, "n": n, "time": 1e-3 * n / p}), "time", ["p", "n"])
    assert model.terms == ["n/p"] and model.predict(p=64, n=256) == pytest.approx(4e-3, rel=1e-6)


def member(weight, *terms, coefficients=None):
    coefficients = np.ones(len(terms)) if coefficients is None else np.array(coefficients)
    return WeightedModel(tuple(parse(term) for term in terms), coefficients, np.eye(len(terms)), 0.1, 9, weight)


def test_the_plainest_of_those_that_are_about_as_likely_is_shown():
    odd, plain, unlikely = member(0.6, "1", "p^(2/3)"), member(0.2, "log2(p)"), member(0.05, "p")
    assert plainest([odd, plain, unlikely]) == [plain, odd, unlikely]
    assert plainest([odd, unlikely]) == [odd, unlikely]
    assert plainest([plain, odd]) == [plain, odd]


@pytest.mark.parametrize(
    ("plainer", "other"),
    [
        (["p"], ["1", "p"]), (["p"], ["p^(1/2)"]), (["p^(1/2)"], ["p^(1/3)"]), (["p^(1/3)"], ["p^(7/20)"]),
        (["p"], ["p^3"]), (["log2(p)"], ["log2(p)^2"]), (["n/p"], ["n/p", "1"]), (["1/p"], ["p^(-2)"]),
        (["p"], ["p*log2(p)"]),
    ],
)  # fmt: skip
def test_plainer(plainer, other):
    assert complexity(member(1, *plainer)) < complexity(member(1, *other))
    assert complexity(member(1, *plainer)) < complexity(member(1, *plainer, coefficients=[-1] * len(plainer)))


def test_powers_that_stand_for_others():
    assert rounded(member(1, "1", "p^(1/2)", "n^3*log2(n)")) == set()
    assert rounded(member(1, "p^(2/3)*n")) == {"p"} and rounded(member(1, "p*log2(n)^2")) == {"n"}
    uniform_on_a_step = np.std(np.linspace(-1 / 40, 1 / 40, 100_001))
    assert pytest.approx(1.2 * uniform_on_a_step, rel=1e-4) == ROUNDING
    names = [frozenset(), frozenset("p"), frozenset("pn")]
    errors = rounding_error(names, {"p": 40.0, "n": 1.0}, {"p": (1, 10), "n": (2, 8)})
    assert errors == pytest.approx(ROUNDING * np.array([0, np.log(4), np.hypot(np.log(4), np.log(2))]))
    assert (rounding_error(names, {"p": 5.0, "n": 4.0}, {"p": (1, 10), "n": (2, 8)}) == 0).all()
