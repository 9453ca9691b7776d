"""Message sizes, the communication matrix and collectives by hand."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from memory_trace import MemoryTrace
from synthetic import FIRST, WORLD, call, request, write_run

from analyzer.metrics.collectives import CollectiveTotals, collectives
from analyzer.metrics.messages import messages, size_class
from analyzer.parallel import Team
from analyzer.recording.run.opening import open_run
from analyzer.trace import Communicator
from analyzer.trace.description import ranks_text
from tracelib.schema import RequestKind

ONE = Team()


def test_size_classes_are_the_number_of_binary_digits():
    sizes = np.array([0, 1, 2, 3, 4, 7, 8, 1023, 1024, 2**40 - 1, 2**40])
    assert size_class(sizes).tolist() == [int(s).bit_length() for s in sizes]


@pytest.mark.parametrize("window", [None, 1, 10])
def test_sizes_and_matrix(window):
    rows = [(0, 1, 0, 0, 5, 6), (0, 1, 3, 0, 10, 20), (1, 2, 2, 0, 10, 9), (2, 0, 1024, 0, 90, 99)]
    m = messages(MemoryTrace([[]] * 3, messages=rows, spans=[(0, 100)] * 3, window=window), ONE)
    assert (m.count, m.bytes, m.ranks_a_block, m.backwards) == (4, 1029, 1, 1)
    assert {k: (int(c), int(b)) for k, (c, b) in enumerate(zip(m.size_count, m.size_bytes, strict=True)) if c} == {
        0: (1, 0),
        2: (2, 5),
        11: (1, 1024),
    }
    assert m.matrix_count.tolist() == [[0, 2, 0], [0, 0, 1], [1, 0, 0]]
    assert m.matrix_bytes.tolist() == [[0, 3, 0], [0, 0, 2], [1024, 0, 0]]


def test_many_ranks_share_a_block():
    """33 ranks in blocks of 3 give 11 blocks; a ring stays within a block or goes to the next."""
    rows = [(r, (r + 1) % 33, 10, 0, r, r + 1) for r in range(33)]
    m = messages(MemoryTrace([[]] * 33, messages=rows, spans=[(0, 40)] * 33), ONE)
    assert (m.ranks_a_block, m.matrix_count.shape) == (3, (11, 11))
    assert m.matrix_count.diagonal().tolist() == [2] * 11
    assert [int(m.matrix_count[b, (b + 1) % 11]) for b in range(11)] == [1] * 11
    assert m.matrix_bytes.sum() == 330


def test_no_messages():
    m = messages(MemoryTrace([[]]), ONE)
    assert (m.count, m.bytes, m.matrix_count.tolist()) == (0, 0, [[0]])


def test_thousands_of_communicators_take_the_memory_of_what_is_called():
    """A table of 20000 communicators x 500 procedures would be 80 MB a column."""
    n = 20_000
    calls = [("MPI_Barrier", 10 * k, 10 * k + 5, {"comm": k}) for k in range(n)]
    groups = tuple(Communicator(k + 1, (0,)) for k in range(n))
    trace = MemoryTrace([calls], communicators=groups)
    trace.procedures = (*trace.procedures, *(f"MPI_X{k}" for k in range(500)))
    tracemalloc.start()
    found = collectives(trace, ONE)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found == [CollectiveTotals(k, "MPI_Barrier", 1, 5, 0, 0) for k in range(n)]
    assert peak < 40 << 20


def test_collectives_by_communicator():
    world, pair = Communicator(1, (0, 1, 2)), Communicator(2, (0, 1))
    reduce = {"comm": 0, "sent": 8, "received": 8}
    ireduce = {"comm": 1, "sent": 4}
    calls = [
        [("MPI_Allreduce", 0, 10, reduce), ("MPI_Iallreduce_c", 10, 11, ireduce), ("MPI_Send", 20, 90, {"comm": 0})],
        [("MPI_Allreduce", 5, 10, reduce), ("MPI_Iallreduce_c", 10, 13, ireduce)],
        [("MPI_Allreduce", 9, 10, reduce)],
    ]  # fmt: skip
    assert collectives(MemoryTrace(calls, communicators=(world, pair)), ONE) == [
        CollectiveTotals(0, "MPI_Allreduce", 3, 16, 24, 24),
        CollectiveTotals(1, "MPI_Iallreduce_c", 2, 4, 8, 0),
    ]


def test_started_persistent_collectives(tmp_path):
    """Two starts of an Allreduce alone, one of both operations together, whose bytes and time no call tells apart."""
    ranks = []
    for _ in range(2):
        calls = [
            call("MPI_Allreduce_init", 1, 2, comm=FIRST),
            call("MPI_Start", 10, 13, comm=FIRST, sent=8, received=8),
            call("MPI_Start", 20, 24, comm=FIRST, sent=8, received=8),
            call("MPI_Startall", 30, 35),
            call("MPI_Allreduce", 40, 46, comm=WORLD, sent=4, received=4),
        ]
        rows = [(10, 0, FIRST, 16), (20, 0, FIRST, 16), (30, 0, FIRST, 16), (30, 5, WORLD, 4)]
        requests = [
            request(RequestKind.COLLECTIVE_STARTED, posted, 0, comm=comm, peer=-1, tag=tag, bytes=size)
            for posted, tag, comm, size in rows
        ]
        names = ["MPI_Allreduce_init", "MPI_Start", "MPI_Startall", "MPI_Allreduce", "MPI_X", "MPI_Bcast_init"]
        ranks.append({"calls": calls, "requests": requests, "procedures": names})
    trace = open_run(str(write_run(tmp_path, ranks, [(0, 1)])))
    pair = next(k for k, c in enumerate(trace.communicators) if k and c.members == (0, 1))
    found = [(c.comm, c.procedure, c.calls, c.time_ns, c.sent, c.received) for c in collectives(trace, ONE)]
    assert found == [
        (pair, "MPI_Allreduce_init", 6, 14, 32, 32),
        (0, "MPI_Allreduce", 2, 12, 8, 8),
        (0, "MPI_Bcast_init", 2, 0, 0, 0),
    ]
    trace.close()


def test_ranks_of_communicators_by_hand():
    assert Communicator(3, (0, 2, 4, 6)).label == "communicator 3 of 0-6:2"
    assert Communicator(3, (0, 1), (5,)).ranks == "0-1 and 5"
    assert Communicator(3, (9, 8, 7, 1)).ranks == "9-7:-1,1"
    assert Communicator(3, (0, 5, 6, 20, 40, 41)).ranks == "0,5-6,20,..."
    assert Communicator(3, ()).ranks == "no rank of the run"
    assert Communicator(3, (1, 2), name="halo").label == "halo"


@given(st.lists(st.integers(0, 30), min_size=1, max_size=9, unique=True))
def test_ranks_read_back(ranks):
    text = ranks_text(ranks)
    back = []
    for part in text.removesuffix(",...").split(","):
        bounds, _, step = part.partition(":")
        first, _, last = bounds.partition("-")
        step = int(step or 1)
        back += range(int(first), int(last or first) + (1 if step > 0 else -1), step)
    assert back == ranks if not text.endswith("...") else back == ranks[: len(back)]
