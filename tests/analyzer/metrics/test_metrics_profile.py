"""Counts, times and bytes against numbers found by hand."""

import numpy as np
import pytest
from memory_trace import MemoryTrace

from analyzer.metrics.profile import profile
from analyzer.parallel import Team
from tracelib.schema import RequestKind

IRECV_PAIR = [
    [
        ("MPI_Irecv", 10, 12, {}),
        ("MPI_Irecv", 20, 22, {}),
        ("MPI_Wait", 30, 40, {}),
        ("MPI_Wait", 50, 55, {"received": 100}),
    ],
    [("MPI_Send", 0, 5, {"sent": 100, "peer": 0}), ("MPI_Isend", 6, 7, {"sent": 7, "peer": 0}), ("MPI_Wait", 8, 9, {})],
]
COMPLETED = {0: [(RequestKind.RECV_DONE, 20, 40, 7, 1, 0, 0), (RequestKind.RECV_DONE, 10, 55, 100, 1, 0, 0)]}


def table(p, name):
    """(count, inside_ns, sent, received) of a procedure, each by rank."""
    k = p.procedures.index(name)
    return [a[:, k].tolist() for a in (p.count, p.inside_ns, p.sent, p.received)]


@pytest.mark.parametrize("window", [None, 1, 7, 15, 31])
def test_bytes_of_a_nonblocking_receive_belong_to_the_call_that_posted_it(window):
    p = profile(MemoryTrace(IRECV_PAIR, requests=COMPLETED, window=window), Team())
    assert table(p, "MPI_Irecv") == [[2, 0], [4, 0], [0, 0], [107, 0]]
    assert table(p, "MPI_Wait") == [[2, 1], [15, 1], [0, 0], [0, 0]]
    assert table(p, "MPI_Send") == [[0, 1], [0, 5], [0, 100], [0, 0]]
    assert table(p, "MPI_Isend") == [[0, 1], [0, 1], [0, 7], [0, 0]]
    assert p.mpi_ns().tolist() == [19, 7]
    assert [p.procedures[k] for k in p.by_time()] == ["MPI_Wait", "MPI_Send", "MPI_Irecv", "MPI_Isend"]


def test_persistent_operations_count_at_their_start():
    calls = [[("MPI_Startall", 10, 20, {"sent": 64}), ("MPI_Waitall", 30, 50, {})]]
    requests = {
        0: [
            (RequestKind.SEND_STARTED, 10, 0, 64, 0, 1, 0),
            (RequestKind.RECV_STARTED, 10, 0, 0, 0, 1, 0),
            (RequestKind.SEND_DONE, 10, 50, 64, 0, 1, 0),
            (RequestKind.RECV_DONE, 10, 50, 48, 0, 1, 0),
        ]
    }
    p = profile(MemoryTrace(calls, requests=requests), Team())
    assert table(p, "MPI_Startall") == [[1], [10], [64], [48]]
    assert table(p, "MPI_Waitall") == [[1], [20], [0], [0]]


def test_failing_polls_count_each_and_only_their_time_inside():
    p = profile(MemoryTrace([[("MPI_Testany", 100, 200, {"count": 9, "inside": 30})]]), Team())
    assert table(p, "MPI_Testany") == [[9], [30], [0], [0]]


def test_a_team_gives_the_same_sums_as_one():
    class Pair(Team):
        """The two members one after the other; allgather remembers the first one's value."""

        size, said = 2, ()

        def __init__(self, rank):
            self.rank = rank

        def allgather(self, value):
            Pair.said = [*Pair.said, value] if self.rank else [value]
            return Pair.said

    trace = MemoryTrace(IRECV_PAIR, requests=COMPLETED)
    profile(trace, Pair(0))
    shared, alone = profile(trace, Pair(1)), profile(trace, Team())
    for column in ("count", "inside_ns", "sent", "received"):
        assert np.array_equal(getattr(shared, column), getattr(alone, column))


def test_a_rank_without_calls_has_a_row_of_zeros():
    p = profile(MemoryTrace([[], [("MPI_Send", 1, 2, {"sent": 3, "peer": 0})]]), Team())
    assert table(p, "MPI_Send") == [[0, 1], [0, 1], [0, 3], [0, 0]]
