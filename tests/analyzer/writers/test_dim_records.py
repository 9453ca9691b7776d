"""Dimemas records of traces of a few lines, written out by hand from the format."""

from pathlib import Path

import pytest
from dim_lines import without_eager_limit
from memory_trace import MemoryTrace

from analyzer.operations.procedures import GLOBAL, GLOBAL_START, SEND, is_in_dimemas, plan_of
from analyzer.parallel import Team
from analyzer.trace import Communicator
from analyzer.writers.dim import write_dim
from tracelib.schema import Peer, RequestKind

W = {"comm": 0}


def body(trace, folder: Path) -> list[str]:
    """The records of the .dim file without header, communicators and offsets."""
    report = write_dim(trace, folder / "out.dim", Team())
    assert report.size_bytes == (folder / "out.dim").stat().st_size
    lines = without_eager_limit((folder / "out.dim").read_text()).splitlines()
    return [line for line in lines if line[0] not in "#ds"]


def of_rank(rank: int, lines: list[str]) -> list[str]:
    return [line for line in lines if line.split(":")[1] == str(rank)]


def test_a_whole_file(tmp_path):
    calls = [
        [("MPI_Init", 10, 20, {}), ("MPI_Send", 1_000_000_030, 1_000_000_040, {"peer": 1, "tag": 7, "sent": 100, **W})],
        [("MPI_Init", 5, 25, {}), ("MPI_Recv", 26, 50, {"peer": 0, "tag": 7, "received": 100, **W})],
    ]
    write_dim(MemoryTrace(calls, spans=[(2, 1_000_000_050), (0, 60)]), tmp_path / "x.dim", Team())
    text = (tmp_path / "x.dim").read_text()
    head = '#DIMEMAS:"memory.h5":1,{}:2(1,1),1\nd:1:1:2:0:1\n'
    rank0 = "1:0:0:0.000000000\n20:0:0:49000014:1025\n1:0:0:0.000000008\n10:0:0:0:1:0:0:0:0:1\n1:0:0:1.000000010\n"
    rank0 += "2:0:0:1:100:7:1:0\n1:0:0:0.000000010\n"
    rank1 = "1:1:0:0.000000000\n1:1:0:0.000000005\n10:1:0:0:1:0:0:0:0:1\n1:1:0:0.000000001\n"
    rank1 += "3:1:0:0:100:7:1:0\n1:1:0:0.000000010\n"
    head = head.format(len(head) + 1 + len(rank0 + rank1))  # three digits stand for the two of {}
    assert text == head + rank0 + rank1 + f"s:0:{len(head)}\ns:1:{len(head + rank0)}\n"


@pytest.mark.parametrize("window", [None, 1, 13, 40])
def test_a_wildcard_receive_stands_where_it_was_posted_as_it_turned_out(tmp_path, window):
    calls = [
        [
            ("MPI_Irecv", 10, 12, {"peer": Peer.ANY_SOURCE, **W}),
            ("MPI_Irecv", 20, 22, {"peer": Peer.ANY_SOURCE, **W}),
            ("MPI_Waitall", 30, 50, {}),
        ],
        [],
    ]
    requests = {0: [(RequestKind.RECV_DONE, 20, 50, 8, 1, 4, 0), (RequestKind.RECV_DONE, 10, 50, 16, 1, 3, 0)]}
    lines = of_rank(0, body(MemoryTrace(calls, requests=requests, window=window), tmp_path))
    assert lines == [
        "1:0:0:0.000000000",
        "1:0:0:0.000000010",
        "3:0:0:1:16:3:1:1",
        "1:0:0:0.000000008",
        "3:0:0:1:8:4:1:1",
        "1:0:0:0.000000008",
        "3:0:0:1:8:4:1:2",
        "3:0:0:1:16:3:1:2",
    ]


