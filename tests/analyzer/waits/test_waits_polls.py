"""Waiting in polls that fail: the time in MPI until the other side came, and what was computed between polls."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from synthetic import WORLD, call, poll, request, write_run

from analyzer.metrics.profile import profile
from analyzer.parallel import Team
from analyzer.recording.run.opening import open_run
from analyzer.trace.read_options import ReadOptions
from analyzer.trace.read_sizes import ReadSizes
from analyzer.waits.analysis import analyze_waits
from analyzer.waits.kinds import Polled, WaitKind, length
from analyzer.waits.wait_states import WaitSearch, find_wait_states
from tracelib.schema import RequestKind

ONE = Team()


@pytest.fixture
def found(tmp_path):
    """found(rows of rank 0, ...): (kind, rank, cause, end, ns, ns of overlap, Polled) of each wait."""

    def of(*ranks):
        trace = open_run(str(write_run(tmp_path, ranks)))
        every = find_wait_states(WaitSearch(trace)).waits
        columns = [every[name].tolist() for name in ("kind", "lane", "cause", "end", "overlap", "polled")]
        return [
            (WaitKind(kind), rank, cause, end, ns, overlap, polled)
            for kind, rank, cause, end, overlap, polled, ns in zip(*columns, length(every).tolist(), strict=True)
        ]

    return of


def sender(at, tag=1):
    return {"calls": [call("MPI_Send", at, at + 1, comm=WORLD, peer=1, tag=tag, sent=8)]}


def receiver(polls, test, posted=10, tag=1, before=(), name="MPI_Test"):
    """A receive that is posted at `posted`, polled for, and completed by a call of (enter, exit)."""
    calls = [call("MPI_Irecv", posted, posted + 2, comm=WORLD), *before]
    calls.append(call(name, *test, comm=WORLD, peer=0, tag=tag, received=8))
    rows = [request(RequestKind.RECV_DONE, posted, test[1], peer=0, tag=tag, bytes=8)]
    return {"calls": calls, "requests": rows, "polls": list(polls)}


def test_polls_wait_as_long_as_they_are_in_mpi(found):
    """100 ns of polls of which 60 in MPI, until the message is sent; it arrives a little later."""
    one = receiver([poll("MPI_Test", 20, 120, inside=60, count=12)], (130, 140))
    assert found(sender(120), one) == [(WaitKind.LATE_SENDER, 1, 0, 120, 60, 40, Polled.BEGIN)]


def test_what_is_polled_after_the_message_was_sent_is_no_waiting(found):
    one = receiver([poll("MPI_Test", 20, 120, inside=50, count=10)], (130, 140))
    assert found(sender(60), one) == [(WaitKind.LATE_SENDER, 1, 0, 60, 20, 20, Polled.BEGIN)]


def test_computing_between_runs_of_polls_is_overlap(found):
    """Runs of polls at 20 and 1000; the message is sent at 1500, between the second and the completing poll. What
    another call takes meanwhile is neither."""
    polls = [poll("MPI_Test", 20, 30, inside=10, count=2), poll("MPI_Test", 1000, 1010, inside=10, count=2)]
    one = receiver(polls, (2000, 2010), before=[call("MPI_Comm_rank", 500, 600)])
    assert found(sender(1500), one) == [
        (WaitKind.LATE_SENDER, 1, 0, 30, 10, 970 - 100, Polled.BEGIN),
        (WaitKind.LATE_SENDER, 1, 0, 1010, 10, 1500 - 1010, Polled.MORE),
    ]


def test_the_completing_poll_waits_on(found):
    """A Testall that finds the message only inside: one wait in two calls."""
    one = receiver([poll("MPI_Testall", 20, 60, inside=40, count=4)], (60, 140), name="MPI_Testall")
    assert found(sender(100), one) == [
        (WaitKind.LATE_SENDER, 1, 0, 60, 40, 0, Polled.BEGIN),
        (WaitKind.LATE_SENDER, 1, 0, 100, 40, 0, Polled.MORE),
    ]


def test_polls_before_the_receive_was_posted_did_not_wait_for_it(found):
    polls = [poll("MPI_Testsome", 20, 30, inside=10, count=2), poll("MPI_Testsome", 60, 80, inside=20, count=2)]
    one = receiver(polls, (90, 95), posted=40, name="MPI_Testsome")
    assert found(sender(85), one) == [(WaitKind.LATE_SENDER, 1, 0, 80, 20, 5, Polled.BEGIN)]


def test_each_run_of_polls_waits_once(found):
    """The first completion takes the polls before it; the second has its own."""
    first = receiver([poll("MPI_Test", 20, 60, inside=40, count=4)], (70, 75), posted=10)
    second = receiver([poll("MPI_Test", 80, 120, inside=40, count=4)], (130, 135), posted=14, tag=2)
    calls = sorted(first["calls"] + second["calls"], key=lambda row: row["enter"])
    both = {"calls": calls} | {name: first[name] + second[name] for name in ("polls", "requests")}
    sent = {"calls": sender(65)["calls"] + sender(125, tag=2)["calls"]}
    assert found(sent, both) == [
        (WaitKind.LATE_SENDER, 1, 0, 60, 40, 5, Polled.BEGIN),
        (WaitKind.LATE_SENDER, 1, 0, 120, 40, 5, Polled.BEGIN),
    ]


def test_a_wait_ends_what_polls_began(found):
    one = receiver([poll("MPI_Testany", 20, 60, inside=40, count=4)], (70, 145), name="MPI_Waitany")
    assert found(sender(130), one) == [
        (WaitKind.LATE_SENDER, 1, 0, 60, 40, 10, Polled.BEGIN),
        (WaitKind.LATE_SENDER, 1, 0, 130, 60, 0, Polled.MORE),
    ]


def test_iprobe(found):
    """Polled for, found, asked for its length, received."""
    calls = [
        call("MPI_Iprobe", 120, 125, comm=WORLD, peer=0, tag=1),
        call("MPI_Get_count", 126, 127),
        call("MPI_Recv", 130, 140, comm=WORLD, peer=0, tag=1, received=8),
    ]
    one = {"calls": calls, "polls": [poll("MPI_Iprobe", 20, 110, inside=90, count=9)]}
    assert found(sender(100), one) == [(WaitKind.LATE_SENDER, 1, 0, 100, 80, 0, Polled.BEGIN)]


def test_improbe(found):
    calls = [
        call("MPI_Improbe", 120, 125, comm=WORLD, peer=0, tag=1),
        call("MPI_Mrecv", 130, 140, comm=WORLD, peer=0, tag=1, received=8),
    ]
    rows = [request(RequestKind.RECEIVED, 120, 140, peer=0, tag=1, bytes=8)]
    one = {"calls": calls, "requests": rows, "polls": [poll("MPI_Improbe", 20, 110, inside=90, count=9)]}
    assert found(sender(115), one) == [(WaitKind.LATE_SENDER, 1, 0, 110, 90, 5, Polled.BEGIN)]


def test_iprobe_before_a_matched_receive(found):
    """As comm.iprobe() and comm.recv() of mpi4py, again and again: each time it is the polls that waited."""
    zero, one = {"calls": []}, {"calls": [], "polls": [], "requests": []}
    for t in range(0, 4000, 200):
        zero["calls"].append(call("MPI_Send", t + 100, t + 101, comm=WORLD, peer=1, tag=1, sent=8))
        one["polls"].append(poll("MPI_Iprobe", t + 20, t + 110, inside=90, count=9))
        one["calls"] += [
            call("MPI_Iprobe", t + 120, t + 125, comm=WORLD, peer=0, tag=1),
            call("MPI_Mprobe", t + 130, t + 140, comm=WORLD, peer=0, tag=1),
            call("MPI_Mrecv", t + 150, t + 160, comm=WORLD, peer=0, tag=1, received=8),
        ]
        one["requests"].append(request(RequestKind.RECEIVED, t + 130, t + 160, peer=0, tag=1, bytes=8))
    expected = [(WaitKind.LATE_SENDER, 1, 0, t + 100, 80, 0, Polled.BEGIN) for t in range(0, 4000, 200)]
    assert found(zero, one) == expected


def test_a_message_that_is_matched_takes_no_polls_for_another(found):
    """Rank 2's message was found by polling; rank 0's is received first, and nothing was waited for."""
    calls = [
        call("MPI_Iprobe", 120, 125, comm=WORLD, peer=2, tag=1),
        call("MPI_Mprobe", 130, 140, comm=WORLD, peer=0, tag=1),
        call("MPI_Mrecv", 150, 160, comm=WORLD, peer=0, tag=1, received=8),
        call("MPI_Iprobe", 170, 175, comm=WORLD, peer=2, tag=1),
        call("MPI_Recv", 180, 190, comm=WORLD, peer=2, tag=1, received=8),
    ]
    rows = [request(RequestKind.RECEIVED, 130, 160, peer=0, tag=1, bytes=8)]
    one = {"calls": calls, "requests": rows, "polls": [poll("MPI_Iprobe", 20, 110, inside=90, count=9)]}
    assert found(sender(100), one, sender(5)) == []


def test_polls_for_a_send_wait_for_the_receive(found):
    zero = {
        "calls": [
            call("MPI_Issend", 10, 15, comm=WORLD, peer=1, tag=1, sent=8),
            call("MPI_Test", 130, 135, comm=WORLD, peer=1, tag=1),
        ],
        "requests": [request(RequestKind.SEND_DONE, 10, 135, peer=1, tag=1, bytes=8)],
        "polls": [poll("MPI_Test", 20, 120, inside=100, count=10)],
    }
    one = {"calls": [call("MPI_Recv", 90, 132, comm=WORLD, peer=0, tag=1, received=8)]}
    assert found(zero, one) == [(WaitKind.LATE_RECEIVER, 0, 1, 90, 70, 0, Polled.BEGIN)]


def test_polls_for_a_nonblocking_collective(found):
    def member(begun, done, polls=()):
        calls = [call("MPI_Iallreduce", begun, begun + 2, comm=WORLD, sent=8, received=8), call("MPI_Test", *done)]
        rows = [request(RequestKind.COLLECTIVE_DONE, begun, done[1], peer=-1, bytes=16)]
        return {"calls": calls, "requests": rows, "polls": list(polls)}

    zero = member(10, (130, 135), [poll("MPI_Test", 20, 120, inside=100, count=10)])
    assert found(zero, member(80, (90, 95))) == [(WaitKind.N_TO_N, 0, 1, 80, 60, 0, Polled.BEGIN)]


@pytest.mark.parametrize("last", ["MPI_Test", "MPI_Wait", "MPI_Waitany"])
def test_a_collective_that_nobody_was_late_for_takes_the_polls_before_it(found, last):
    """They are none of the receive that was posted before, and completes later."""
    reduce = call("MPI_Iallreduce", 12, 14, comm=WORLD, sent=8, received=8)
    calls = [call("MPI_Irecv", 10, 11, comm=WORLD), reduce, call(last, 70, 75, comm=WORLD),
             call("MPI_Wait", 80, 145, comm=WORLD, peer=0, tag=1, received=8)]  # fmt: skip
    rows = [request(RequestKind.COLLECTIVE_DONE, 12, 75, peer=-1, bytes=16),
            request(RequestKind.RECV_DONE, 10, 145, peer=0, tag=1, bytes=8)]  # fmt: skip
    one = {"calls": calls, "requests": rows, "polls": [poll("MPI_Test", 20, 60, inside=40, count=4)]}
    other = call("MPI_Iallreduce", 5, 7, comm=WORLD, sent=8, received=8)
    done = [request(RequestKind.COLLECTIVE_DONE, 5, 20, peer=-1, bytes=16)]
    zero = {"calls": [other, call("MPI_Wait", 15, 20), *sender(130)["calls"]], "requests": done}
    assert found(zero, one) == [(WaitKind.LATE_SENDER, 1, 0, 130, 50, 0, Polled.NO)]


def test_polls_that_lead_to_nothing_are_no_waiting(found):
    one = {"calls": [], "polls": [poll("MPI_Iprobe", 20, 110, inside=90, count=9)]}
    assert found(sender(100), one) == []


RUNS = st.lists(st.tuples(st.integers(1, 40), st.integers(1, 40)), min_size=1, max_size=12)


@settings(max_examples=25)
@given(runs=RUNS, sent=st.integers(0, 700))
def test_waiting_and_overlap_are_all_of_the_time(tmp_path_factory, runs, sent):
    """From the first failing poll to the send the receiver is in MPI, where it waits, or computes."""
    now, polls, is_inside = 20, [], np.zeros(2000, bool)
    for gap, inside in runs:
        now += gap
        polls.append(poll("MPI_Test", now, now + inside, inside=inside, count=2))
        is_inside[now : now + inside] = True
        now += inside
    path = write_run(tmp_path_factory.mktemp("run"), [sender(20 + sent), receiver(polls, (now + 5, now + 800))])
    trace = open_run(str(path))
    result = analyze_waits(trace, ONE, profile(trace, ONE))
    begin, end = polls[0]["enter"], min(20 + sent, now + 5)
    inside, last = is_inside[:end].sum() if end > begin else 0, max(0, 20 + sent - (now + 5))
    assert result.time_ns[1, WaitKind.LATE_SENDER] == inside + last
    assert result.overlap_ns[1, WaitKind.LATE_SENDER] == max(0, end - begin) - inside
    assert result.count.sum() == (20 + sent > begin)


def test_many_runs_of_polls_are_put_together(tmp_path, monkeypatch):
    """Where only 64 runs are kept apart: the same sums, but for the run that goes on when the message is sent. Other
    calls between them are neither waiting nor computing."""
    polls = [poll("MPI_Test", 20 + 100 * k, 30 + 100 * k, inside=10, count=2) for k in range(1000)]
    others = [call("MPI_Comm_rank", 50 + 100 * k, 80 + 100 * k) for k in range(1000)]
    run = write_run(tmp_path, [sender(80_020), receiver(polls, (100_100, 100_200), before=others)])
    sums = []
    for kept in (1 << 20, 64):
        monkeypatch.setattr("analyzer.waits.point_to_point.POLLS_KEPT", kept)
        trace = open_run(str(run))
        result = analyze_waits(trace, ONE, profile(trace, ONE))
        sums.append((int(result.time_ns.sum()), int(result.overlap_ns.sum()), int(result.count.sum())))
        trace.close()
    assert sums[0] == (8000, 72_000 - 24_000, 1)
    assert sums[1] == pytest.approx(sums[0], rel=0.05)


def test_windows_of_any_size_give_the_same_waits(tmp_path):
    """Polls, sends and receives that are completed many windows after they were posted, and probes."""
    zero = {"calls": [call("MPI_Issend", 10, 15, comm=WORLD, peer=1, tag=9, sent=8)], "requests": [], "polls": []}
    one = {"calls": [call("MPI_Irecv", 5, 6, comm=WORLD)], "requests": [], "polls": []}
    for k in range(20):
        t = 100 * k + 20
        zero["calls"].append(call("MPI_Send", t + 60, t + 62, comm=WORLD, peer=1, tag=k % 3, sent=8))
        zero["polls"].append(poll("MPI_Test", t, t + 20, inside=15, count=2))
        one["polls"].append(poll("MPI_Iprobe", t + 30, t + 50, inside=18, count=2))
        one["calls"].append(call("MPI_Iprobe", t + 70, t + 71, comm=WORLD, peer=0, tag=k % 3))
        one["calls"].append(call("MPI_Recv", t + 72, t + 75, comm=WORLD, peer=0, tag=k % 3, received=8))
    zero["calls"].append(call("MPI_Test", 2100, 2110, comm=WORLD, peer=1, tag=9))
    zero["requests"].append(request(RequestKind.SEND_DONE, 10, 2110, peer=1, tag=9, bytes=8))
    one["calls"].append(call("MPI_Recv", 2050, 2105, comm=WORLD, peer=0, tag=9, received=8))
    one["calls"].append(call("MPI_Wait", 2150, 2300, comm=WORLD, peer=0, tag=7, received=8))
    one["requests"].append(request(RequestKind.RECV_DONE, 5, 2300, peer=0, tag=7, bytes=8))
    zero["calls"].append(call("MPI_Send", 2200, 2202, comm=WORLD, peer=1, tag=7, sent=8))
    path, results = write_run(tmp_path, [zero, one]), []
    for records in (4, 16, 262144):
        trace = open_run(str(path), options=ReadOptions(sizes=ReadSizes(block_calls=2, window_calls=records)))
        results.append(find_wait_states(WaitSearch(trace)).waits.tolist())
        trace.close()
    assert results[0] == results[1] == results[2]
    kinds = [WaitKind(row[7]) for row in results[0]]
    # The message that was sent first is received after all the others.
    assert kinds == 20 * [WaitKind.LATE_RECEIVER] + 20 * [WaitKind.WRONG_ORDER] + [WaitKind.LATE_SENDER]
