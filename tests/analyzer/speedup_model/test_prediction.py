"""Extrapolated factors: lines by numpy, intervals by scipy, the scaling set with known curves, and where it ends.

Sources: M. Casas, "Spectral analysis of executions" (2009), section 4.5. The scaling set is that of NAS SP, MG and BT:
fitted at 16, 36 and 64 ranks, predicted at 121, 256 and 1024, with factors that fall along known curves.
"""

from math import log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from phased import with_factors, write_phases
from scipy import stats

from analyzer.errors import TracelibError
from analyzer.models.speedup_curves import selected
from analyzer.opening import open_trace
from analyzer.parallel import Team
from analyzer.speedup_model.extrapolation import FORMS, LINEAR, ReciprocalCurve, baselines, fitted
from analyzer.speedup_model.parameters import SpeedupParameters, parameters
from analyzer.speedup_model.prediction import CONFIDENCE, predict

FITTED, AHEAD = (16, 36, 64), (121, 256, 1024)
LOG = fitted(FORMS["log"])
counts = st.lists(st.integers(1, 5000), min_size=3, max_size=8, unique=True).map(np.array)


@given(counts, st.data())
def test_a_line_is_that_of_least_squares(p, data):
    y = np.array(data.draw(st.lists(st.floats(0.1, 10), min_size=len(p), max_size=len(p))))
    of_logs, of_p = np.polynomial.Polynomial.fit, np.polynomial.Polynomial.fit
    assert LOG(p, y).value(7000) == pytest.approx(of_logs(np.log(p), y, 1)(log(7000)), rel=1e-6, abs=1e-6)
    assert fitted(LINEAR)(p, y).value(9) == pytest.approx(of_p(p, y, 1)(9), rel=1e-6, abs=1e-6)
    power = np.exp(of_logs(np.log(p), np.log(y), 1)(log(7000)))
    assert fitted(FORMS["power"])(p, y).value(7000) == pytest.approx(power, rel=1e-6)
    exponential = np.exp(of_p(p, np.log(y), 1)(60))
    assert fitted(FORMS["exponential"])(p, y).value(60) == pytest.approx(exponential, rel=1e-6)


def test_the_interval_is_the_prediction_interval_of_a_line():
    """Its formula from a textbook, with Student's quantile from scipy."""
    p, y = np.array([4.0, 8, 16, 32, 64]), np.array([0.99, 0.95, 0.93, 0.88, 0.87])
    x, at = np.log(p), log(256)
    line = stats.linregress(x, y)
    free, residuals = 3, y - line.intercept - line.slope * x
    width = np.sqrt((residuals**2).sum() / free * (1 + 1 / 5 + (at - x.mean()) ** 2 / ((x - x.mean()) ** 2).sum()))
    by_hand = line.intercept + line.slope * at + width * stats.t.ppf([0.05, 0.95], free)
    drawn = LOG(p, y).drawn(256, 200_000, np.random.default_rng(1))
    assert np.quantile(drawn, [0.05, 0.95]) == pytest.approx(by_hand, abs=width * 0.03)
    assert LOG(p[:2], y[:2]).drawn(256, 10, np.random.default_rng(1)) is None


def test_a_falling_amount_stays_above_0():
    falling = ReciprocalCurve(LOG(np.array([1, 2, 4]), np.array([1, 2.4, 2.9])))
    assert 0 < falling.value(1000) < falling.value(4) < 1
    assert falling.text().startswith("1 / (")


CODES = {
    "SP": {"balance": 0.06, "dependencies": 0.05, "transfer": 0.004, "ipc": -0.01, "instructions": 0.02},
    "MG": {"balance": 0.045, "dependencies": 0.06, "transfer": 0.01, "ipc": 0.0, "instructions": 0.01},
    "BT": {"balance": 0.008, "dependencies": 0.04, "transfer": 0.055, "ipc": -0.02, "instructions": 0.015},
}
"""How much of each factor is lost with each step of ln(P / 16); instructions grow by it."""
WORST = {"SP": "balance", "MG": "dependencies", "BT": "transfer"}


