"""Rows of many ranks that a kernel reads at once equal each rank's rows, read one by one."""

import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from random_runs import runs
from synthetic import call, flush, poll, request, write_run

from analyzer.columns.arrays import joined
from analyzer.opening import open_trace
from analyzer.recording.thread_records import records
from analyzer.trace import STATE, Trace
from tracelib.schema import RequestKind

FAR = 1 << 60


def one_by_one(trace, ranks):
    """Calls, requests and states of ranks, and how many of the first two each has."""
    states = [records.states(trace._lanes.get(rank, []), 0, trace.duration_ns + 1).merged() for rank in ranks]
    return [
        *Trace.rank_calls(trace, ranks, 0, FAR), *Trace.rank_requests(trace, ranks, 0, FAR), joined(states, STATE),
    ]  # fmt: skip


def at_once(trace, ranks):
    states = trace.rank_states(0, trace.duration_ns + 1, ranks)
    order = np.lexsort((states["thread"], states["begin"], states["rank"]))  # as `states` has those of one rank
    return [*trace.rank_calls(ranks, 0, FAR), *trace.rank_requests(ranks, 0, FAR), states.take(order)]


@given(runs(), st.integers(1, 4))
def test_random_runs(run, together):
    ranks, tsc_per_us = run
    with tempfile.TemporaryDirectory() as folder:
        trace = open_trace(str(write_run(Path(folder), ranks, tsc_per_us=tsc_per_us)))
        for first in range(0, trace.size, together):
            some = range(first, min(first + together, trace.size))
            for found, expected in zip(at_once(trace, some), one_by_one(trace, some), strict=True):
                assert found.tolist() == expected.tolist()
        trace.close()


def some_rank(k):
    calls = [call("MPI_Send", 100 + k, 200, peer=0, comm=1, sent=8), call("MPI_Wait", 300, 400)]
    return {
        "calls": calls,
        "polls": [poll("MPI_Test", 210, 250, inside=12, count=4)],
        "requests": [request(RequestKind.RECV_DONE, 100 + k, 400, peer=0, comm=1, bytes=8)],
        "events": flush(260, 280),
    }


@pytest.fixture
def trace(tmp_path):
    found = open_trace(str(write_run(tmp_path, [some_rank(k) for k in range(5)])))
    yield found
    found.close()


def test_ranks_are_read_by_the_kernel(trace):
    """Rows are usually recorded so that the kernel can read them all."""
    assert trace._parts.readers.stored.of(range(5)) is not None
    for read in (trace._parts.readers.stored.calls, trace._parts.readers.stored.requests):
        rows, counts = read(range(1, 4), 0, FAR)
        assert len(rows) == counts.sum() and (counts == counts[0]).all()
    assert trace._parts.readers.stored.calls(range(5), 0, FAR)[1].tolist() == [3] * 5


@pytest.mark.parametrize("window", [(102, FAR), (0, 300)])
def test_a_window_that_does_not_hold_all_is_read_one_by_one(trace, window):
    assert trace._parts.readers.stored.calls(range(5), *window) is None
    found, expected = (read(range(5), *window) for read in (trace.rank_calls, lambda *a: Trace.rank_calls(trace, *a)))
    assert found[0].tolist() == expected[0].tolist() and found[1].tolist() == expected[1].tolist()
    assert len(found[0]) < 15


def test_rows_that_are_left_out_are_not_read_as_they_stand(trace):
    lane = trace.only_lane(2)
    lane.tables["calls"].leave_out(np.array([0]))
    trace._parts.readers._changed(list)
    stored = trace._parts.readers.stored
    assert stored.of(range(2)) is not None and stored.of(range(5)) is None
    assert trace.rank_calls(range(5), 0, FAR)[0]["comm"].tolist().count(-1) == 5 * 2 + 1
