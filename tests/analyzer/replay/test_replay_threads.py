"""Threads of a rank that call MPI are streams of their own: by hand, on an ideal machine unless said otherwise."""

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from synthetic import FIRST, WORLD, call, event, request, write_run

import analyzer
from analyzer.machine.description import Node
from analyzer.opening import open_trace
from analyzer.program.files import load_program, save_program
from analyzer.program.operation import OperationKind
from analyzer.replay import Machine, program_of, simulate
from analyzer.replay.predicted import CallTimes
from analyzer.replay.section import section_of
from analyzer.trace import Leftovers
from analyzer.what_if.blocks import blocks_between_calls
from tracelib.schema import RequestKind

SPLIT = (0, 1)  # a communicator of both ranks


def bsend(enter, leave, peer, *, tag=0, size=8, thread=0):
    return call("MPI_Bsend", enter, leave, comm=WORLD, peer=peer, tag=tag, sent=size, thread=thread)


def recv(enter, leave, peer, *, tag=0, size=8, thread=0):
    return call("MPI_Recv", enter, leave, comm=WORLD, peer=peer, tag=tag, received=size, thread=thread)


def finalize(enter):
    return call("MPI_Finalize", enter, enter + 10)


@pytest.fixture
def opened(tmp_path):
    def open_(*ranks, **more):
        for rank in ranks:
            rank["calls"].sort(key=lambda row: (row["thread"], row["enter"]))
        return open_trace(str(write_run(tmp_path, ranks, **more)))

    return open_


def replay(trace, on=None):
    """Entry and exit of the calls of each thread (rank, thread), and the prediction."""
    program = program_of(trace)
    found = simulate(program, on or Machine.ideal(), times=True, transfers=True)
    times = {}
    for rank in range(trace.size):
        calls = np.concatenate([*trace.calls(rank)])
        enter, leave = CallTimes(program, found, rank).next(calls["thread"])
        for thread in np.unique(calls["thread"]).tolist():
            mine = calls["thread"] == thread
            times[rank, thread] = [*zip(enter[mine].tolist(), leave[mine].tolist(), strict=True)]
    return times, found


def two_at_once():
    """Rank 0: main computes 100, receives until 600, computes 50; thread 1 is first seen at 180, computes 300 from 190
    on and sends to rank 1, which has computed 20 then and takes 90 ns to answer main."""
    calls = [recv(100, 600, 1, tag=1), finalize(650)]
    calls += [call("MPI_Comm_rank", 180, 190, comm=WORLD, thread=1), bsend(490, 500, 1, thread=1)]
    return {"calls": calls}, {"calls": [recv(20, 505, 0), bsend(595, 597, 0, tag=1), finalize(700)]}


def test_threads_compute_side_by_side(opened):
    """Main is in a call at 180: thread 1 begins where that does, at 100, with 80 of its own; 80 + 300 later it sends.
    Main goes on after it has ended."""
    times, found = replay(opened(*two_at_once()))
    assert times[0, 1] == [(180, 180), (480, 480)]
    assert times[1, 0] == [(20, 480), (570, 570), (673, 673)]
    assert times[0, 0] == [(100, 570), (620, 620)]
    assert found.end_ns == 673


def test_threads_share_the_processors_of_their_node(opened):
    """With one CPU main and thread 1 take turns; with two, or as many as threads, they do not."""
    busy = [call("MPI_Init", 0, 10), call("MPI_Barrier", 1010, 1020, comm=3), finalize(1030)]
    busy += [call("MPI_Comm_rank", 20, 20, comm=WORLD, thread=1), call("MPI_Comm_size", 820, 820, comm=WORLD, thread=1)]
    trace = opened({"calls": busy}, communicators=[(0,)])
    program = program_of(trace)
    assert simulate(program, Machine.ideal()).end_ns == simulate(program, Machine(nodes=(Node(cpus=2),))).end_ns == 1010
    assert simulate(program, Machine(nodes=(Node(cpus=1),))).end_ns == 1010 + 800


