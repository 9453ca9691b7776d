"""Message sizes, the communication matrix and collectives by hand."""

import tracemalloc

import numpy as np
import pytest
from memory_trace import MemoryTrace

from analyzer.metrics.collectives import Collective, collectives
from analyzer.metrics.messages import messages, size_class
from analyzer.parallel import Team
from analyzer.trace import Communicator

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
    assert found == [Collective(k, "MPI_Barrier", 1, 5, 0, 0) for k in range(n)]
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
        Collective(0, "MPI_Allreduce", 3, 16, 24, 24),
        Collective(1, "MPI_Iallreduce_c", 2, 4, 8, 0),
    ]
