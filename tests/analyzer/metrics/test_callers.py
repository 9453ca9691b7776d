"""Paths of calls, and what calls cost by where they come from, against the rows as they were written."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from pathed_runs import chain, pathed_runs
from synthetic import NONE, call, poll, write_run
from thread_team import by_team

import analyzer
from analyzer.metrics.callers import CallerSums, from_places
from analyzer.metrics.sums import add_up
from analyzer.opening import open_trace
from analyzer.parallel import Team
from analyzer.trace import CALL, CallPaths
from tracelib import schema
from tracelib.schema import PATH_IN_FUNCTION


def written(rank):
    """By (thread, enter) and whether it is a folded row: the chain of each call."""
    return {
        (int(row["thread"]), int(row["enter"]), of == "polls"): chain(rank, path)
        for table, of in schema.PATHS_OF.items()
        for row, path in zip(rank[of], rank[table], strict=True)
    }


def as_chain(places, path):
    return tuple((frame.function, frame.line) for frame in places.frames(path)) if path else ()


@settings(max_examples=30)
@given(pathed_runs())
def test_each_call_has_the_path_that_it_was_written_with(tmp_path_factory, run):
    ranks, tsc_per_us = run
    trace = open_trace(write_run(tmp_path_factory.mktemp("paths"), ranks, tsc_per_us=tsc_per_us))
    paths = trace.extra(CallPaths)
    places = paths.named()
    for rank, content in enumerate(ranks):
        calls = np.concatenate([np.zeros(0, CALL), *trace.calls(rank)])
        rows = np.concatenate([np.zeros(0, np.int64), *paths.of(rank)])
        assert len(calls) == len(rows)
        expected = Counter(written(content).values())
        assert Counter(as_chain(places, path) for path in rows.tolist()) == expected
        if tsc_per_us is None:
            by_time = written(content)
            start = int(calls["enter"].min()) - min(enter for _, enter, _ in by_time)
            for row, path in zip(calls, rows.tolist(), strict=True):
                at = int(row["thread"]), int(row["enter"]) - start
                assert as_chain(places, path) in [by_time.get((*at, folded)) for folded in (False, True)]
    trace.close()


@settings(max_examples=40)
@given(pathed_runs())
def test_sums_by_caller_are_those_of_the_calls(tmp_path_factory, run):
    ranks, tsc_per_us = run
    trace = open_trace(write_run(tmp_path_factory.mktemp("sums"), ranks, tsc_per_us=tsc_per_us))
    found = add_up(trace, Team(), CallerSums(trace))
    expected = Counter()
    for rank in range(trace.size):
        rows = np.concatenate([np.zeros(0, np.int64), *trace.extra(CallPaths).of(rank)])
        for row, path in zip(np.concatenate([np.zeros(0, CALL), *trace.calls(rank)]), rows.tolist(), strict=True):
            key = rank, path, int(row["call"])
            expected[key, "count"] += int(row["count"])
            expected[key, "inside"] += int(row["inside"])
    for row in found.rows:
        key = int(row["rank"]), int(row["path"]), int(row["call"])
        assert int(row["count"]) == expected.pop((key, "count"))
        assert int(row["inside"]) == expected.pop((key, "inside"))
    assert not expected
    places = trace.extra(CallPaths).named()
    by_place = from_places(found, places, trace)
    assert sum(f.inside_ns for f in by_place) == found.rows["inside"].sum()
    assert sum(f.count for f in by_place) == found.rows["count"].sum()
    trace.close()


FUNCTION = ((0, 0, b"", b""), (10, 1, b"solve", b"heat.py"))
IN_SOLVE = PATH_IN_FUNCTION | 1


def small(tmp_path, **more):
    """Two ranks that send from line 12 and receive in line 14 of solve, which line 30 calls."""
    paths = [(0, 0, 0), (0, IN_SOLVE, 30), (1, IN_SOLVE, 12), (1, IN_SOLVE, 14)]
    ranks = [
        {
            "calls": [call("MPI_Send", 10, 20 + 10 * rank, sent=8), call("MPI_Recv", 60, 100, received=24)],
            "polls": [poll("MPI_Iprobe", 110, 150, inside=20, count=4)],
            "call_paths": [2, 3],
            "poll_paths": [3],
            "paths": paths,
            "functions": FUNCTION,
        }
        | more
        for rank in (0, 1)
    ]
    for rank in ranks:
        for row in rank["calls"]:
            row["comm"] = NONE
    return open_trace(write_run(tmp_path, ranks))


def test_by_hand(tmp_path):
    trace = small(tmp_path)
    places = trace.extra(CallPaths).named()
    found = from_places(add_up(trace, Team(), CallerSums(trace)), places, trace)
    said = {(places.text(f.place), f.procedure): f for f in found}
    send, receive, probe = (
        said["heat.py:12 in solve", "MPI_Send"],
        said["heat.py:14 in solve", "MPI_Recv"],
        said["heat.py:14 in solve", "MPI_Iprobe"],
    )
    assert len(found) == 3
    assert (send.count, send.inside_ns, send.bytes) == (2, 10 + 20, 16)
    assert send.variation == pytest.approx(5 / 15)
    assert (receive.count, receive.inside_ns, receive.bytes, receive.variation) == (2, 80, 48, 0)
    assert (probe.count, probe.inside_ns) == (8, 40)
    frame = analyzer.calls_frame(trace, 0)
    assert frame["place"].tolist() == ["heat.py:12 in solve", "heat.py:14 in solve", "heat.py:14 in solve"]
    trace.close()


def test_a_run_without_paths_has_no_places(tmp_path):
    trace = small(tmp_path, call_paths=[], poll_paths=[], paths=[], functions=[])
    assert not trace.extra(CallPaths).known
    assert not len(add_up(trace, Team(), CallerSums(trace)).rows)
    assert "place" not in analyzer.calls_frame(trace, 0)
    trace.close()


def test_ranks_of_a_team_and_paths_of_one_place(tmp_path):
    """Line 12 is reached from two lines in rank 0; ranks 1 and 2 do nothing else than what the one before does last."""
    send = call("MPI_Send", 10, 40, sent=8)
    first = [send, call("MPI_Recv", 50, 150, received=24), call("MPI_Send", 160, 170, sent=4)]
    named = {
        "functions": FUNCTION,
        "paths": [(0, 0, 0), (0, IN_SOLVE, 14), (0, IN_SOLVE, 12), (0, IN_SOLVE, 30), (3, IN_SOLVE, 12)],
    }
    ranks = [named | {"calls": first, "call_paths": [4, 1, 2]}]
    ranks += [named | {"calls": [call("MPI_Send", 10, exit_, sent=8)], "call_paths": [4]} for exit_ in (30, 40)]
    run = write_run(tmp_path, ranks)

    def found(team):
        trace = open_trace(run)
        places = trace.extra(CallPaths).named()
        callers = add_up(trace, team, CallerSums(trace))
        every = from_places(callers, places, trace)
        trace.close()
        assert (callers.rows["sent"].sum(), callers.rows["received"].sum()) == (28, 24)
        return [
            (places.text(f.place), f.procedure, f.count, f.by_rank_ns.tolist(), f.sent, f.received, f.variation)
            for f in every
        ]

    expected = [
        ("heat.py:14 in solve", "MPI_Recv", 1, [100], 0, 24, None),
        ("heat.py:12 in solve", "MPI_Send", 4, [40, 20, 30], 28, 0, pytest.approx((200 / 3) ** 0.5 / 30)),
    ]
    assert found(Team()) == expected
    assert by_team(3, found) == [expected] * 3
