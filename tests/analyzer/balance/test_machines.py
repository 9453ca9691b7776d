"""Models of machine types and the plans that follow: P1 to P6 of the specification's section 2."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analyzer.balance.formula import TimeFormula
from analyzer.balance.learning import anomalies, fit_machine, measured_of
from analyzer.balance.plans import MachineGroup, fractions, plan_of, rank_times_s, relative_performance
from analyzer.balance.repository import MachineModel, load_models, save_models
from analyzer.errors import TracelibError

DELTA = "(7.57e-9 + 6.26e-7/p) * n**2 + (-5.78e-4 + 1.3e-3/p) * n + (-1.99 + 8.74/p)"  # (15)


def model(name, text):
    return MachineModel(name, TimeFormula(text))


def test_the_formula_of_the_study():
    """Predictions beyond the fit, with Delta (16): section 2, for the 18 machines."""
    delta, width = TimeFormula(DELTA), TimeFormula("1.514e-9*n**2 + 4.5e-6*n - 4.486e-2")
    by_hand = (7.57e-9 + 6.26e-7 / 18) * 80000**2 + (-5.78e-4 + 1.3e-3 / 18) * 80000 + (-1.99 + 8.74 / 18)
    assert delta(80000, 18) == pytest.approx(by_hand)
    assert width(80000) == pytest.approx(517.42 - 507.42, rel=0.01) and width(100000) == pytest.approx(15.54, rel=0.01)
    assert width(150000) == pytest.approx(1811.53 - 1776.84, rel=0.01)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "n +",
        "m * 2",
        "__import__('os')",
        "n.real",
        "[n]",
        "n if n else p",
        "'n'",
        "log(n, p)",
        "1" * 100_001,
        "n@p",
    ],
)
def test_no_formula(text):
    with pytest.raises(TracelibError, match="not a formula"):
        TimeFormula(text)


def test_formula_without_a_value():
    with pytest.raises(TracelibError, match="no value"):
        TimeFormula("1 / (n - 3)")(3)


GROUPS = [
    MachineGroup(model("taurus", "8e-8 * n**2"), 8),
    MachineGroup(model("bio", "2e-8 * n**2"), 6),
    MachineGroup(model("intel", "1e-8*n**2"), 4),
]


def test_fractions_by_hand():
    """Relative performance 1, 4, 8; 8 + 24 + 32 = 64 parts."""
    assert relative_performance(GROUPS, 1000) == pytest.approx([1, 4, 8])
    assert fractions(GROUPS, 1000) == pytest.approx([1 / 64, 4 / 64, 8 / 64])


def test_the_fractions_of_the_study():
    """g = 4.24 and 7.95 give f = 0.122 for an intel, 4.2 and 8.1 give 0.123, 4.25 and 7.55 give 0.119."""
    for bio, intel, expected in ((4.24, 7.95, 0.122), (4.2, 8.1, 0.123), (4.25, 7.55, 0.119)):
        groups = [MachineGroup(model(str(g), f"{1 / g!r} * n"), count) for g, count in ((1, 8), (bio, 6), (intel, 4))]
        assert fractions(groups, 50000)[2] == pytest.approx(expected, abs=5e-4)


SCALE = st.floats(1e-9, 1e-3)


@given(st.lists(st.tuples(SCALE, SCALE, st.integers(1, 9)), min_size=1, max_size=5), st.integers(100, 10**6))
@settings(max_examples=100)
def test_fractions_and_equal_finish(groups, n):
    """P2: the fractions add up to 1, and with them all finish together."""
    mix = [MachineGroup(model(str(k), f"{a!r} * n**2 + {b!r} * n"), count) for k, (a, b, count) in enumerate(groups)]
    parts = fractions(mix, n)
    assert abs(sum(group.count * f for group, f in zip(mix, parts, strict=True)) - 1) < 1e-12
    times = [f * group.model.time_s(n) for f, group in zip(parts, mix, strict=True)]
    assert times == pytest.approx([times[0]] * len(times), rel=1e-9)


def test_static_and_dynamic():
    """P4: where the ratio changes with n, the dynamic plan's ranks end closer together, and earlier."""
    mix = [
        MachineGroup(model("slow", "1e-6 * n**2 + 1e-2 * n"), 2),
        MachineGroup(model("fast", "5e-7 * n**2 + 1e-4 * n"), 2),
    ]
    sizes = [20000, 40000, 50000]
    static_plan, static = plan_of(mix, sizes, static_size=1000)
    dynamic_plan, dynamic = plan_of(mix, sizes)
    assert not static_plan.is_dynamic and dynamic_plan.is_dynamic
    for one, other in zip(static, dynamic, strict=True):
        assert other.spread_s < one.spread_s and other.expected.time_s < one.expected.time_s < one.expected.even_s
        assert sum(other.counts) == other.size and other.counts == dynamic_plan.shares(other.size)
        assert one.counts == static_plan.shares(one.size)
        assert max(rank_times_s(mix, one.size, one.counts, one.size)) == one.expected.time_s


