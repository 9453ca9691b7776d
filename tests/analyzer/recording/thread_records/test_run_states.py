"""States and events of our own runs against a second, slow way to get them, and in any cut into windows."""

import tempfile
from itertools import pairwise
from pathlib import Path

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from synthetic import FIRST, SELF, WORLD, call, event, flush, poll, write_run

from analyzer.recording.run.opening import open_run
from analyzer.trace import State, TracerTime
from analyzer.trace.read_options import ReadOptions
from analyzer.trace.read_sizes import ReadSizes
from tracelib.schema import Peer

END = 120
SEND, REDUCE, TEST, FILE = "MPI_Send", "MPI_Allreduce", "MPI_Test", "MPI_File_open"
STATE_OF = {SEND: State.BLOCKING_SEND, REDUCE: State.GROUP_COMMUNICATION, FILE: State.IO}


SMALL_STEPS = ReadOptions(sizes=ReadSizes(index_rows=3))


def run_of(ranks, communicators=()):
    with tempfile.TemporaryDirectory() as folder:
        trace = open_run(str(write_run(Path(folder), ranks, communicators)), options=SMALL_STEPS)
        yield trace
        trace.close()


@st.composite
def intervals(draw, most):
    """Disjoint intervals within [1, END), in order; touching and empty ones among them."""
    times = sorted(draw(st.lists(st.integers(1, END - 1), max_size=2 * most)))
    return list(zip(times[::2], times[1::2], strict=False))


@st.composite
def threads(draw):
    """Rows of one rank. Polls and flushes may lie across calls, which no runtime writes but a reader must survive."""
    calls = [call(draw(st.sampled_from(sorted(STATE_OF))), a, b) for a, b in draw(intervals(8))]
    polls = [poll(TEST, a, b, inside=draw(st.integers(0, b - a)), count=2) for a, b in draw(intervals(4))]
    flushes = [row for a, b in draw(intervals(3)) for row in flush(a, b)]
    start, overhead = draw(st.integers(0, 3)), draw(st.integers(0, 3))
    return {"calls": calls, "polls": polls, "events": flushes, "start": start, "overhead_ticks": overhead}


def state_of_each_ns(rank):
    """The state in each nanosecond, the later lines hiding the earlier ones: the tracer gives way to all else."""
    rows = rank["calls"] + rank["polls"]
    events = [e["time"] for e in rank["events"]]
    stop = max([rank["start"], *(r["exit"] for r in rows), *events])
    first = min([rank["start"], *(r["enter"] for r in rows), *events])
    states = np.full(stop, State.RUNNING)
    tracer = rank["overhead_ticks"]
    for row in rank["polls"]:
        between = min(tracer * (row["count"] - 1), row["exit"] - row["enter"] - row["inside"])
        states[row["enter"] : row["enter"] + row["inside"] + between + tracer] = State.TRACER
    for row in rank["calls"]:
        states[row["enter"] : row["exit"] + tracer] = State.TRACER
    for row in rank["polls"]:
        states[row["enter"] : row["enter"] + row["inside"]] = State.TEST_PROBE
    for row in rank["calls"]:
        states[row["enter"] : row["exit"]] = STATE_OF[row["call"]]
    for begin, end in zip(rank["events"][::2], rank["events"][1::2], strict=True):
        states[begin["time"] : end["time"]] = State.IO
    states[:first] = State.NOT_CREATED
    return states


@settings(max_examples=75)
@given(st.lists(threads(), min_size=1, max_size=3), st.lists(st.integers(1, END), max_size=6))
def test_states_tile_each_thread_and_agree_with_each_nanosecond(ranks, cuts):
    origin = min(r["start"] for r in ranks)
    for rank in ranks:
        rank["start"] -= origin
    for trace in run_of(ranks):
        bounds = [0, *sorted(set(cuts)), END + 1]
        parts = [trace.states(a, b) for a, b in pairwise(bounds)]
        for (a, b), part in zip(pairwise(bounds), parts, strict=True):
            assert ((part["begin"] >= a) & (part["begin"] < b)).all()
            assert (np.lexsort((part["thread"], part["rank"], part["begin"])) == np.arange(len(part))).all()
        states = np.concatenate(parts)
        assert (states == trace.states()).all()
        for number, rank in enumerate(ranks):
            mine = states[states["rank"] == number]
            expected = state_of_each_ns(rank)
            assert (mine["end"] > mine["begin"]).all()
            assert (mine["begin"][1:] == mine["end"][:-1]).all()
            assert np.repeat(mine["state"], mine["end"] - mine["begin"]).tolist() == expected.tolist()
            assert trace.span(number)[1] == len(expected)


