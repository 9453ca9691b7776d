"""Traces with a lost CPU, a slow network and flushes planted at known times: they are found there, and cut around."""

from __future__ import annotations

import pytest
from nested_runs import MS, Flushes, Loop, Planted, Slow, Start, Stop, Work

from analyzer.opening import open_trace
from analyzer.parallel import Team
from analyzer.structure.cut.chosen_iterations import typical_stretch
from analyzer.structure.levels.run_structure import IterationMethod, structure
from analyzer.structure.perturbations import PerturbationCause

ITERATIONS, RANKS = 40, 4
BODY = (Work(60, "ring"), Work(40, "reduction"))
PERIOD_NS = 100 * MS
WIDTH_MS = 45
"""A shorter stretch is of no use: 1 % of the run."""


def analysed(folder, *steps, **how):
    """Analyse a run of 40 iterations from 0.1 s on. Also return the first of the two iterations that stand for it."""
    trace = open_trace(Planted(RANKS, **how).run(steps or (Start(100), Loop(ITERATIONS, BODY))).written(folder))
    try:
        found = structure(trace, Team(), IterationMethod.BOTH)
        return found, typical_stretch(trace, Team(), found.main.iterations, 2).first
    finally:
        trace.close()


def times_ms(found, cause):
    return [(one.begin_ns / MS, one.end_ns / MS) for one in found.perturbed if one.cause is cause]


def is_undisturbed(found, chosen, begin_ms, end_ms):
    """Assert that iterations are as in the undisturbed run; no damaged one stands for others."""
    main = found.main
    assert main.count == ITERATIONS
    assert main.iterations.period_ns == pytest.approx(PERIOD_NS, rel=0.01)
    for first, count in ((main.representative, 1), (chosen, 2)):
        begin, _ = main.iterations.span_of(first)
        _, end = main.iterations.span_of(first + count - 1)
        assert end <= begin_ms * MS or begin >= end_ms * MS


def test_a_rank_without_a_cpu(tmp_path):
    found, chosen = analysed(tmp_path, stops=[Stop(1, 1500, 600)])
    ((begin, end),) = times_ms(found, PerturbationCause.PREEMPTION)
    assert begin == pytest.approx(1500, abs=2 * WIDTH_MS) and end == pytest.approx(2100, abs=2 * WIDTH_MS)
    assert not times_ms(found, PerturbationCause.FLUSHING)
    is_undisturbed(found, chosen, 1500, 2100)


def test_a_network_that_collapses(tmp_path):
    found, chosen = analysed(tmp_path, slow=[Slow(2000, 2700, 30)])
    times = times_ms(found, PerturbationCause.CLOGGED)
    assert 1950 < times[0][0] < 2150 and 2600 < times[-1][1] < 3300  # its last message ends later
    is_undisturbed(found, chosen, 2000, 2700)


def test_short_dips_are_none(tmp_path):
    found, _ = analysed(tmp_path, stops=[Stop(2, 1500, 10), Stop(0, 2500, 10)], slow=[Slow(3000, 3070, 2)])
    assert found.perturbed == ()
    assert found.main.count == ITERATIONS


def test_flushes(tmp_path):
    found, chosen = analysed(tmp_path, Start(100), Loop(20, BODY), Flushes(300), Loop(20, BODY))
    (begin, *_), (*_, end) = (
        times_ms(found, PerturbationCause.FLUSHING)[0],
        times_ms(found, PerturbationCause.FLUSHING)[-1],
    )
    assert 2090 < begin < end < 2420
    is_undisturbed(found, chosen, 2100, 2400)
