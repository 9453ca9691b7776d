"""Each way in which a call can wait for another rank or thread, by hand to the nanosecond."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from synthetic import WORLD, call, event, flush, poll, request, write_run
from timed_program import ProgramTrace

from analyzer.columns.rows import Rows
from analyzer.critical.path import critical_path
from analyzer.critical.shares import path_shares
from analyzer.critical.thread_nodes import NODE, NOTED, NodeTimeline
from analyzer.opening import open_trace
from tracelib.schema import RequestKind

DATA = {"comm": WORLD, "sent": 8, "received": 8}
WINDOW = [(7, 0, 8, WORLD, 1, 1, 1, b"")]


def found_in(folder, ranks, **options):
    folder.mkdir(exist_ok=True)
    trace = open_trace(write_run(folder, ranks))
    found = critical_path(trace, **options)
    assert found.length_ns == trace.duration_ns
    assert found.segments["begin"].tolist() == [0, *found.segments["end"][:-1].tolist()]
    assert (found.slack >= 0).all()
    trace.close()
    return found


def stays(found):
    """(begin, end, rank, thread) of the path."""
    nodes = found.nodes
    return [(b, e, int(nodes.rank[k]), int(nodes.thread[k])) for b, e, k in found.segments.tolist()]


def path_of(folder, ranks, **options):
    return [stay[:3] for stay in stays(found_in(folder, ranks, **options))]


def sends(at, **more):
    return {"calls": [call("MPI_Send", at, at + 2, comm=WORLD, peer=0, tag=3, sent=8, **more)]}


@pytest.mark.parametrize("name", ["MPI_Test", "MPI_Testany", "MPI_Testall", "MPI_Testsome"])
def test_failing_polls_wait(tmp_path, name):
    """Posted at 10, asked for 40 times from 20 on; sent at 300, and found by the call that ends at 320."""
    own = {"comm": WORLD, "peer": 1, "tag": 3} if name == "MPI_Test" else {}
    asks = {
        "calls": [call("MPI_Irecv", 10, 12, comm=WORLD, peer=1, tag=3), call(name, 316, 320, **own)],
        "polls": [poll(name, 20, 310, inside=100, count=40)],
        "requests": [request(RequestKind.RECV_DONE, 10, 320, peer=1, tag=3, bytes=8)],
    }
    found = found_in(tmp_path, [asks, sends(300)])
    assert stays(found) == [(0, 300, 1, 0), (300, 320, 0, 0)]
    assert found.slack[found.nodes.thread_slice(0)].tolist() == [280, 280, 280, 0]


def test_a_poll_that_succeeds_ends_a_wait(tmp_path):
    """Two messages that are asked for one after the other, at once: sent at 300 and 700. Both waits show."""
    asks = {
        "calls": [call("MPI_Testsome", 316, 320), call("MPI_Testsome", 716, 720)],
        "polls": [poll("MPI_Testsome", at, at + 290, inside=100, count=40) for at in (20, 325)],
        "requests": [request(RequestKind.RECV_DONE, 10, t, peer=1, tag=3, bytes=8) for t in (320, 720)],
    }
    sender = {"calls": [*sends(300)["calls"], *sends(700)["calls"]]}
    found = found_in(tmp_path, [asks, sender])
    assert stays(found)[-2:] == [(0, 700, 1, 0), (700, 720, 0, 0)]
    assert found.slack[found.nodes.thread_slice(0)].tolist() == [280 + 375, 280 + 375, 375, 0]


@pytest.mark.parametrize(
    ("count", "pause", "is_wait"), [(1, 10_000, True), (1, 10_001, False), (50, 500_000, True), (50, 500_001, False)]
)
def test_what_lies_between_polls(tmp_path, count, pause, is_wait):
    """10 us are part of the wait for each poll that failed in a row; more is computation."""
    asks = {
        "calls": [call("MPI_Test", 1000 + pause, 1020 + pause, comm=WORLD, peer=1, tag=3)],
        "polls": [poll("MPI_Test", 100, 1000, inside=900, count=count)],
        "requests": [request(RequestKind.RECV_DONE, 10, 1020 + pause, peer=1, tag=3, bytes=8)],
    }
    expected = [(0, 900, 1), (900, 1020 + pause, 0)] if is_wait else [(0, 1020 + pause, 0)]
    assert path_of(tmp_path, [asks, sends(900)]) == expected
    assert path_of(tmp_path / "more", [asks, sends(900)], poll_gap_ns=10**6) == [(0, 900, 1), (900, 1020 + pause, 0)]


def test_writing_the_buffer_is_no_pause(tmp_path):
    """A flush of 50 us between two polls."""
    asks = {
        "calls": [call("MPI_Test", 51_300, 51_320, comm=WORLD, peer=1, tag=3)],
        "polls": [poll("MPI_Test", 100, 1000, inside=900, count=1)],
        "events": flush(1100, 51_200),
        "requests": [request(RequestKind.RECV_DONE, 10, 51_320, peer=1, tag=3, bytes=8)],
    }
    assert path_of(tmp_path, [asks, sends(900)]) == [(0, 900, 1), (900, 51_320, 0)]


def test_a_wait_after_a_poll_that_succeeded_is_another_one(tmp_path):
    """Found at 320, the last poll of all; what is waited for from 322 on was sent at 700."""
    asks = {
        "calls": [call("MPI_Testsome", 20, 320), call("MPI_Wait", 322, 720, comm=WORLD, peer=1, tag=3)],
        "requests": [request(RequestKind.RECV_DONE, 10, t, peer=1, tag=3, bytes=8) for t in (320, 720)],
    }
    found = found_in(tmp_path, [asks, {"calls": [*sends(300)["calls"], *sends(700)["calls"]]}])
    assert found.nodes.enter[found.nodes.thread_slice(0)].tolist() == [0, 20, 322, 720]


def test_two_kinds_of_polls_in_turns(tmp_path):
    asks = {
        "calls": [call("MPI_Test", 316, 320, comm=WORLD, peer=1, tag=3)],
        "polls": [
            poll(("MPI_Iprobe", "MPI_Test")[k % 2], 20 + 10 * k, 25 + 10 * k, inside=5, count=1) for k in range(20)
        ],
        "requests": [request(RequestKind.RECV_DONE, 10, 320, peer=1, tag=3, bytes=8)],
    }
    assert path_of(tmp_path, [asks, sends(300)]) == [(0, 300, 1), (300, 320, 0)]


@pytest.mark.parametrize("name", ["MPI_Probe", "MPI_Iprobe"])
def test_a_probe_waits_for_the_message_received_next(tmp_path, name):
    """Found at 320 by a call that was entered, or polled for, from 20 on; another message is received after it."""
    own = {"comm": WORLD, "peer": 1, "tag": 3}
    asks = {
        "calls": [
            call(name, 20 if name == "MPI_Probe" else 316, 320, **own),
            call("MPI_Recv", 330, 340, received=8, **own),
            call("MPI_Recv", 350, 360, received=8, **own),
        ],
        "polls": [poll(name, 20, 310, inside=100, count=40)] if name == "MPI_Iprobe" else [],
    }
    sender = {"calls": [*sends(300)["calls"], *sends(310)["calls"]]}
    assert path_of(tmp_path, [asks, sender]) == [(0, 300, 1), (300, 360, 0)]


def test_a_matched_probe(tmp_path):
    asks = {
        "calls": [call("MPI_Mprobe", 20, 320, comm=WORLD, peer=1, tag=3), call("MPI_Mrecv", 330, 340)],
        "requests": [request(RequestKind.RECEIVED, 20, 340, peer=1, tag=3, bytes=8)],
    }
    assert path_of(tmp_path, [asks, sends(300)]) == [(0, 300, 1), (300, 340, 0)]


def access(enter, detail=0):
    return {"enter": enter, "offset": 0, "object": 1, "detail": detail, "thread": 0}


def on_window(*calls, locks=()):
    """Return a rank whose calls are all on one window; locks entered at the times in `locks` are exclusive."""
    rows = [call(name, enter, exit_, comm=WORLD, peer=peer) for name, enter, exit_, peer in calls]
    details = [access(enter, 1 if enter in locks else 2) for _, enter, _, _ in calls]
    return {"calls": rows, "accesses": details, "objects": WINDOW}


def test_fences(tmp_path):
    """The second one waits for rank 1. Of the first, which rank 0 leaves before rank 1 enters, nobody waits."""
    ranks = [
        on_window(("MPI_Win_fence", 10, 15, -1), ("MPI_Win_fence", 40, 320, -1)),
        on_window(("MPI_Win_fence", 20, 25, -1), ("MPI_Win_fence", 300, 310, -1)),
    ]
    assert path_of(tmp_path, ranks) == [(0, 300, 1), (300, 320, 0)]


@pytest.mark.parametrize("waits_in", ["MPI_Win_start", "MPI_Put", "MPI_Win_complete"])
def test_an_origin_waits_for_its_target(tmp_path, waits_in):
    """Rank 1 posts at 300: the call of rank 0 that was not over then has waited."""
    names, times = ("MPI_Win_start", "MPI_Put", "MPI_Win_complete"), [10, 12, 20, 22, 30, 32]
    at = names.index(waits_in)
    times[2 * at + 1 :] = [t + 300 for t in times[2 * at + 1 :]]
    calls = [(name, *times[2 * k : 2 * k + 2], 1 if name == "MPI_Put" else -1) for k, name in enumerate(names)]
    target = on_window(("MPI_Win_post", 300, 301, -1), ("MPI_Win_wait", 302, 400, -1))
    found = path_of(tmp_path, [on_window(*calls), target])
    if waits_in == "MPI_Win_complete":  # the target waited for nothing
        assert found == [(0, 400, 1)]
    else:
        assert found == [(0, 300, 1), (300, times[4], 0), (times[4], 400, 1)]


@pytest.mark.parametrize("polled", [False, True])
def test_a_target_waits_for_its_origins(tmp_path, polled):
    """The target waits for the origin that completes last, in the second of two epochs."""
    waits = [("MPI_Win_test", t, t + 5, -1) for t in (200, 206, 305)] if polled else [("MPI_Win_wait", 200, 310, -1)]
    target = on_window(("MPI_Win_post", 5, 6, -1), ("MPI_Win_wait", 7, 90, -1), ("MPI_Win_post", 95, 96, -1), *waits)
    origins = [
        on_window(*(c for start, end in [(8, 80), (100, last)] for c in [
            ("MPI_Win_start", start, start + 1, -1), ("MPI_Put", start + 2, start + 3, 0),
            ("MPI_Win_complete", end, end + 2, -1)]))
        for last in (300, 250)
    ]  # fmt: skip
    assert path_of(tmp_path, [target, *origins]) == [(0, 300, 1), (300, 310, 0)]


@pytest.mark.parametrize(
    ("mine", "others", "waits"), [("lock", "lock", True), ("lock", "shared", True), ("shared", "shared", False)]
)
@pytest.mark.parametrize("waits_in", ["MPI_Win_lock", "MPI_Win_unlock"])
def test_locks(tmp_path, mine, others, waits, waits_in):
    """Rank 1 holds a lock of rank 2 until 300; rank 0 wants it from 50 on, and has it let go of at 350."""
    got = 310 if waits_in == "MPI_Win_lock" else 55
    ranks = [
        on_window(("MPI_Win_lock", 50, got, 2), ("MPI_Win_unlock", got + 5, 350, 2), locks=[50] * (mine == "lock")),
        on_window(("MPI_Win_lock", 10, 20, 2), ("MPI_Win_unlock", 300, 305, 2), locks=[10] * (others == "lock")),
        on_window(),
    ]  # fmt: skip
    assert path_of(tmp_path, ranks) == ([(0, 300, 1), (300, 350, 0)] if waits else [(0, 350, 0)])


def test_a_lock_that_is_got_before_its_holder_returns(tmp_path):
    """Rank 1 lets go from 300 to 400, held up by others; rank 0 has the lock from 310 on and lets it go at 350."""
    wants = ("MPI_Win_lock", 50, 310, 1), ("MPI_Win_unlock", 315, 350, 1), ("MPI_Put", 410, 420, 0)
    ranks = [
        on_window(*wants, locks=[50]),
        on_window(("MPI_Win_lock", 10, 20, 1), ("MPI_Win_unlock", 300, 400, 1), locks=[10]),
    ]  # fmt: skip
    assert path_of(tmp_path, ranks) == [(0, 300, 1), (300, 420, 0)]


def test_locks_of_different_targets_exclude_nobody(tmp_path):
    ranks = [
        on_window(("MPI_Win_lock", 50, 310, 1), ("MPI_Win_unlock", 315, 350, 1), locks=[50]),
        on_window(("MPI_Win_lock", 10, 20, 2), ("MPI_Win_unlock", 300, 305, 2), locks=[10]),
        on_window(),
    ]
    assert path_of(tmp_path, ranks) == [(0, 350, 0)]


def test_a_lock_of_all_excludes_an_exclusive_one(tmp_path):
    ranks = [
        on_window(("MPI_Win_lock", 50, 310, 1), ("MPI_Win_unlock", 315, 350, 1), locks=[50]),
        on_window(("MPI_Win_lock_all", 10, 20, -1), ("MPI_Win_unlock_all", 300, 305, -1)),
    ]
    assert path_of(tmp_path, ranks) == [(0, 300, 1), (300, 350, 0)]


def test_neighbours_are_those_that_nobody_left_before():
    """A line 0 - 1 - 2. In the first round rank 0 leaves before rank 2 enters, so that it does not wait for it in the
    second either, though it leaves after it."""
    rounds = [
        ((10, 60), (50, 95), (90, 96)),
        ((110, 200), (120, 310), (150, 312)),
        ((450, 500), (480, 490), (400, 488)),
    ]
    calls = [
        [("MPI_Neighbor_alltoall", *times[rank], {"comm": 0, "sent": 8, "received": 8}) for times in rounds]
        for rank in range(3)
    ]
    path = critical_path(ProgramTrace(calls, messages=[], spans=[(0, 520), (0, 490), (0, 488)]))
    by_rank = [(b, e, int(path.nodes.rank[k])) for b, e, k in path.segments.tolist()]
    assert (by_rank, path.contradictions) == ([(0, 150, 2), (150, 480, 1), (480, 520, 0)], 0)
    assert by_rank[-2:] == [(150, 480, 1), (480, 520, 0)]


def test_persistent_collectives(tmp_path):
    """Made once, started twice; rank 1 starts the second one last, at 400."""
    ranks = [
        {"calls": [call("MPI_Allreduce_init", 1, 2, comm=WORLD), call("MPI_Start", 10, 11, **DATA),
                   call("MPI_Wait", 12, 30), call("MPI_Start", enter, enter + 1, **DATA),
                   call("MPI_Wait", enter + 2, done)],
         "procedures": ["MPI_Allreduce_init"],
         "requests": [request(RequestKind.COLLECTIVE_STARTED, 10, 0, peer=-1, tag=0, bytes=16),
                      request(RequestKind.COLLECTIVE_DONE, 10, 30, peer=-1, tag=0, bytes=16),
                      request(RequestKind.COLLECTIVE_STARTED, enter, 0, peer=-1, tag=0, bytes=16),
                      request(RequestKind.COLLECTIVE_DONE, enter, done, peer=-1, tag=0, bytes=16)]}
        for enter, done in ((40, 430), (400, 420))
    ]  # fmt: skip
    assert path_of(tmp_path, ranks) == [(0, 400, 1), (400, 430, 0)]


def test_partitions_of_threads(tmp_path):
    """Started at 10; the last part is handed over by the second thread, at 300. Rank 0 asks for one, and waits."""
    which = {"comm": WORLD, "peer": 0, "tag": 3}
    sender = {
        "calls": [call("MPI_Start", 10, 11, **which), call("MPI_Pready", 40, 41, **which), call("MPI_Wait", 310, 312),
                  call("MPI_Pready", 300, 301, thread=1, **which)],
        "requests": [request(RequestKind.PARTITIONED_SEND_STARTED, 10, 0, peer=0, tag=3, bytes=16),
                     request(RequestKind.PARTITIONED_SEND_DONE, 10, 312, peer=0, tag=3, bytes=16)],
    }  # fmt: skip
    which["peer"] = 1
    receiver = {
        "calls": [call("MPI_Start", 5, 6, **which), *(call("MPI_Parrived", t, t + 2, **which) for t in (20, 30, 45)),
                  call("MPI_Wait", 60_000, 60_001)],
        "requests": [request(RequestKind.PARTITIONED_RECV_STARTED, 5, 0, peer=1, tag=3, bytes=16),
                     request(RequestKind.PARTITIONED_RECV_DONE, 5, 60_001, peer=1, tag=3, bytes=16)],
    }  # fmt: skip
    assert stays(found_in(tmp_path, [receiver, sender])) == [(0, 40, 1, 0), (40, 60_001, 0, 0)]
    receiver["calls"][1:] = [call("MPI_Wait", 60, 350)]
    receiver["requests"][1] = request(RequestKind.PARTITIONED_RECV_DONE, 5, 350, peer=1, tag=3, bytes=16)
    assert stays(found_in(tmp_path / "waits", [receiver, sender])) == [
        (0, 300, 1, 0), (300, 300, 1, 1), (300, 350, 0, 0),
    ]  # fmt: skip


def test_a_plain_message_has_no_parts(tmp_path):
    """Rank 1 sends to rank 2 at 20; what it hands over to rank 0 at 300, with the same tag, is another message."""
    handed = call("MPI_Pready", 300, 301, comm=WORLD, peer=0, tag=3)
    sender = {"calls": [call("MPI_Send", 20, 25, comm=WORLD, peer=2, tag=3, sent=8), handed]}
    receiver = {"calls": [call("MPI_Recv", 10, 400, comm=WORLD, peer=1, tag=3, received=8)]}
    found = found_in(tmp_path, [{"calls": [call("MPI_Comm_rank", 1, 2)]}, sender, receiver])
    assert stays(found) == [(0, 20, 1, 0), (20, 400, 2, 0)]


def joining(*lives, told=False):
    """A rank whose main thread calls at 10 and at 900, and others that call at the begin and the end of their lives."""
    calls = [call("MPI_Comm_rank", 10, 12), call("MPI_Comm_rank", 900, 902)]
    polls = []
    for thread, (begin, end) in enumerate(lives, 1):
        calls += [
            call("MPI_Comm_size", begin, begin + 1, thread=thread),
            call("MPI_Comm_size", end - 1, end, thread=thread),
        ]
        if told:
            polls.append(poll("MPI_Iprobe", end + 1, end + 50, inside=9, count=90, thread=thread))
    return {"calls": sorted(calls, key=lambda row: (row["thread"], row["enter"])), "polls": polls}


def test_the_main_thread_waits_for_the_last_to_end(tmp_path):
    """Threads are seen from 100 and 105 on; the second ends last, at 700, the first could end 100 later."""
    found = found_in(tmp_path, [joining((100, 600), (105, 700))])
    assert [stay[3] for stay in stays(found)] == [0, 2, 0]
    assert [stay[:2] for stay in stays(found)] == [(0, 105), (105, 700), (700, 902)]
    nodes = found.nodes
    assert [int(found.slack[nodes.thread_slice(t)][-1]) for t in (1, 2)] == [100, 0]
    assert found.slack[nodes.thread_slice(0)].tolist() == [
        5,
        5,
        5,
        0,
        0,
    ]  # what begins the second thread could be 5 later


def test_threads_that_are_not_waited_for(tmp_path):
    """One thread calls on after the main thread did, the other polls until it is told to stop."""
    assert stays(found_in(tmp_path, [joining((100, 950))]))[-1] == (100, 950, 0, 1)
    assert stays(found_in(tmp_path / "told", [joining((100, 600), told=True)])) == [(0, 902, 0, 0)]


def test_the_process_ends_with_its_main_thread(tmp_path):
    """Which computed on, to an event at 1000, after the others had ended and its own last call."""
    rank = joining((100, 950)) | {"events": [event(1000, 7, 1)]}
    assert stays(found_in(tmp_path, [rank])) == [(0, 1000, 0, 0)]


def test_waiting_for_threads_is_no_computation(tmp_path):
    ranks = [joining((100, 700))]
    trace = open_trace(write_run(tmp_path, ranks))
    found = path_shares(trace, critical_path(trace))
    assert sum(s.path_ns for s in found.functions) == trace.duration_ns
    (main,) = (s for s in found.functions if s.function.kind == "computation")
    assert main.path_ns == main.mean_ns == 10 + 88 + 598 + 200
    trace.close()


@settings(max_examples=15)
@given(st.lists(st.tuples(st.integers(11, 890), st.integers(2, 500)), min_size=1, max_size=4), st.booleans())
def test_any_threads(tmp_path_factory, lives, told):
    """The path is whole, and slack is not below 0, whatever threads there are."""
    found_in(tmp_path_factory.mktemp("threads"), [joining(*((b, b + n) for b, n in lives), told=told), sends(400)])


def test_regions_inside_of_polls(tmp_path):
    """Marks between the polls of a wait stay in the order of time."""
    ranks = [joining((100, 700)), sends(300)]
    ranks[0]["events"] = [event(50, 60000019, 1, flags=1), event(800, 60000019, 1, flags=2)]
    ranks[0]["labels"] = [(0, 1, 1, b"solve")]
    found = found_in(tmp_path, ranks)
    assert (np.diff(found.nodes.enter[found.nodes.thread_slice(0)]) >= 0).all()


@settings(max_examples=40)
@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4), st.booleans()), min_size=1, max_size=40),
    st.lists(st.integers(-1, 200), max_size=40),
)
def test_finding_calls_by_time(steps, times):
    """The call that a thread was in, or entered, and that it left: as one looks through all its nodes."""
    nodes, now = np.zeros(len(steps), NODE), 0
    for node, (pause, length, is_call) in zip(nodes, steps, strict=True):
        node["enter"] = now + pause
        now = node["exit"] = node["enter"] + (length if is_call else 0)
        node["call"] = 0 if is_call else -1
    one = np.zeros(1, np.int32)
    line = NodeTimeline(
        Rows.from_array(nodes), np.array([0, len(nodes)]), one, one, one, np.zeros(1, bool), np.zeros(0, NOTED)
    )
    threads, calls = np.zeros(len(times), int), np.flatnonzero(nodes["call"] == 0)
    entered, left = (find(threads, threads, np.array(times, np.int64)) for find in (line.entered, line.left))
    for time, found_entered, found_left in zip(times, entered.tolist(), left.tolist(), strict=True):
        inside = [k for k in calls if nodes["enter"][k] == time or nodes["enter"][k] <= time < nodes["exit"][k]]
        assert found_entered == max(inside, default=-1)
        inside = [k for k in calls if nodes["exit"][k] == time or nodes["enter"][k] <= time < nodes["exit"][k]]
        assert found_left == min(inside, default=-1)
