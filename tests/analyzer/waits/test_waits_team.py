"""A team finds the waits and their causes that one process finds: its members read their own ranks only."""

import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_runs import runs
from synthetic import write_run
from thread_team import by_team

from analyzer.columns import gathered, rows
from analyzer.metrics.profile import profile
from analyzer.parallel import Team
from analyzer.sources.run.run import open_run
from analyzer.waits.waits import waits
from benchmarks.synthetic.run import PATTERNS
from benchmarks.synthetic.run import write_run as write_pattern


def found(trace, team):
    """All that is found, as it is printed."""
    every = vars(waits(trace, team, profile(trace, Team())))
    return {name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in every.items()}


def compare(path, size):
    """Each member has opened the run, as a process would have."""
    traces = [open_run(str(path)) for _ in range(size + 1)]
    for trace in traces:
        trace.match()
    alone = found(traces[size], Team())
    assert by_team(size, lambda team: found(traces[team.rank], team)) == [alone] * size
    for trace in traces:
        trace.close()
    return alone


@pytest.mark.parametrize("pattern", PATTERNS)
def test_of_each_pattern(tmp_path, monkeypatch, pattern):
    """Also where rows go from process to process in several pieces."""
    monkeypatch.setattr(rows, "PIECE", 16)
    alone = compare(write_pattern(tmp_path, pattern, 8, 200).path, 3)
    assert alone["places"] and alone["causes"] and alone["longest"]


@settings(max_examples=20)
@given(runs(), st.integers(2, 4))
def test_of_runs_with_threads_and_regions(run, size):
    ranks, tsc_per_us = run
    with tempfile.TemporaryDirectory() as folder:
        compare(write_run(Path(folder), ranks, tsc_per_us=tsc_per_us), size)


def test_rows_come_to_the_first_in_order_of_members(monkeypatch):
    monkeypatch.setattr(rows, "PIECE", 3)

    def ten_of(team):
        mine = rows.Rows.of(np.arange(10 * team.rank, 10 * team.rank + 10))
        return gathered.rows_to_first(mine, team, lambda member, some: some + 100 * member).mapped().tolist()

    first, *others = by_team(3, ten_of)
    assert first == [*range(10), *range(110, 120), *range(220, 230)]
    assert others == [[], []]