@settings(max_examples=50)
@given(threads(), st.lists(st.integers(1, END), max_size=6))
def test_events_of_any_windows_are_those_of_the_rows(rank, cuts):
    rank["start"] = 0
    for trace in run_of([rank]):
        bounds = [0, *sorted(set(cuts)), END + 1]
        events = np.concatenate([trace.events(a, b) for a, b in pairwise(bounds)])
        assert (events == trace.events()).all()
        assert (np.diff(events["time"]) >= 0).all()
        expected = [(0, 40000001, 1), (trace.duration_ns, 40000001, 0)]
        expected += [(e["time"], e["type"], e["value"]) for e in rank["events"]]
        kinds = {SEND: (50000001, 1), REDUCE: (50000002, 10), FILE: (50000005, 141), TEST: (50000001, 39)}
        for row in rank["calls"] + rank["polls"]:
            kind, value = kinds[row["call"]]
            end = row["exit"] if "inside" not in row else row["enter"] + row["inside"]
            expected += [(row["enter"], kind, value), (end, kind, 0)]
        own = events[(events["type"] < 50100001) | (events["type"] > 50100004)]
        assert sorted(zip(*(own[c].tolist() for c in ("time", "type", "value")), strict=True)) == sorted(expected)


def test_a_collective_says_its_sizes_root_and_communicator_after_its_entry():
    ranks = [
        {"calls": [call("MPI_Bcast", 10, 20, comm=FIRST, peer=1, sent=64), call("MPI_Ibarrier", 30, 31, comm=WORLD)]},
        {"calls": [call("MPI_Bcast", 12, 22, comm=FIRST, peer=1, received=64), call("MPI_Send", 30, 31, comm=SELF)]},
    ]
    for trace in run_of(ranks, communicators=[[1, 0]]):
        assert [c.members for c in trace.communicators] == [(0, 1), (0,), (1,), (1, 0)]
        assert [c.id for c in trace.communicators] == [1, 2, 3, 4]
        events = trace.events(5, 29)
        columns = [events[c].tolist() for c in ("time", "rank", "type", "value")]
        assert list(zip(*columns, strict=True)) == [
            (10, 0, 50000002, 7),
            (10, 0, 50100001, 64),
            (10, 0, 50100002, 0),
            (10, 0, 50100003, 1),  # root 1 of (1, 0) is world rank 0
            (10, 0, 50100004, 4),
            (12, 1, 50000002, 7),
            (12, 1, 50100001, 0),
            (12, 1, 50100002, 64),
            (12, 1, 50100003, 0),
            (12, 1, 50100004, 4),
            (20, 0, 50000002, 0),
            (22, 1, 50000002, 0),
        ]


def test_calls_and_polls_in_order_of_entry_with_world_ranks():
    ranks = [
        {
            "calls": [call(SEND, 10, 20, comm=FIRST, peer=0, sent=5, tag=3), call(SEND, 60, 70, comm=WORLD, peer=-2)],
            "polls": [poll(TEST, 30, 50, inside=8, count=4)],
        },
        {"calls": [call("MPI_Recv", 1, 9, comm=FIRST, peer=1, received=5, tag=3)]},
    ]
    for trace in run_of(ranks, communicators=[[1, 0]]):
        found = np.concatenate(list(trace.calls(0)))
        assert [trace.procedures[c] for c in found["call"]] == [SEND, TEST, SEND]
        assert found["enter"].tolist() == [10, 30, 60]
        assert found["inside"].tolist() == [10, 8, 10]
        assert found["count"].tolist() == [1, 4, 1]
        assert found["peer"].tolist() == [1, Peer.NONE, Peer.PROC_NULL]
        assert found["comm"].tolist() == [3, -1, 0]
        assert np.concatenate(list(trace.calls(1)))["peer"].tolist() == [0]
        assert np.concatenate(list(trace.calls(0, 11, 60)))["enter"].tolist() == [30]