def run_of(losses, ranks, noise=None):
    """A run whose factors lie on the curves, times 1 + a small random share; its time is that of equation 4.9."""
    step = log(ranks / 16)
    off = dict.fromkeys(losses, 1.0) if noise is None else {key: 1 + noise.normal(0, 0.003) for key in losses}
    factor = {key: min((0.97 - losses[key] * step) * off[key], 1.0) for key in ("balance", "dependencies", "transfer")}
    ipc = (1.2 - losses["ipc"] * step) * off["ipc"]
    instructions = 1e12 * (1 + losses["instructions"] * step) * off["instructions"]
    useful = instructions / (ipc * 2.0)
    longest = useful / ranks / factor["balance"]
    ideal = longest / factor["dependencies"]
    return SpeedupParameters(
        str(ranks), ranks, ranks, ideal / factor["transfer"], useful, longest, ideal, instructions=instructions, ipc=ipc
    )


@pytest.mark.parametrize("code", CODES)
@pytest.mark.parametrize("noise", [None, 1, 2, 3])
def test_the_scaling_set(code, noise):
    """The model's error is smaller than that of each baseline at each rank count, and the worst factor is foreseen."""
    rng = None if noise is None else np.random.default_rng(noise)
    found = predict([run_of(CODES[code], ranks, rng) for ranks in (*FITTED, *AHEAD)], AHEAD, LOG)
    assert [run.ranks for run in found.fitted.runs] == list(FITTED)
    for one in found.predicted:
        error = one.error(one.speedup.value)
        assert error < (1e-6 if noise is None else 0.12), one.ranks
        assert all(error < one.error(value) for value in one.baselines.values()), one.ranks
        assert one.speedup.low <= one.speedup.value <= one.speedup.high
        assert one.worst.factor.key == one.observed_worst == WORST[code], one.ranks
        assert one.period_ns.value == pytest.approx(found.fitted.reference.period_ns / one.speedup.value)
    last = found.predicted[-1]
    assert noise or last.error(last.baselines["quadratic"]) > 0.2
    assert last.error(last.baselines["log-linear"]) > 0.2


@settings(max_examples=30)
@given(st.fixed_dictionaries({key: st.floats(0, 0.08) for key in CODES["SP"]}))
def test_factors_on_logarithmic_curves_are_predicted_exactly(losses):
    found = predict([run_of(losses, ranks) for ranks in (*FITTED, 256)], [256], LOG)
    assert found.predicted[0].speedup.value == pytest.approx(found.predicted[0].measured, rel=1e-6)


def test_from_traces(tmp_path):
    """Five traces of up to 256 ranks; the factors lie on curves of ln P."""
    runs = []
    for ranks in (*FITTED, 121, 256):
        step = log(ranks / 16)
        factors = (0.98 - 0.01 * step, 0.95 - 0.02 * step, 0.96 - 0.08 * step)
        path = write_phases(
            tmp_path / f"{ranks}.prv", *with_factors(ranks, round(1e9 / ranks / np.prod(factors)), *factors)
        )
        trace = open_trace(path)
        runs.append(parameters(trace, Team()))
        trace.close()
    found = predict(runs, (121, 256), LOG)
    for one in found.predicted:
        assert one.worst.factor.key == one.observed_worst == "balance"
        assert all(one.error(one.speedup.value) < one.error(value) for value in one.baselines.values())


def test_intervals_hold_what_they_say():
    """In many noisy studies, intervals hold the true value about as often as CONFIDENCE says."""
    held = 0
    for seed in range(100):
        rng = np.random.default_rng(seed)
        found = predict([run_of(CODES["SP"], ranks, rng) for ranks in (8, 16, 24, 36, 64, 100)], [256], LOG)
        measured = found.fitted.reference.span_ns / run_of(CODES["SP"], 256, rng).span_ns
        held += found.predicted[0].speedup.low <= measured <= found.predicted[0].speedup.high
    assert held >= 100 * CONFIDENCE - 8


def test_a_curve_that_would_fall_below_0_stays_above():
    """A share that loses 0.3 for each e-fold of ranks is 0 at e^3.3 of them: its logarithm is fitted then."""
    losses = CODES["SP"] | {"balance": 0.3}
    runs = [run_of(losses, ranks) for ranks in FITTED]
    found = predict(runs, [4096], LOG)
    (one,) = found.predicted
    (balance,) = (f for f in one.factors if f.factor.key == "balance")
    assert [factor.key for factor in found.bounded] == ["balance"]
    powers = fitted(FORMS["power"])(np.array(FITTED), np.array([run.balance for run in runs]))
    assert balance.value.value == pytest.approx(powers.value(4096)) and not balance.floored
    assert balance.quotient > 0 and one.worst is balance
    assert one.measured is None and one.error(3.0) is None
    assert not predict(runs, [max(FITTED) + 1], LOG).bounded


