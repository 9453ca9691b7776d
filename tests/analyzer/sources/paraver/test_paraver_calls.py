"""MPI calls and requests rebuilt from an imported trace's events and messages."""

from __future__ import annotations

import numpy as np
import pytest

from analyzer.operations.program import program_of
from analyzer.sources.paraver.trace import open_prv
from analyzer.trace import CALL, REQUEST
from analyzer.trace.paraver import CALL_VALUES
from tracelib.schema import Peer, RequestKind

HEAD = "#Paraver (20/11/2026 at 15:00):100000_ns:1(2):1:2(1:1,1:1),2\nc:1:1:2:1:2\nc:1:5:1:2\n"


def read(tmp_path, *lines: str, head: str = HEAD):
    path = tmp_path / "x.prv"
    path.write_text(head + "".join(f"{line}\n" for line in lines))
    return open_prv(path)


def call(task: int, enter: int, leave: int, value: int, event_type: int = 50000001, more: str = "") -> list[str]:
    place = f"2:{task}:1:{task}:1"
    return [f"{place}:{enter}:{event_type}:{value}{more}", f"{place}:{leave}:{event_type}:0"]


def message(source, lsend, psend, destination, lrecv, precv, size, tag) -> str:
    return f"3:{source}:1:{source}:1:{lsend}:{psend}:{destination}:1:{destination}:1:{lrecv}:{precv}:{size}:{tag}"


def rows_of(trace, rank: int) -> list[dict]:
    rows = np.concatenate([np.zeros(0, CALL), *trace.calls(rank)])
    return [dict(zip(CALL.names, row.tolist(), strict=True)) | {"name": trace.procedures[row["call"]]} for row in rows]


def requests_of(trace, rank: int) -> list[dict]:
    rows = np.concatenate([np.zeros(0, REQUEST), *trace.requests(rank)])
    return [dict(zip(REQUEST.names, row.tolist(), strict=True)) for row in rows]


def only(row: dict, *names: str) -> tuple:
    return tuple(row[name] for name in names)


def test_send_and_receive(tmp_path):
    trace = read(tmp_path, *call(1, 10, 20, 1), *call(2, 5, 30, 2), message(1, 10, 12, 2, 5, 30, 80, 9))
    (send,), (receive,) = rows_of(trace, 0), rows_of(trace, 1)
    assert only(send, "name", "enter", "exit", "inside", "count") == ("MPI_Send", 10, 20, 10, 1)
    assert only(send, "peer", "tag", "sent", "received", "comm") == (1, 9, 80, 0, -1)
    assert only(receive, "name", "peer", "tag", "sent", "received") == ("MPI_Recv", 0, 9, 0, 80)
    assert requests_of(trace, 0) == requests_of(trace, 1) == []


def test_irecv_and_wait(tmp_path):
    """The bytes are in the request's row alone, as in a measured run; peer and tag are also at the posting call."""
    trace = read(
        tmp_path,
        *call(2, 5, 6, 4),
        *call(2, 20, 40, 5),
        *call(1, 10, 12, 3),
        *call(1, 15, 16, 5),
        message(1, 10, 11, 2, 5, 39, 80, 9),
    )
    irecv, wait = rows_of(trace, 1)
    assert only(irecv, "name", "peer", "tag", "received") == ("MPI_Irecv", 0, 9, 0)
    assert only(wait, "name", "peer", "received") == ("MPI_Wait", Peer.NONE, 0)
    (done,) = requests_of(trace, 1)
    assert only(done, "what", "posted", "completed", "bytes", "peer", "tag") == (RequestKind.RECV_DONE, 5, 40, 80, 0, 9)
    assert requests_of(trace, 0) == []


