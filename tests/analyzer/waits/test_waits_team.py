"""A team finds the waits and their causes that one process finds: its members read their own ranks only."""

import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_runs import runs
from synthetic import WORLD, call, event, label, request, write_run
from thread_team import by_team

from analyzer.columns import rows
from analyzer.metrics.profile import profile
from analyzer.parallel import Team
from analyzer.recording.run.opening import open_run
from analyzer.trace.read_options import ReadOptions
from analyzer.trace.read_sizes import DEFAULT_SIZES, ReadSizes
from analyzer.waits.analysis import analyze_waits
from benchmarks.synthetic.run import PATTERNS
from benchmarks.synthetic.run import write_run as write_pattern
from tracelib import schema
from tracelib.schema import RequestKind

SOLVE, WRITE = 1, 2
"""Regions."""


def found(trace, team):
    """All that is found, as it is printed."""
    every = vars(analyze_waits(trace, team, profile(trace, Team())))
    return {name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in every.items()}


SMALL_SIZES = ReadSizes(
    window_calls=4, block_calls=4, message_calls=4, part_calls=4, rank_window_calls=4, few_ranks=1, rank_calls=1,
    matched_calls=1,
)  # fmt: skip
"""Sizes with which a window holds four calls."""


def compare(path, size, sizes=DEFAULT_SIZES):
    """Each member has opened the run, as a process would have."""
    traces = [open_run(str(path), options=ReadOptions(sizes=sizes)) for _ in range(size + 1)]
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


@pytest.mark.parametrize("size", [2, 4])
def test_by_hand(tmp_path, monkeypatch, size):
    """All but rank 2 wait in an MPI_Wait for its MPI_Ibarrier, each on another path of regions; a second thread of rank
    0 waits for rank 1. Then come two barriers, window by window."""
    monkeypatch.setattr("analyzer.waits.wait_states._AT_ONCE", 4)
    begun, waited = (10, 12, 60, 14), (20, 22, 62, 24)
    barriers = ((300, 330), (400, 430)), ((310, 322), (420, 428)), ((320, 321), (410, 425)), ((315, 325), (405, 426))
    regions = (WRITE,), (SOLVE, WRITE), (), (WRITE, SOLVE)
    labels = [label(schema.LabelKind.REGION, number, name) for number, name in ((SOLVE, "solve"), (WRITE, "write"))]
    ranks = [
        {
            "calls": [
                call("MPI_Ibarrier", begin, begin + 1, comm=WORLD),
                call("MPI_Wait", wait, 100),
                *(call("MPI_Barrier", enter, exit_, comm=WORLD) for enter, exit_ in pairs),
            ],
            "requests": [request(RequestKind.COLLECTIVE_DONE, begin, 100, peer=-1)],
            "events": [
                *(event(5 + k, schema.REGION_TYPE, region, flags=1) for k, region in enumerate(inside)),
                *(event(120 - k, schema.REGION_TYPE, inside[k], flags=2) for k in reversed(range(len(inside)))),
            ],
            "labels": labels,
        }
        for begin, wait, pairs, inside in zip(begun, waited, barriers, regions, strict=True)
    ]
    ranks[0]["calls"].append(call("MPI_Recv", 150, 210, comm=WORLD, peer=1, tag=5, received=8, thread=1))
    ranks[0]["events"] += [
        event(140, schema.REGION_TYPE, SOLVE, flags=1, thread=1),
        event(220, schema.REGION_TYPE, SOLVE, flags=2, thread=1),
    ]
    ranks[1]["calls"].insert(2, call("MPI_Send", 200, 205, comm=WORLD, peer=0, tag=5, sent=8))
    alone = compare(write_run(tmp_path, ranks), size, SMALL_SIZES)
    assert [(w.rank, w.thread, w.cause_rank, w.path, w.time_ns) for w in alone["longest"][:4]] == [
        (0, 1, 1, "solve", 50),
        (0, 0, 2, "write", 40),
        (1, 0, 2, "solve/write", 38),
        (3, 0, 2, "write/solve", 36),
    ]
    assert alone["barrier_completion_ns"] == [9 + 5, 1 + 3, 0, 4 + 1]


def test_rows_come_to_the_first_in_order_of_members(monkeypatch):
    monkeypatch.setattr(rows, "PIECE", 3)

    def ten_of(team):
        mine = rows.Rows.from_array(np.arange(10 * team.rank, 10 * team.rank + 10))
        return rows.rows_to_first(mine, team, lambda member, some: some + 100 * member).mapped().tolist()

    first, *others = by_team(3, ten_of)
    assert first == [*range(10), *range(110, 120), *range(220, 230)]
    assert others == [[], []]