def test_a_factor_that_falls_to_nothing_says_so():
    """By P^-4 a share is a billionth at 256 times the ranks."""
    runs = [SpeedupParameters("", p, p, 1e9 * p**3, 1e9, p**-4.0, 1.0) for p in (1, 2, 4)]
    (one,) = predict(runs, [1024], fitted(FORMS["power"])).predicted
    assert any(factor.floored for factor in one.factors)


def test_weak_scaling_multiplies_time_by_the_work():
    """Twice the ranks do twice the work in 1.05 of the time: 4 ranks take 1.1025 by powers."""
    runs = [
        SpeedupParameters("", ranks, ranks, t, ranks * 1e9 * t / 1e9, t, t)
        for ranks, t in ((16, 1e9), (32, 1.05e9), (64, 1.1025e9))
    ]
    found = predict(runs, [128], fitted(FORMS["power"]))
    assert found.fitted.kind == "weak"
    assert found.predicted[0].period_ns.value == pytest.approx(1e9 * 1.05**3)
    assert found.predicted[0].speedup.value == pytest.approx(8 / 1.05**3)


def test_the_baselines_by_hand():
    p, s = np.array([1.0, 2, 4]), np.array([1.0, 2, 3])
    found = baselines(p, s, 8)
    slope = ((p - p.mean()) * (s - 2)).sum() / ((p - p.mean()) ** 2).sum()
    assert found["linear"] == pytest.approx(2 + slope * (8 - p.mean()))
    assert found["quadratic"] == pytest.approx(1 + (8 - 1) * 1 + (8 - 1) * (8 - 2) * (0.5 - 1) / 3)
    assert found["log-linear"] == pytest.approx(4)
    assert baselines(p[:2], s[:2], 8)["quadratic"] is None


def test_what_cannot_be_predicted_is_said():
    runs = [run_of(CODES["SP"], ranks) for ranks in FITTED]
    with pytest.raises(TracelibError, match="two rank counts at least"):
        predict(runs[:2], [36], LOG)
    one = SpeedupParameters("", 36, 72, 1e9, 1e9, 1e8, 1e9)
    with pytest.raises(TracelibError, match="different numbers of threads"):
        predict([runs[0], one, runs[2]], [128], LOG)


@pytest.mark.parametrize("code", CODES)
def test_models_chosen_from_the_data_beat_the_baselines_at_four_times_the_ranks(code):
    """Noise of 0.3 %, factors that are lines in ln P, which no model knows beforehand. At twice the ranks a parabola
    through the speedups may be as near by chance."""
    runs = [run_of(CODES[code], ranks, np.random.default_rng(3 + ranks)) for ranks in (16, 32, 64, 128, 256, 512, 1024)]
    for one in predict(runs, [512, 1024], selected).predicted:
        others = [one.error(base) for base in one.baselines.values()]
        assert one.error(one.speedup.value) < (0.05 if one.ranks == 512 else min(0.05, *others))
        assert one.speedup.low <= one.measured <= one.speedup.high
        assert one.worst.factor.key == WORST[code]


def test_models_follow_laws_that_no_line_in_ln_p_does():
    """An efficiency of 1 / (1 + P / 500), as where a serial part is waited for by all."""
    p = np.array([8.0, 16, 32, 64, 128])
    y = 1 / (1 + p / 500)
    curve = selected(p, y)
    assert curve.value(512) == pytest.approx(1 / (1 + 512 / 500), rel=0.1)
    assert abs(LOG(p, y).value(512) / (1 / (1 + 512 / 500)) - 1) > 0.3
    assert selected(p[:2], y[:2]).text() == LOG(p[:2], y[:2]).text()
    rising = selected(p, 3 + 0.1 * p)
    assert rising.value(512) == pytest.approx(54.2, rel=0.1)
    low, high = np.quantile(rising.drawn(512, 2000, np.random.default_rng(1)), [0.05, 0.95])
    assert low < 54.2 * 1.01 and high > 54.2 * 0.99