def test_a_matched_receive_of_ours(tmp_path):
    """A poll that fails and one that succeeds, which posts the receive; MPI_Mrecv completes it, as in run.h5."""
    lines = *call(2, 1, 4, 191), *call(2, 5, 8, 191), *call(2, 20, 40, 192), *call(1, 2, 3, 1)
    trace = read(tmp_path, *lines, message(1, 2, 3, 2, 5, 40, 80, 9))
    failed, found, mrecv = rows_of(trace, 1)
    assert only(failed, "name", "peer") == ("MPI_Improbe", Peer.NONE)
    assert only(found, "name", "peer", "tag", "received") == ("MPI_Improbe", 0, 9, 0)
    assert mrecv["name"] == "MPI_Mrecv"
    (done,) = requests_of(trace, 1)
    assert only(done, "what", "posted", "completed", "bytes", "peer", "tag") == (RequestKind.RECV_DONE, 5, 40, 80, 0, 9)


def test_a_matched_receive_of_others(tmp_path):
    """The message comes into MPI_Mrecv; a receive that is open meanwhile stays so."""
    lines = *call(2, 1, 2, 4), *call(2, 5, 18, 190), *call(2, 20, 40, 192), *call(2, 50, 60, 5), *call(1, 2, 3, 1)
    trace = read(tmp_path, *lines, message(1, 2, 3, 2, 20, 40, 80, 9), message(1, 2, 3, 2, 1, 60, 7, 8))
    _, mprobe, mrecv, _ = rows_of(trace, 1)
    assert only(mprobe, "name", "peer") == ("MPI_Mprobe", Peer.NONE)
    assert only(mrecv, "name", "peer", "tag", "received") == ("MPI_Mrecv", 0, 9, 80)
    assert [only(row, "what", "posted", "completed", "bytes") for row in requests_of(trace, 1)] == [
        (RequestKind.RECEIVED, 20, 40, 80),
        (RequestKind.RECV_DONE, 1, 60, 7),
    ]


def test_waitall_completes_many_and_the_order_is_that_of_arrival(tmp_path):
    trace = read(
        tmp_path,
        *call(2, 5, 6, 4),
        *call(2, 7, 8, 4),
        *call(2, 9, 10, 4),
        *call(2, 20, 40, 60),
        *call(2, 50, 60, 6),
        message(1, 1, 1, 2, 5, 55, 1, 1),
        message(1, 2, 2, 2, 7, 30, 2, 2),
        message(1, 3, 3, 2, 9, 15, 3, 3),
    )
    found = [only(row, "posted", "completed", "bytes") for row in requests_of(trace, 1)]
    assert found == [(9, 15, 3), (7, 40, 2), (5, 60, 1)]


def test_sendrecv_has_a_row_for_its_receiving_half(tmp_path):
    trace = read(
        tmp_path,
        *call(1, 10, 30, 41),
        *call(2, 12, 28, 41),
        message(1, 10, 10, 2, 12, 28, 80, 9),
        message(2, 12, 12, 1, 10, 30, 40, 7),
    )
    (row,) = rows_of(trace, 0)
    assert only(row, "name", "peer", "tag", "sent", "received") == ("MPI_Sendrecv", 1, 9, 80, 40)
    (half,) = requests_of(trace, 0)
    assert only(half, "what", "posted", "completed", "bytes", "peer", "tag") == (RequestKind.RECEIVED, 10, 30, 40, 1, 7)


def test_startall_takes_all_its_messages(tmp_path):
    trace = read(
        tmp_path,
        *call(1, 10, 20, 124, 50000003),
        *call(2, 10, 20, 124, 50000003),
        *call(2, 30, 50, 6),
        message(1, 10, 10, 2, 10, 45, 80, 9),
        message(1, 10, 10, 2, 10, 46, 8, 9),
    )
    assert rows_of(trace, 0)[0]["sent"] == 88
    assert [only(row, "posted", "completed", "bytes") for row in requests_of(trace, 1)] == [(10, 50, 80), (10, 50, 8)]


def test_collectives(tmp_path):
    pairs = ":50100001:8:50100002:16:50100003:1:50100004:5"
    before = "2:2:1:2:1:60:50100001:1:50100002:2:50100004:1:50000002:10"
    trace = read(
        tmp_path,
        *call(2, 10, 20, 7, 50000002, pairs),
        *call(2, 30, 40, 8, 50000002, ":50100001:0:50100002:0:50100004:1:42000050:12"),
        before,
        "2:2:1:2:1:70:50000002:0",
        *call(2, 80, 90, 11, 50000002, ":50100004:777"),
    )
    bcast, barrier, allreduce, alltoall = rows_of(trace, 1)
    assert only(bcast, "name", "sent", "received", "comm", "peer") == ("MPI_Bcast", 8, 16, 1, 1)
    assert only(barrier, "name", "sent", "comm", "peer") == ("MPI_Barrier", 0, 0, Peer.NONE)
    assert only(allreduce, "name", "sent", "received", "comm") == ("MPI_Allreduce", 1, 2, 0)
    assert only(alltoall, "name", "comm") == ("MPI_Alltoall", -1)