def test_sendrecv_posts_its_receive_first_and_halves_to_nobody_vanish(tmp_path):
    calls = [
        [
            ("MPI_Sendrecv", 0, 10, {"peer": 1, "tag": 1, "sent": 5, "received": 6, **W}),
            ("MPI_Sendrecv", 10, 20, {"peer": Peer.PROC_NULL, "tag": 1, "received": 6, **W}),
            ("MPI_Sendrecv", 20, 30, {"peer": 1, "tag": 1, "sent": 5, **W}),
            ("MPI_Recv", 30, 40, {"peer": Peer.PROC_NULL, **W}),
        ],
        [],
    ]
    requests = {
        0: [
            (RequestKind.RECEIVED, 0, 10, 6, 1, 2, 0),
            (RequestKind.RECEIVED, 10, 20, 6, 1, 2, 0),
            (RequestKind.RECEIVED, 20, 30, 0, Peer.PROC_NULL, -1, 0),
        ]
    }
    assert of_rank(0, body(MemoryTrace(calls, requests=requests), tmp_path)) == [
        "1:0:0:0.000000000",
        *("3:0:0:1:6:2:1:1", "2:0:0:1:5:1:1:0", "3:0:0:1:6:2:1:2"),
        *("3:0:0:1:6:2:1:1", "3:0:0:1:6:2:1:2"),
        "2:0:0:1:5:1:1:0",
    ]


@pytest.mark.parametrize(
    ("name", "sync"),
    [
        *[("Send", 17), ("Ssend", 1), ("Rsend", 1), ("Send_c", 17), ("Bsend", 2), ("Isend", 2), ("Ibsend", 2)],
        *[("Issend", 2), ("Irsend", 3), ("Sendrecv", 0), ("Sendrecv_replace", 0)],
    ],
)
def test_the_flag_of_each_send(name, sync):
    assert plan_of(f"MPI_{name}") == (SEND, sync)  # 16: MPI decides whether it waits


@pytest.mark.parametrize(
    ("name", "operation"),
    [
        *[("Barrier", 0), ("Bcast", 1), ("Gather", 2), ("Gatherv", 3), ("Scatter", 4), ("Scatterv", 5)],
        *[("Allgather", 6), ("Allgatherv", 7), ("Alltoall", 8), ("Alltoallv", 9), ("Reduce", 10), ("Allreduce", 11)],
        *[("Alltoallw", 15), ("Reduce_scatter", 12), ("Reduce_scatter_block", 13), ("Scan", 14), ("Exscan", 14)],
    ],
)
def test_the_identifier_of_each_operation(name, operation):
    assert plan_of(f"MPI_{name}") == (GLOBAL, operation)
    assert plan_of(f"MPI_I{name.lower()}_c") == (GLOBAL_START, operation)


@pytest.mark.parametrize(
    "name", ["Init_x", "Iprobe", "Comm_dup", "Irecv", "Wait", "Put", "Neighbor_alltoall", "Initialized"]
)
def test_other_calls_have_no_record(name):
    assert not is_in_dimemas(f"MPI_{name}")


@pytest.mark.parametrize("window", [None, 5])
def test_a_nonblocking_collective_starts_at_its_call_and_ends_in_its_wait(tmp_path, window):
    calls = [
        [
            ("MPI_Iallreduce", 10, 12, {"sent": 8, "received": 9, **W}),
            ("MPI_Igather", 14, 15, {"sent": 3, "received": 4, "peer": 0, **W}),
            ("MPI_Wait", 20, 30, {}),
            ("MPI_Wait", 30, 31, {}),
        ]
    ]
    requests = {
        0: [(RequestKind.COLLECTIVE_DONE, 14, 30, 0, 0, -1, 0), (RequestKind.COLLECTIVE_DONE, 10, 31, 0, 0, -1, 0)]
    }
    assert body(MemoryTrace(calls, requests=requests, window=window), tmp_path) == [
        "1:0:0:0.000000000",
        "1:0:0:0.000000010",
        "10:0:0:11:1:0:0:8:9:0",
        "1:0:0:0.000000002",
        "10:0:0:2:1:1:0:3:4:0",
        "1:0:0:0.000000005",
        "10:0:0:2:1:1:0:3:4:2",
        "10:0:0:11:1:0:0:8:9:2",
    ]