def measured(seed=1, outliers=0):
    """40 repetitions at five sizes and three numbers of processes, 1 % noise; the truth is (15)-like."""
    rng, truth = np.random.default_rng(seed), TimeFormula("(1e-9 + 6e-7/p) * n**2 + (2e-5 + 1e-3/p) * n + (0.1 + 2/p)")
    rows = [
        (n, p, truth(n, p) * (1 + 0.01 * rng.standard_normal()))
        for n in (2000.0, 5000.0, 10000.0, 20000.0, 40000.0)
        for p in (1.0, 2.0, 4.0)
        for _ in range(40)
    ]
    chosen = rng.choice(len(rows), outliers, replace=False)
    rows = [(n, p, t * 1.5 if k in chosen else t) for k, (n, p, t) in enumerate(rows)]
    return measured_of(rows), truth, chosen


def test_fitted_model():
    """The truth is found again, also between the sizes."""
    times, truth, _ = measured()
    found = fit_machine("m", times, 2, {})
    for n in (2000, 7000, 30000):
        for p in (1, 2, 4, 8):
            assert found.time_s(n, p) == pytest.approx(truth(n, p), rel=0.02)


def test_one_process():
    """Formula 7: T(n, p) = T(n, 1) / p."""
    found = fit_machine("m", measured_of([(n, 1, 3e-6 * n * n) for n in (10, 20, 30, 40)]), 2, {})
    assert found.time_s(25, 5) == pytest.approx(3e-6 * 625 / 5)
    with pytest.raises(TracelibError, match="2 sizes with 1 processes are too few"):
        fit_machine("m", measured_of([(10, 1, 1), (20, 1, 3)]), 2, {})


def test_anomalies_are_found():
    """P6: all that were injected, and few others."""
    times, _, chosen = measured(outliers=12)
    found = np.flatnonzero(anomalies(times))
    assert set(chosen) <= set(found) and len(found) < 12 + 0.02 * len(times.n)


def test_the_interval_contains_what_was_measured():
    """P5: at the sizes fitted, all times that are no anomalies."""
    times, _, _ = measured(outliers=5)
    found, kept = fit_machine("m", times, 2, {}), ~anomalies(times)
    for n, p, time in zip(times.n[kept], times.p[kept], times.time_s[kept], strict=True):
        low, high = found.interval_s(n, p)
        assert low <= time <= high and high - low < 0.3 * time


def test_the_interval_does_not_narrow_beyond_the_data():
    """Formula 16 widens. Here small sizes scatter by 10 %, large ones by 1 %, which is no reason to be surer beyond."""
    rows = [(n, 1, 1e-8 * n * n * (1 + side * 1000 / n)) for n in range(10000, 100001, 10000) for side in (-1, 0, 1)]
    found = fit_machine("m", measured_of(rows), 2, {})
    for n in (150000, 10**6, 10**8):
        low, high = found.interval_s(n)
        time = found.time_s(n, 1)
        assert low < 0.99 * time and high > 1.01 * time


def test_stored_models_predict(tmp_path):
    """P1, without the data."""
    found = fit_machine("taurus", measured()[0], 2, {"cpu": "Celeron 433"})
    save_models({"taurus": found}, tmp_path / "models.json")
    again = load_models(tmp_path / "models.json")["taurus"]
    assert again == found and again.features == {"cpu": "Celeron 433"} and again.sizes == (2000, 40000)
    assert again.time_s(12345, 3) == found.time_s(12345, 3) and again.interval_s(12345) == found.interval_s(12345)


MODELS = '{"format": "tracelib-machines", "version": 1, "machines": [%s]}'


@pytest.mark.parametrize(
    "text", ["", "{}", "[]", MODELS % "{}", MODELS % '{"name": "a", "time": "n", "sizes": [1]}', "[" * 9999]
)
def test_no_repository(tmp_path, text):
    (tmp_path / "models.json").write_text(text)
    with pytest.raises(TracelibError, match="no repository"):
        load_models(tmp_path / "models.json")


def test_a_model_below_zero():
    with pytest.raises(TracelibError, match="the model of m says"):
        fractions([MachineGroup(model("m", "n - 100"), 1)], 10)