IALLREDUCE, IBARRIER, WAIT, WAITALL = 155, 156, 5, 6


def test_a_wait_in_which_nothing_is_received_is_for_the_oldest_collective(tmp_path):
    """As prv2dim takes it; a Wait that receives something, and one for several, are for none."""
    sizes = ":50100001:8:50100002:8:50100004:5"
    trace = read(
        tmp_path,
        *call(2, 1, 2, 4),
        *call(2, 10, 12, IALLREDUCE, 50000002, sizes),
        *call(2, 20, 22, IBARRIER, 50000002, ":50100004:1"),
        *call(2, 30, 35, WAIT),
        *call(2, 36, 37, WAITALL),
        *call(2, 40, 45, WAIT),
        *call(2, 50, 55, WAIT),
        *call(2, 60, 65, WAIT),
        *call(1, 10, 11, 1),
        message(1, 10, 11, 2, 1, 33, 80, 9),
    )
    received, allreduce, barrier = requests_of(trace, 1)
    assert only(received, "what", "posted", "completed") == (RequestKind.RECV_DONE, 1, 35)
    assert only(allreduce, "what", "posted", "completed", "bytes") == (RequestKind.COLLECTIVE_DONE, 10, 45, 0)
    assert only(barrier, "what", "posted", "completed") == (RequestKind.COLLECTIVE_DONE, 20, 55)
    assert [trace.procedures[done["tag"]] for done in (allreduce, barrier)] == ["MPI_Iallreduce", "MPI_Ibarrier"]
    assert [trace.communicators[done["comm"]].members for done in (allreduce, barrier)] == [(1,), (0, 1)]
    assert [row["comm"] for row in rows_of(trace, 1)[1:3]] == [allreduce["comm"], barrier["comm"]] == [1, 0]


def test_the_time_in_looks_at_the_clock_is_the_programs(tmp_path):
    """As long as they last, the replay computes: 10 ns, and 20 + 400 + 30 between the barriers."""
    wtime = CALL_VALUES["MPI_Wtime"]
    calls = *call(1, 10, 20, 8, 50000002), *call(1, 40, 440, wtime, 50000003), *call(1, 470, 480, 8, 50000002)
    trace = read(tmp_path, "1:1:1:1:1:0:10:1", *calls, *call(2, 10, 20, 8, 50000002), *call(2, 470, 480, 8, 50000002))
    barrier, look, _ = rows_of(trace, 0)
    assert only(barrier, "name", "inside") == ("MPI_Barrier", 10)
    assert only(look, "name", "enter", "exit", "inside") == ("MPI_Wtime", 40, 440, 0)
    program = program_of(trace)
    ops = program.ops[program.stream(0)]
    assert int(ops["burst"].sum()) == 10 + 20 + 400 + 30


def test_many_collectives_may_be_under_way(tmp_path):
    lines = [line for k in range(100) for line in call(1, 10 * k, 10 * k + 1, IBARRIER, 50000002, ":50100004:1")]
    lines += [line for k in range(100, 300) for line in call(1, 10 * k, 10 * k + 5, WAIT if k % 2 else IBARRIER)]
    done = requests_of(read(tmp_path, *lines), 0)
    begun = [10 * k for k in (*range(100), *range(100, 300, 2))]
    assert [row["posted"] for row in done] == begun[:100]
    assert [row["completed"] for row in done] == [10 * k + 5 for k in range(101, 300, 2)]


