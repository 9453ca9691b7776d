"""Measured and modelled speedup, faults and the factor that each moves, and two variants of a program.

Sources: M. Casas, "Spectral analysis of executions" (2009), equations 4.1 and 4.13, section 4.4.2; the faults are
injected into runs whose times are written down here.
"""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from phased import with_factors, write_phases

from analyzer.efficiency.scaling import STRONG, WEAK
from analyzer.errors import TracelibError
from analyzer.opening import open_trace
from analyzer.parallel import Team
from analyzer.report.speedup import difference_sentence
from analyzer.speedup_model.factor_model import speedup, variants
from analyzer.speedup_model.parameters import SpeedupParameters, parameters

RANKS, PHASES, WORK, LATENCY = 4, 16, 8_000_000, 5_000


def of(path):
    trace = open_trace(path)
    try:
        return parameters(trace, Team())
    finally:
        trace.close()


def even(ranks):
    """WORK ns of each phase, shared out evenly."""
    return np.full((PHASES, ranks), WORK // ranks)


def imbalance(durations):
    """A rank computes 1.5 times as long, and the others as much less as that is."""
    durations -= 500_000 // 7
    durations[:, 1] += 500_000 + 500_000 // 7
    return {}


def chain(durations):
    """In each phase another rank computes longer; in sum they all compute the same."""
    for phase in range(PHASES):
        durations[phase] -= 200_000
        durations[phase, phase % durations.shape[1]] += 200_000 * durations.shape[1]
    return {}


def latency(_):
    return {"latency_ns": 400_000}


def replication(durations):
    durations[:] = durations * 13 // 10
    return {}


def slow_cores(durations):
    """The same instructions take a quarter longer: 0.8 of them in a cycle."""
    instructions = durations * 2.0
    durations[:] = durations * 5 // 4
    return {"instructions": instructions}


def low_clock(durations):
    durations[:] = durations * 5 // 4
    return {"clock_ghz": 1.6}


FAULTS = {
    imbalance: ("balance", 1 / 1.5),
    chain: ("dependencies", 1_000_000 / 2_400_000),
    latency: ("transfer", (1000 / 1400) / (2000 / 2005)),
    replication: ("instructions", 1 / 1.3),
    slow_cores: ("ipc", 0.8),
    low_clock: ("clock", 0.8),
}
"""Factor and quotient of each."""


def pair(tmp_path, fault=lambda durations: {}):
    """A run of 4 ranks and one of 8, of which the larger has the fault."""
    runs = [of(write_phases(tmp_path / "small.prv", even(RANKS), LATENCY))]
    durations = even(2 * RANKS)
    options = {"latency_ns": LATENCY} | fault(durations)
    return speedup([*runs, of(write_phases(tmp_path / "large.prv", durations, **options))])


def test_without_a_fault_nothing_undermines(tmp_path):
    """Twice as fast, but for the latency: 2005 us a phase and 1005."""
    found = pair(tmp_path)
    large = found.runs[1]
    assert found.kind == STRONG
    assert found.measured(large) == pytest.approx(2005 / 1005)
    assert found.modelled(large) == pytest.approx(found.measured(large), rel=1e-6)
    assert found.undermining(large) is None and found.causes(large) == []


@pytest.mark.parametrize("fault", FAULTS)
def test_each_fault_is_named(tmp_path, fault):
    """The factor, its quotient by hand, and no other factor besides."""
    found = pair(tmp_path, fault)
    large = found.runs[1]
    key, by_hand = FAULTS[fault]
    worst = found.undermining(large)
    assert [moved.factor.key for moved in found.causes(large)] == [key]
    assert worst.quotient == pytest.approx(by_hand, rel=0.01)
    if key == "clock":  # which the model takes as constant: the difference is its quotient
        assert found.difference(large) == pytest.approx(0.8 - 1, rel=0.01)
    else:
        assert abs(found.difference(large)) < 0.01


shares = st.floats(0.2, 1)


@st.composite
def run(draw, alpha=2.0):
    """A run of which sum(t_i) = Instr / (IPC alpha), equation 4.6."""
    ranks = draw(st.integers(1, 2000))
    ipc, instructions = draw(st.floats(0.1, 4)), draw(st.floats(1e6, 1e12))
    useful = instructions / (ipc * alpha)
    longest = useful / ranks / draw(shares)
    ideal = longest / draw(shares)
    return SpeedupParameters(
        "run", ranks, ranks, ideal / draw(shares), useful, longest, ideal,
        iterations=draw(st.integers(1, 50)), instructions=instructions, ipc=ipc,
    )  # fmt: skip


@given(st.lists(run(), min_size=2, max_size=5), st.sampled_from([STRONG, WEAK]))
def test_model_and_measurement_are_one_where_the_clock_is_constant(runs, kind):
    """Equation 4.13 follows from 4.1 to 4.6; weak scaling multiplies both by P / P_0."""
    found = speedup(runs, kind)
    base = found.reference
    assert base.threads == min(run.threads for run in runs)
    for one in found.runs:
        grown = one.threads / base.threads if kind == WEAK else 1
        by_hand = (base.span_ns / base.iterations) / (one.span_ns / one.iterations) * grown
        assert found.measured(one) == pytest.approx(by_hand)
        assert found.modelled(one) == pytest.approx(by_hand)


@given(st.lists(run(), min_size=2, max_size=4))
def test_joined_factors_have_the_same_product(runs):
    """Without counters, and without a replay."""
    found = speedup(runs, STRONG)
    for left_out in ({"ipc": None}, {"ideal_ns": None, "not_replayed": "lost"}, {"ipc": None, "cpu_share": 0.5}):
        other = speedup([replace(one, **left_out) for one in runs], STRONG)
        assert other.notes and len(other.factors) < len(found.factors)
        for one, same in zip(found.runs, other.runs, strict=True):
            assert other.modelled(same) == pytest.approx(found.modelled(one))


def test_weak_and_strong_are_told_apart(tmp_path):
    """Twice the work on twice the ranks in the same time, or the same work in half of it."""
    small = of(write_phases(tmp_path / "small.prv", even(4)))
    weak = speedup([small, of(write_phases(tmp_path / "weak.prv", np.repeat(even(4), 2, axis=1)))])
    strong = speedup([small, of(write_phases(tmp_path / "strong.prv", even(8)))])
    for found, kind in ((weak, WEAK), (strong, STRONG)):
        assert found.kind == kind
        assert found.measured(found.runs[1]) == pytest.approx(2)
        assert found.undermining(found.runs[1]) is None


def test_task_groups(tmp_path):
    """As CPMD's on twice the ranks: without them balance and dependencies fall, with them transfer does, and both are
    1.6 times as fast."""
    span, factors = 10_000_000, (0.95, 0.95, 0.95)
    small = of(write_phases(tmp_path / "small.prv", *with_factors(8, span, *factors)))
    runs = []
    for name, (transfer, dependencies, balance) in {
        "plain": (0.97, 0.86, 0.868),
        "groups": (0.80, 0.95, 0.953),
    }.items():
        path = write_phases(
            tmp_path / f"{name}.prv", *with_factors(16, span * 10 // 16, transfer, dependencies, balance)
        )
        runs.append([small, of(path)])
    found = variants(*runs)
    at_small, at_large = found.differences
    assert at_small.same_speedup and not at_small.gains and not at_small.losses
    assert at_large.same_speedup and at_large.speedups == pytest.approx((1.6, 1.6), rel=1e-4)
    assert [moved.factor.key for moved in at_large.losses] == ["transfer"]
    assert {moved.factor.key for moved in at_large.gains} == {"dependencies", "balance"}
    assert at_large.faster == pytest.approx(1)
    said = difference_sentence(at_large)
    assert said.startswith("At 16 ranks, both have the same speedup (1.6 and 1.6)")
    gains, losses = said.split("; it loses ")
    assert "It gains micro load balance" in gains and ", load balance" in gains and "real communication" in losses
    assert found.first.undermining(found.first.runs[1]).factor.key == "dependencies"
    assert found.second.undermining(found.second.runs[1]).factor.key == "transfer"


def test_before_and_after_at_one_rank_count(tmp_path):
    """The same work, first spread unevenly."""
    durations = even(8)
    imbalance(durations)
    runs = [of(write_phases(tmp_path / f"{n}.prv", d)) for n, d in (("before", durations), ("after", even(8)))]
    found = speedup(runs)
    before, after = found.runs
    assert (before.file, found.linear(after)) == (str(tmp_path / "before.prv"), 1)
    assert found.measured(after) == pytest.approx(1.5)
    assert found.causes(after)[0].factor.key == "balance" and found.causes(after)[0].quotient > 1


def test_one_run_alone_has_no_speedup(tmp_path):
    one = of(write_phases(tmp_path / "small.prv", even(4)))
    with pytest.raises(TracelibError, match="one run has no speedup"):
        speedup([one])
    other = replace(one, threads=5, ranks=5)
    with pytest.raises(TracelibError, match="no rank count in common"):
        variants([one, one], [other, other])