def test_persistent_requests_stand_at_their_start(tmp_path):
    calls = [[("MPI_Startall", 10, 20, {}), ("MPI_Waitall", 30, 40, {})], []]
    requests = {
        0: [
            (RequestKind.SEND_STARTED, 10, 0, 64, 1, 5, 0),
            (RequestKind.RECV_STARTED, 10, 0, 0, Peer.ANY_SOURCE, -1, 0),
            (RequestKind.SEND_DONE, 10, 40, 64, 1, 5, 0),
            (RequestKind.RECV_DONE, 10, 40, 48, 1, 6, 0),
        ]
    }
    lines = of_rank(0, body(MemoryTrace(calls, requests=requests), tmp_path))
    assert sorted(lines[2:4]) == ["2:0:0:1:64:5:1:2", "3:0:0:1:48:6:1:1"]
    assert lines[4:] == ["1:0:0:0.000000010", "3:0:0:1:48:6:1:2"]


def test_cancelled_and_never_completed_receives_leave_nothing(tmp_path):
    calls = [[("MPI_Irecv", 0, 1, {**W}), ("MPI_Irecv", 1, 2, {**W}), ("MPI_Wait", 2, 3, {})]]
    requests = {0: [(RequestKind.RECV_CANCELLED, 0, 3, 0, -3, -1, 0)]}
    assert body(MemoryTrace(calls, requests=requests), tmp_path) == ["1:0:0:0.000000000"]


FLUSHED = [("MPI_Barrier", 100, 110, W), ("MPI_Barrier", 200, 210, W), ("MPI_Barrier", 300, 310, W)]


def seconds(lines):
    return [round(1e9 * float(line.split(":")[3])) for line in lines if line.startswith("1:")]


@pytest.mark.parametrize("window", [None, 45])
def test_flushes_are_taken_out_of_the_bursts(tmp_path, window):
    """One within the first burst, two in the second, one that fills the third, one after the last call."""
    flushes = [(50, 60), (110, 115), (120, 140), (210, 300), (315, 316)]
    trace = MemoryTrace([FLUSHED], flushes={0: flushes}, spans=[(10, 320)], window=window)
    assert seconds(body(trace, tmp_path)) == [0, 80, 65, 9]


def test_imported_traces_keep_flushes_and_begin_at_zero(tmp_path):
    trace = MemoryTrace([FLUSHED], flushes={0: [(50, 60)]}, spans=[(10, 320)], tracer_times=False)
    assert seconds(body(trace, tmp_path)) == [0, 100, 90, 90, 10]


def test_between_failing_polls_the_program_computes(tmp_path):
    trace = MemoryTrace([[("MPI_Test", 10, 50, {"count": 5, "inside": 15})]], spans=[(0, 60)])
    assert seconds(body(trace, tmp_path)) == [0, 10, 35]


def test_intercommunicators_are_not_defined_and_their_operations_reported(tmp_path):
    comms = (Communicator(1, (0, 1)), Communicator(2, (0,), (1,)), Communicator(3, (1, 0)))
    calls = [
        [("MPI_Barrier", 0, 1, {"comm": 1}), ("MPI_Bcast", 2, 3, {"comm": 2, "peer": 1}), ("MPI_Put", 4, 5, {})],
        [],
    ]
    calls[0].append(("MPI_Win_fence", 5, 6, {}))
    report = write_dim(MemoryTrace(calls, communicators=comms), tmp_path / "x.dim", Team())
    lines = (tmp_path / "x.dim").read_text().splitlines()
    assert lines[1:3] == ["d:1:1:2:0:1", "d:1:3:2:1:0"]
    assert lines[0].endswith(":2(1,1),2")
    assert [line for line in lines if line.startswith("10:")] == ["10:0:0:1:3:0:0:0:0:1"]
    assert report.left_out == {"MPI_Barrier": 1, "MPI_Win_fence": 1, "MPI_Put": 1}


def test_nothing_remains_of_a_file_that_cannot_be_written(tmp_path):
    from analyzer.errors import TracelibError

    with pytest.raises(TracelibError, match="cannot write"):
        write_dim(MemoryTrace([[]]), tmp_path / "absent" / "x.dim", Team())
    assert list(tmp_path.iterdir()) == []