def test_calls_at_one_instant_of_a_coarse_clock(tmp_path):
    """Three Isends without duration take their three messages in order, and a Waitall follows at once."""
    isends = [line for _ in range(3) for line in call(1, 10, 10, 3)]
    trace = read(
        tmp_path,
        *isends,
        *call(1, 10, 15, 6),
        *(message(1, 10, 10, 2, 50, 51, size, size) for size in (1, 2, 3)),
        *call(2, 40, 60, 2),
    )
    found = rows_of(trace, 0)
    assert [only(row, "name", "sent", "tag") for row in found[:3]] == [("MPI_Isend", n, n) for n in (1, 2, 3)]
    assert only(found[3], "name", "exit", "sent") == ("MPI_Waitall", 15, 0)


def test_a_message_at_the_border_of_two_calls_belongs_to_the_later(tmp_path):
    trace = read(tmp_path, *call(1, 0, 10, 1), *call(1, 10, 20, 1), message(1, 10, 10, 2, 50, 51, 80, 9))
    assert [row["sent"] for row in rows_of(trace, 0)] == [0, 80]


def test_calls_without_end_and_ends_without_call(tmp_path):
    trace = read(
        tmp_path,
        "2:1:1:1:1:5:50000001:0",
        "2:1:1:1:1:10:50000001:1",
        *call(1, 20, 30, 8, 50000002, ":50100004:1"),
        "2:1:1:1:1:40:50000001:2",
        "1:1:1:1:1:0:90:1",
    )
    found = [only(row, "name", "enter", "exit") for row in rows_of(trace, 0)]
    assert found == [("MPI_Send", 10, 20), ("MPI_Barrier", 20, 30), ("MPI_Recv", 40, 90)]
    assert trace.problems[-1].text == "3 MPI events have no partner: a call only begins, or only ends"


def test_threads_are_apart(tmp_path):
    head = "#Paraver (20/11/2026 at 15:00):1000_ns:1(2):1:1(2:1),0\n"
    lines = ["2:1:1:1:1:10:50000001:1", "2:1:1:1:2:12:50000001:2", "2:1:1:1:1:14:50000001:0", "2:1:1:1:2:30:50000001:0"]
    trace = read(tmp_path, *lines, "3:1:1:1:1:10:10:1:1:1:2:12:30:5:6", head=head)
    send, receive = rows_of(trace, 0)
    assert only(send, "thread", "exit", "sent") == (0, 14, 5)
    assert only(receive, "thread", "exit", "received") == (1, 30, 5)


def test_procedures_of_our_own_and_of_newer_extrae(tmp_path):
    (tmp_path / "x.pcf").write_text(
        "EVENT_TYPE\n9 50000100 Ours\nVALUES\n7 MPI_Exscan\n\n"
        "EVENT_TYPE\n9 50000003 Other\nVALUES\n211 MPI_Comm_dup_with_info\n"
    )
    trace = read(tmp_path, *call(1, 1, 2, 7, 50000100), *call(1, 3, 4, 211, 50000003), *call(1, 5, 6, 31, 50000003))
    assert [row["name"] for row in rows_of(trace, 0)] == ["MPI_Exscan", "MPI_Comm_dup_with_info", "MPI_Init"]


@pytest.mark.parametrize("window", [1, 7, 1000])
def test_windows_cut_calls_and_requests_by_their_times(tmp_path, window):
    lines = [line for n in range(20) for line in call(2, 10 * n, 10 * n + 4, 4) + call(2, 10 * n + 5, 10 * n + 9, 5)]
    messages = [message(1, 10 * n, 10 * n, 2, 10 * n, 10 * n + 8, n, n) for n in range(20)]
    trace = read(tmp_path, *lines, *messages)
    whole_calls, whole_requests = rows_of(trace, 1), requests_of(trace, 1)
    assert len(whole_calls) == 40
    assert [row["completed"] for row in whole_requests] == [10 * n + 9 for n in range(20)]
    pieces = range(0, 200 + window, window)
    calls = np.concatenate([b for at in pieces for b in trace.calls(1, at, at + window)])
    requests = np.concatenate([b for at in pieces for b in trace.requests(1, at, at + window)])
    assert calls["enter"].tolist() == [row["enter"] for row in whole_calls]
    assert requests["completed"].tolist() == [row["completed"] for row in whole_requests]
