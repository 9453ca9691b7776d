"""The method that foresees the larger runs is taken: planted laws, and what the sentence says of it."""

from math import exp, log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analyzer.report.predicted_speedup import prediction_json, prediction_tables
from analyzer.speedup_model.extrapolation import FORMS, fitted
from analyzer.speedup_model.held_out import MODEL, held_out
from analyzer.speedup_model.parameters import SpeedupParameters
from analyzer.speedup_model.prediction import predict

LOG = fitted(FORMS["log"])


def of_speedup(ranks, speedup, balance=0.9):
    """A run of which the speedup is given; a factor of it (transfer) takes what the others leave."""
    period = 1e9 / speedup
    useful = 1e9
    longest = useful / ranks / balance
    return SpeedupParameters(str(ranks), ranks, ranks, period, useful, longest, max(longest, period * 0.9))


def test_errors_by_hand():
    """A method that is right, one that is twice off, and one that is not there for the smaller ones."""
    ranks, measured = np.array([2.0, 4, 8, 16]), np.array([2.0, 3.5, 6, 9])
    found = held_out(
        ranks, measured, lambda i: {MODEL: 2 * measured[i], "linear": measured[i], "quadratic": None if i < 3 else 1.0}
    )
    assert found.ranks == (16,)
    assert found.errors == pytest.approx({MODEL: log(2), "linear": 0, "quadratic": log(9)})
    assert found.growth[MODEL] == pytest.approx(log(2) / log(2))
    assert found.chosen == "linear"


def test_two_rank_counts_hold_nothing_out():
    assert held_out(np.array([2.0, 2, 4]), np.ones(3), lambda i: {MODEL: 1.0}) is None


@pytest.mark.parametrize(("off", "chosen"), [(0.03, MODEL), (0.5, "linear")])
def test_a_model_that_is_off_by_no_more_than_runs_scatter_stays(off, chosen):
    ranks, measured = np.array([2.0, 4, 8, 16, 32]), np.array([2.0, 3.5, 6, 9, 12])
    found = held_out(ranks, measured, lambda i: {MODEL: measured[i] * exp(off), "linear": measured[i]})
    assert (found.ranks, found.chosen) == ((16, 32), chosen)


@settings(max_examples=40)
@given(st.floats(0.3, 3.0), st.sampled_from([(4, 8, 16), (2, 4, 8, 16), (4, 8, 16, 32, 64)]))
def test_a_speedup_that_is_a_line_in_ln_p_is_predicted_by_one_where_factors_fail(slope, ranks):
    """The time between calls grows so that no factor is a curve of ln P, but the speedup is."""
    runs = [of_speedup(n, 2 + slope * log(n)) for n in ranks]
    ahead = 2 * ranks[-1]
    found = predict(runs, [ahead], LOG)
    one = found.predicted[0]
    errors = found.held_out.errors
    true = (2 + slope * log(ahead)) / (2 + slope * log(ranks[0]))
    assert errors["log-linear"] == pytest.approx(0, abs=1e-6)
    if errors[MODEL] > 0.06:
        assert one.method == "log-linear"
        assert one.expected.value == pytest.approx(true, rel=1e-6)
    assert one.expected.low <= true * (1 + 1e-9) or one.method == MODEL
    assert one.expected.low <= one.expected.value <= one.expected.high


@settings(max_examples=40)
@given(st.integers(0, 10_000))
def test_the_interval_is_as_wide_as_held_out_runs_were_off(seed):
    rng = np.random.default_rng(seed)
    ranks = (4, 8, 16, 32)
    runs = [of_speedup(n, float(n**0.7 * exp(rng.normal(0, 0.1)))) for n in ranks]
    found = predict(runs, [64], LOG)
    one, off = found.predicted[0], found.held_out.growth[found.held_out.chosen] * log(2)
    assert one.expected.low <= one.expected.value * exp(-off) * (1 + 1e-9)
    assert one.expected.high >= one.expected.value * exp(off) * (1 - 1e-9)
    assert one.period_ns.value == pytest.approx(found.fitted.reference.period_ns / one.expected.value)


def test_what_is_said():
    runs = [of_speedup(n, 2 + log(n)) for n in (4, 8, 16, 32, 64)]
    found = predict(runs, [128], LOG)
    said = " ".join(str(part) for part in prediction_tables(found))
    plain = prediction_json(found)
    if found.held_out.chosen != MODEL:
        assert "log-linear in ranks is taken" in said
    assert "Held out: the runs at 32 and 64 ranks" in said
    assert plain["held_out"]["ranks"] == [32, 64]
    assert set(plain["held_out"]["errors"]) == {MODEL, "linear", "quadratic", "log-linear"}
    assert plain["predicted"][0]["expected"] == found.predicted[0].expected.value