def test_a_thread_completes_what_another_posted(opened):
    """Thread 1 waits for what main posts later in the replay than it is waited for."""
    calls = [recv(10, 20, 1, tag=5), call("MPI_Irecv", 520, 525, comm=WORLD, peer=1, thread=0), finalize(600)]
    calls += [call("MPI_Comm_rank", 2, 4, comm=WORLD, thread=1), call("MPI_Wait", 530, 550, thread=1)]
    done = [request(RequestKind.RECV_DONE, 520, 550, peer=1, bytes=8, thread=1)]
    other = [bsend(5, 6, 0, tag=5), bsend(7, 8, 0)]
    trace = opened({"calls": calls, "requests": done}, {"calls": other})
    times, _ = replay(trace)
    assert times[0, 0][:2] == [(10, 10), (510, 510)]
    assert times[0, 1] == [(2, 2), (528, 528)]  # later than the posting, as its 526 ns of computation are
    assert program_of(trace).shared_slots.tolist() == [1, 0]
    twice = simulate(program_of(trace), Machine.ideal(), repetitions=2)
    assert twice.runs["end"].tolist() == [510 + 75, 2 * (510 + 75)]


def test_a_wait_that_comes_too_early_waits_for_the_posting(opened):
    """Main posts after its own receive of something that takes a millisecond here; thread 1 was ready long before."""
    calls = [recv(10, 20, 1, tag=5), call("MPI_Irecv", 21, 25, comm=WORLD, peer=1), finalize(600)]
    calls += [call("MPI_Comm_rank", 2, 4, comm=WORLD, thread=1), call("MPI_Wait", 30, 50, thread=1)]
    done = [request(RequestKind.RECV_DONE, 21, 50, peer=1, bytes=8, thread=1)]
    trace = opened({"calls": calls, "requests": done}, {"calls": [bsend(5, 6, 0, tag=5), bsend(7, 8, 0)]})
    times, _ = replay(trace, Machine(node=Node(latency_s=1e-3), dialect="thesis"))
    assert times[0, 0][1] == (1_000_006, 1_000_006)
    assert times[0, 1][1] == (28, 2_000_006)


def test_messages_of_one_tag_from_two_threads(opened):
    """Main waits for nobody; rank 1 receives from both in the order of the trace."""
    calls = [recv(0, 500, 1, tag=9), bsend(510, 511, 1, size=111), finalize(900)]
    calls += [call("MPI_Comm_rank", 0, 1, comm=WORLD, thread=1), bsend(600, 601, 1, size=222, thread=1)]
    other = [bsend(1, 2, 0, tag=9), recv(400, 520, 0, size=111), recv(530, 610, 0, size=222), finalize(900)]
    times, _ = replay(opened({"calls": calls}, {"calls": other}))
    assert times[0, 0][1] == (11, 11) and times[0, 1][1] == (599, 599)
    assert times[1, 0][1:3] == [(399, 399), (409, 599)]


def test_overtaking_in_the_replay(opened):
    """Main sends second in the trace, because it waited; in the replay it is first, and rank 1 receives what it did."""
    calls = [recv(0, 500, 1, tag=9), bsend(510, 511, 1, size=111), finalize(900)]
    calls += [call("MPI_Comm_rank", 0, 1, comm=WORLD, thread=1), bsend(301, 302, 1, size=222, thread=1)]
    calls.append(call("MPI_Comm_rank", 880, 881, comm=WORLD, thread=1))
    other = [bsend(1, 2, 0, tag=9), recv(20, 310, 0, size=222), recv(330, 515, 0, size=111), finalize(900)]
    trace = opened({"calls": calls}, {"calls": other})
    times, _ = replay(trace)
    assert times[0, 0][1] == (11, 11) and times[0, 1][1] == (300, 300)
    assert times[1, 0][1:3] == [(19, 300), (320, 320)]


def test_collectives_of_a_communicator_keep_their_order(opened):
    """Thread 1 calls the first, main the second, for which it is ready long before."""

    def calls(barrier, thread):
        first = call("MPI_Bcast", 900, 910, comm=FIRST, peer=0, sent=8, thread=thread)
        return [recv(10, 950, 1, tag=1), call("MPI_Barrier", barrier, barrier + 5, comm=FIRST), finalize(2000),
                call("MPI_Comm_rank", 1, 2, comm=WORLD, thread=1), first]  # fmt: skip

    one = calls(1000, 1)
    two = [bsend(3, 4, 0, tag=1), call("MPI_Bcast", 20, 910, comm=FIRST, peer=0, received=8),
           call("MPI_Barrier", 930, 1005, comm=FIRST), finalize(2000)]  # fmt: skip
    times, _ = replay(opened({"calls": one}, {"calls": two}, communicators=[SPLIT]))
    assert times[0, 1][1] == (899, 899)
    assert times[0, 0][1] == (899, 919)  # ready at 60, its turn at 899, and rank 1 comes at 919


