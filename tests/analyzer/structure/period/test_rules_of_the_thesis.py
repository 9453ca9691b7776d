"""`--method thesis`: what the rules of Casas 2009 alone find on the kind of signal that they are for."""

from __future__ import annotations

import numpy as np
import pytest
from nested_runs import Planted

from analyzer.opening import open_trace
from analyzer.parallel import Team
from analyzer.structure.levels.run_structure import IterationMethod, structure, structure_of_signal
from analyzer.structure.signals import RunSignal
from benchmarks.results.regions import JITTER, RANKS, steps_of, table

MISSED = 1
"""Number of iterations by which a count may be off: a region's ends are known to a few samples of a wavelet."""


@pytest.mark.parametrize("application", ["Liso", "Idris", "Gadget", "Linpack"])
def test_regions_of_the_tables(tmp_path, application):
    """Tables 3.1 to 3.5: in traces that have the times printed there, the regions with a period that these list, as
    many iterations, and periods within 1 %; by calls of messages, as Casas 2009 did."""
    rows = table("regions")
    rows = rows[rows.application == application]
    trace = open_trace(Planted(RANKS, jitter=JITTER).run(steps_of(rows)).written(tmp_path, counters=False))
    found = [part for part in structure(trace, Team(), IterationMethod.THESIS, ["p2p"]).parts if part.iterations]
    trace.close()
    expected = rows[(rows.level == 1) & rows.period_ms.notna()]
    assert len(found) == len(expected)
    for part, row in zip(found, expected.itertuples(), strict=True):
        assert part.iterations.period_ns == pytest.approx(1e6 * row.period_ms, rel=0.01)
        assert abs(part.count - round(row.span_ms / row.period_ms)) <= (MISSED if application == "Idris" else 0)
    if application == "Liso":
        inside = [[one.count for one in part.inside if one.iterations] for part in found]
        assert [counts[0] for counts in inside] == [6] * len(inside)
        assert {counts[1] for counts in inside} <= {2, 3}


@pytest.mark.parametrize("jitter", [0, 0.01, 0.05, 0.1, 0.2])
@pytest.mark.parametrize("count", [12, 130, 500])
def test_a_uniform_loop_is_one_region(count, jitter):
    """However many iterations it has, and however their bursts vary."""
    rng = np.random.default_rng(count)
    width = (1 << 17) // (count + 40)
    parts = [np.zeros(800)]
    for _ in range(count):
        burst = max(int(0.6 * width * (1 + jitter * rng.standard_normal())), 2)
        parts += [4 + 0.2 * rng.standard_normal(burst), np.zeros(int(0.4 * width))]
    values = np.concatenate([*parts, np.zeros(700)])
    (part,) = [part for part in structure_of_signal(RunSignal("bursts", 0, 1000, values), "", literal=True).parts
               if part.iterations]  # fmt: skip
    assert abs(part.count - count) <= max(MISSED, (0.01 + 0.1 * jitter) * count)
    assert part.span_ns > 0.9 * 1000 * (len(values) - 1500)


@pytest.mark.parametrize("seed", range(4))
def test_noise_has_no_region(seed):
    values = np.random.default_rng(seed).normal(3, 1, 1 << 15).clip(0)
    assert not [one for one in structure_of_signal(RunSignal("bursts", 0, 1000, values), "", literal=True).parts
                if one.iterations]  # fmt: skip
