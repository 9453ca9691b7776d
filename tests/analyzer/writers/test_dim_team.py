"""Any number of processes gives the numbers and bytes of one; here the processes are threads that exchange values."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import numpy as np
import pytest
from memory_trace import MemoryTrace
from patience import patient

from analyzer.errors import TracelibError
from analyzer.metrics.checks import findings
from analyzer.metrics.collectives import collectives
from analyzer.metrics.messages import messages
from analyzer.metrics.overhead import flushes
from analyzer.metrics.profile import profile
from analyzer.metrics.useful import bursts, useful
from analyzer.parallel import Team
from analyzer.writers.dim import write_dim


class ThreadTeam(Team):
    """A member of a team of threads."""

    def __init__(self, rank, values, barrier):
        self.rank, self.size, self._values, self._barrier = rank, len(values), values, barrier

    def allgather(self, value):
        self._values[self.rank] = value
        self._barrier.wait(timeout=patient(30))
        everything = list(self._values)
        self._barrier.wait(timeout=patient(30))
        return everything


def together(size, work):
    """The results of work(team) of each member."""
    values, barrier = [None] * size, Barrier(size)
    with ThreadPoolExecutor(size) as pool:
        return list(pool.map(lambda rank: work(ThreadTeam(rank, values, barrier)), range(size)))


@pytest.fixture
def trace():
    """Five ranks in a ring that compute 10, 20, ... ns, meet in a barrier, and sometimes flush."""
    calls, sent = [], []
    for rank in range(5):
        begin = 10 * (rank + 1)
        calls.append(
            [
                ("MPI_Send", begin, begin + 5, {"peer": (rank + 1) % 5, "tag": 1, "sent": rank, "comm": 0}),
                ("MPI_Barrier", begin + 8, 100, {"comm": 0}),
                ("MPI_Put", 120, 130, {}),
            ]
        )
        sent.append((rank, (rank + 1) % 5, rank, 1, begin, 90 - 80 * (rank == 3)))
    lost = {1: [(101, 105)], 4: [(101, 103), (104, 105)]}
    return MemoryTrace(calls, messages=sorted(sent, key=lambda m: m[4]), flushes=lost, window=17)


def same(one, other):
    """Equality of dataclasses that hold arrays."""
    if hasattr(one, "__dict__"):
        return all(np.array_equal(value, vars(other)[name]) for name, value in vars(one).items())
    return one == other


@pytest.mark.parametrize("size", [2, 3, 7])
@pytest.mark.parametrize("metric", [profile, useful, flushes, bursts, messages, collectives, findings])
def test_metrics(metric, size, trace):
    alone = metric(trace, Team())
    assert all(same(alone, shared) for shared in together(size, lambda team: metric(trace, team)))


@pytest.mark.parametrize("size", [2, 3, 7])
def test_dim(size, trace, tmp_path):
    report = write_dim(trace, tmp_path / "alone.dim", Team())
    shared = together(size, lambda team: write_dim(trace, tmp_path / "shared.dim", team))
    assert (tmp_path / "shared.dim").read_bytes() == (tmp_path / "alone.dim").read_bytes()
    assert [r.left_out for r in shared] == [report.left_out] * size == [{"MPI_Put": 5}] * size
    assert sorted(p.name for p in tmp_path.iterdir()) == ["alone.dim", "shared.dim"]


def test_a_failure_of_one_is_the_failure_of_all(trace, tmp_path):
    def write(team):
        folder = tmp_path / "absent" if team.rank == 1 else tmp_path
        with pytest.raises(TracelibError, match="cannot write"):
            write_dim(trace, folder / "x.dim", team)

    together(3, write)
    assert list(tmp_path.iterdir()) == []