def test_the_section_and_blocks_know_streams(opened, tmp_path):
    """MPI_Init and MPI_Finalize are main's; a program in files keeps its streams and shared slots."""
    calls = [call("MPI_Init", 0, 100), call("MPI_Irecv", 120, 121, comm=WORLD, peer=0), finalize(700)]
    calls += [bsend(300, 301, 0, thread=1), call("MPI_Wait", 400, 410, thread=1), call("MPI_Test", 650, 660, thread=1)]
    done = [request(RequestKind.RECV_DONE, 120, 410, peer=0, bytes=8, thread=1)]
    trace = opened({"calls": calls, "requests": done, "events": [event(500, 3000, 1, thread=1)]})
    section = section_of(trace)
    assert section.measured_ns == 600
    assert simulate(section.program, Machine.ideal()).end_ns == 599  # MPI_Irecv took 1
    blocks = blocks_between_calls(trace, program_of(trace))
    assert set(blocks.names) >= {"MPI_Init ... MPI_Irecv", "MPI_Bsend ... MPI_Wait", "MPI_Wait ... MPI_Test"}
    program = program_of(trace)
    events = program.ops["kind"][program.stream(program.stream_of(0, 1))] == OperationKind.EVENT
    assert events.sum() == 1
    save_program(program, tmp_path / "saved")
    read = load_program(tmp_path / "saved")
    assert read.shared_slots.tolist() == [1] and read.thread.tolist() == [0, 1]
    assert simulate(read, Machine.ideal()).end_ns == simulate(program, Machine.ideal()).end_ns == 599


def test_the_predicted_run(opened, tmp_path):
    """Threads keep their numbers, their calls their order; it replays to itself."""
    trace = opened(*two_at_once())
    path = tmp_path / "predicted.h5"
    program = program_of(trace)
    analyzer.replay.predicted.write_predicted(
        trace, program, simulate(program, Machine.ideal(), times=True), path, "ideal"
    )
    predicted = open_trace(str(path))
    calls = np.concatenate([*predicted.calls(0)])
    # MPI_Irecv, MPI_Test and MPI_Finalize take no time, that is, the last ns before it
    assert calls[["thread", "enter"]].tolist() == [(0, 100), (1, 179), (1, 479), (0, 619)]
    assert len(predicted.messages()) == 2 and not predicted.extra(Leftovers).unmatched()


@st.composite
def programs(draw):
    """Two ranks with up to three threads each and messages between them, at times at which they could have been."""
    moments = iter(range(10, 10_000, 2))
    calls: list[list] = [[], []]
    done: list[list] = [[], []]
    last = {}
    for number in range(draw(st.integers(1, 12))):
        source = draw(st.integers(0, 1))
        sender, poster, waiter = (draw(st.integers(0, 2)) for _ in range(3))
        tag, splits = draw(st.integers(0, 1)), draw(st.booleans())
        for _ in range(draw(st.integers(0, 5))):
            next(moments)
        posts, posted, sends, sent, waits, waited = (next(moments) for _ in range(6))
        calls[source].append(bsend(sends, sent, 1 - source, tag=tag, size=number, thread=sender))
        if splits:
            row = call("MPI_Irecv", posts, posted, comm=WORLD, peer=source, tag=tag, thread=poster)
            calls[1 - source] += [row, call("MPI_Wait", waits, waited, thread=waiter)]
            done[1 - source].append(
                request(RequestKind.RECV_DONE, posts, waited, peer=source, tag=tag, bytes=number, thread=waiter)
            )
        else:
            calls[1 - source].append(recv(posts, waited, source, tag=tag, size=number, thread=poster))
        last = {"end": waited}
    for rank in range(2):
        calls[rank].append(call("MPI_Init", 0, 2))
        calls[rank].append(finalize(last["end"] + 20))
        calls[rank].sort(key=lambda row: (row["thread"], row["enter"]))
        done[rank].sort(key=lambda row: (row["thread"], row["completed"]))
    return [{"calls": c, "requests": d} for c, d in zip(calls, done, strict=True)]


@settings(max_examples=20)
@given(programs())
def test_nothing_takes_longer_without_a_network(ranks):
    """Whatever threads do: the replay ends, and no call does later than it did, up to what made-up times move."""
    with TemporaryDirectory() as folder:
        trace = open_trace(str(write_run(Path(folder), ranks)))
        assert not trace.extra(Leftovers).unmatched()
        times, found = replay(trace)
        assert found.unreceived == 0
        for rank in range(2):
            calls = np.concatenate([*trace.calls(rank)])
            for thread in np.unique(calls["thread"]).tolist():
                exits = calls["exit"][calls["thread"] == thread].tolist()
                assert all(leave <= was for (_, leave), was in zip(times[rank, thread], exits, strict=True))
