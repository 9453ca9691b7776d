"""Time, computation and MPI of regions against a sum over each nanosecond, in any cut into windows."""

import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from marked import BEGIN, LABELS, LAST, NAMES, begin, end, parallel, threads
from synthetic import call, flush, write_run

import analyzer
from analyzer.metrics import regions as metric
from analyzer.metrics.regions import region_profile
from analyzer.parallel import Team
from analyzer.recording.run.opening import open_run
from tracelib.schema import PARALLEL_TYPE


def profile_of(ranks, windows=()):
    with tempfile.TemporaryDirectory() as folder:
        trace = open_run(str(write_run(Path(folder), ranks)))
        bounds = np.array([0, *sorted(set(windows)), trace.duration_ns + 1])
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(metric, "windows_of_rank", lambda trace, rank: bounds)
            found = region_profile(trace, Team())
        trace.close()
    return found


def test_by_hand():
    """Rank 0: solve [10, 100) with exchange [20, 50) in it, MPI in [30, 40) and [60, 80); rank 1: solve [0, 40)."""
    calls = [call("MPI_Send", 30, 40), call("MPI_Recv", 60, 80), call("MPI_Send", 120, 125)]
    rows = [begin(10, 1), begin(20, 2), end(50, 2), *flush(50, 55), end(100, 1), begin(110, 2), end(115, 2)]
    other = {"labels": LABELS, "events": [begin(1, 1), end(41, 1)], "calls": [call("MPI_Send", 120, 125)]}
    found = profile_of([{"labels": LABELS, "events": rows, "calls": calls}, other], windows=(35, 60, 70))
    assert found.names == NAMES
    assert found.count.tolist() == [[1, 2, 0], [1, 0, 0]]
    assert found.time_ns.tolist() == [[90, 35, 0], [40, 0, 0]]
    assert found.mpi_ns.tolist() == [[30, 10, 0], [0, 0, 0]]
    assert found.useful_ns.tolist() == [[55, 25, 0], [40, 0, 0]]
    assert found.by_time() == [0, 1]
    assert found.balance(0) == 47.5 / 55
    assert found.balance(1) == 1
    assert found.balance(2) is None


def test_frame_by_hand(tmp_path):
    """A region in itself, one left open when its thread ends at 125, a second thread, a rank without any."""
    rows = [begin(10, 1), begin(20, 2), begin(30, 2), end(40, 2), parallel(45, 8), end(50, 2), end(60, 1), begin(70, 2)]
    rows += [begin(15, 1, thread=1), end(80, 1, thread=1)]
    calls = [call("MPI_Send", 120, 125), call("MPI_Send", 81, 90, thread=1)]
    silent = {"calls": [call("MPI_Send", 120, 125)]}
    trace = open_run(str(write_run(tmp_path, [silent, {"labels": LABELS, "events": rows, "calls": calls}])))
    frame = analyzer.regions_frame(trace)
    zero = trace.span(1)[0]
    assert list(frame.columns) == ["rank", "thread", "region", "begin", "end", "depth", "parallel"]
    frame[["begin", "end"]] -= zero
    assert frame.to_numpy().tolist() == [
        [1, 0, "solve", 10, 60, 0, 1],
        [1, 0, "exchange", 20, 50, 1, 8],
        [1, 0, "exchange", 30, 40, 2, 1],
        [1, 0, "exchange", 70, 125, 0, 1],
        [1, 1, "solve", 15, 80, 0, 1],
    ]


def expected(calls, polls, events):
    """(count, time, mpi) of two regions of one thread, nanosecond by nanosecond."""
    inside = np.zeros(LAST)
    for row in calls:
        inside[row["enter"] : row["exit"]] = 1
    for row in polls:
        inside[row["enter"] : row["exit"]] = row["inside"] / max(row["exit"] - row["enter"], 1)
    sums = []
    for region in (1, 2):
        depth = np.zeros(LAST + 1, int)
        for row in events:
            if row["value"] == region:
                depth[row["time"] :] += 1 if row["flags"] == BEGIN else -1
        chosen = depth[:LAST] > 0
        count = sum(r["value"] == region and r["flags"] == BEGIN for r in events)
        sums.append((count, chosen.sum(), inside[chosen].sum()))
    return np.array(sums)


@settings(max_examples=60)
@given(threads(0), threads(1), st.lists(st.integers(1, LAST - 1), max_size=6))
def test_each_nanosecond(first, second, windows):
    rows = {"labels": LABELS, "start": 0, "clock": [(0, 0), (LAST, LAST)]}
    for position, name in enumerate(("calls", "polls", "events")):
        rows[name] = first[position] + second[position]
    rows["events"] = sorted(rows["events"], key=lambda row: row["thread"])
    found = profile_of([rows], windows)
    wanted = expected(*first) + expected(*second)
    assert found.count[0, :2].tolist() == wanted[:, 0].tolist()
    assert found.time_ns[0, :2].tolist() == wanted[:, 1].tolist()
    np.testing.assert_allclose(found.mpi_ns[0, :2], wanted[:, 2], atol=1e-6)
    if not first[1] and not second[1]:
        assert (found.useful_ns == found.time_ns - found.mpi_ns).all()


def visits(thread, events):
    """(thread, region, begin, end, depth, parallel) of one thread's events by a stack, in order of begin."""
    found, stack = [], []
    for row in events:
        if row["type"] == PARALLEL_TYPE:
            if stack:
                stack[-1][5] = row["value"]
        elif row["flags"] == BEGIN:
            stack.append([thread, row["value"] - 1, row["time"], None, len(stack), 1])
            found.append(stack[-1])
        else:
            stack.pop()[3] = row["time"]
    return found


@settings(max_examples=40)
@given(threads(0), threads(1))
def test_visits_against_a_stack(first, second):
    events = first[2] + second[2]
    with tempfile.TemporaryDirectory() as folder:
        rank = {"labels": LABELS, "start": 0, "clock": [(0, 0), (LAST, LAST)], "events": events}
        trace = open_run(str(write_run(Path(folder), [rank])))
        found = metric.region_visits(trace, 0)
        trace.close()
    assert [list(row) for row in found.tolist()] == visits(0, first[2]) + visits(1, second[2])


def test_none(tmp_path):
    found = profile_of([{"calls": [call("MPI_Send", 1, 2)]}])
    assert found.count.shape == (1, 0)
    assert found.by_time() == []