def test_peers_of_an_intercommunicator_are_ranks_of_the_other_group():
    ranks = [{"calls": [call(SEND, 10, 20, comm=FIRST, peer=k % 2, sent=5)]} for k in range(4)]
    for trace in run_of(ranks, communicators=[([0, 2], [3, 1])]):
        peers = [int(np.concatenate(list(trace.calls(rank)))["peer"][0]) for rank in range(4)]
        assert peers == [3, 2, 3, 2]
        assert [(c.members, c.remote) for c in trace.communicators[5:]] == [((0, 2), (3, 1))]


def test_a_flush_between_calls_is_io_with_its_events_and_not_running():
    ranks = [{"calls": [call(SEND, 10, 20), call(SEND, 50, 60)], "events": flush(20, 45)}]
    for trace in run_of(ranks):
        states = trace.states()
        assert list(zip(*(states[c].tolist() for c in ("begin", "end", "state")), strict=True)) == [
            (0, 10, State.RUNNING),
            (10, 20, State.BLOCKING_SEND),
            (20, 45, State.IO),
            (45, 50, State.RUNNING),
            (50, 60, State.BLOCKING_SEND),
        ]
        assert trace.extra(TracerTime).flushes(0)[["begin", "end"]].tolist() == [(20, 45)]
        events = trace.events(11, 50)
        assert events[["time", "type", "value"]].tolist() == [
            (20, 50000001, 0),
            (20, 40000003, 1),
            (45, 40000003, 0),
        ]


def test_threads_have_their_own_rows_states_and_cpus():
    main = [call(SEND, 10, 20), call(SEND, 70, 80)]
    other = [call(REDUCE, 15, 30, thread=1), call(REDUCE, 40, 95, thread=1)]
    ranks = [
        {"calls": [main[0], *other, main[1]], "events": [event(35, 7, 1, thread=1)]},
        {"calls": [call(SEND, 1, 2)]},
    ]
    for trace in run_of(ranks):
        assert trace.threads.tolist() == [2, 1]
        assert trace.nodes.cpus == (3,)
        assert trace.span(0) == (0, 95)
        states = trace.states()
        first, second = (states[(states["rank"] == 0) & (states["thread"] == k)] for k in (0, 1))
        assert first[["begin", "end", "state", "cpu"]].tolist() == [
            (0, 10, 1, 1),
            (10, 20, 4, 1),
            (20, 70, 1, 1),
            (70, 80, 4, 1),
            (80, 95, 1, 1),
        ]
        assert second[["begin", "end", "state", "cpu"]].tolist() == [
            (0, 15, 2, 2),
            (15, 30, 13, 2),
            (30, 40, 1, 2),
            (40, 95, 13, 2),
        ]
        assert states["cpu"][states["rank"] == 1].tolist() == [3, 3]
        assert np.concatenate(list(trace.calls(0)))["enter"].tolist() == [10, 15, 40, 70]
        assert trace.events(35, 36)[["type", "thread"]].tolist() == [(7, 1)]


@settings(max_examples=40)
@given(st.lists(st.lists(st.integers(0, 2000), min_size=1, max_size=60), min_size=1, max_size=4), st.integers(1, 40))
def test_windows_cover_the_run_and_every_call_is_in_one(starts, records):
    ranks = [{"calls": [call(SEND, 2 * t + 1, 2 * t + 2) for t in sorted(set(times))]} for times in starts]
    for trace in run_of(ranks):
        bounds = trace.windows(records)
        assert bounds[0] == 0
        assert bounds[-1] > trace.duration_ns
        assert (np.diff(bounds) > 0).all()
        for rank, content in enumerate(ranks):
            blocks = [b for a, e in pairwise(bounds.tolist()) for b in trace.calls(rank, a, e)]
            assert np.concatenate(blocks)["enter"].tolist() == [row["enter"] for row in content["calls"]]


def test_windows_hold_about_as_many_calls_as_asked_for():
    ranks = [{"calls": [call(SEND, 10 * k + r, 10 * k + r + 5) for k in range(1, 3000)]} for r in range(4)]
    for trace in run_of(ranks):
        counts = [len(b) for a, e in pairwise(trace.windows(1000).tolist()) for b in [trace.events(a, e)]]
        assert len(counts) == 12
        assert all(1800 < c < 2200 for c in counts)
