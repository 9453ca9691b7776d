"""The processes that share an analysis: one, or all that `mpirun -n N analyze` started."""

from __future__ import annotations

import os
import time
from bisect import bisect_left
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Any, TypeVar

from analyzer.errors import TracelibError

if TYPE_CHECKING:
    import numpy as np

Found = TypeVar("Found")
Piece = TypeVar("Piece")

SHORTEST_PAUSE_S, LONGEST_PAUSE_S = 1e-5, 2e-2
"""Limits of the pause between two checks whether the other members have arrived, in s."""
PAUSE = 1 / 16
"""Length of the next pause as a fraction of the time waited so far. A wait becomes at most this fraction longer."""


class Team:
    """Team of a single process, and the interface of teams of several processes.

    Attributes:
        rank: Number of this process in the team, from 0.
        size: Number of processes of the team.
    """

    rank = 0
    size = 1

    def allgather(self, value: Any) -> list[Any]:
        """Return the values of all members, in order of rank, on all members. Collective."""
        return [value]

    def bcast(self, value: Any) -> Any:
        """Return the value of rank 0, on all members. Collective."""
        return self.allgather(value)[0]

    def gather(self, work: Callable[[], Found]) -> list[Found]:
        """Run `work` on each member, and return the results of all members, on all members. Collective.

        Raises:
            TracelibError: `work` raised it on some members. All members raise the error of the lowest such rank.
        """
        found: Found | TracelibError
        try:
            found = work()
        except TracelibError as error:
            found = error
        every = self.allgather(found)
        for one in every:
            if isinstance(one, TracelibError):
                raise one
        return every

    def total(self, mine: np.ndarray) -> np.ndarray:
        """Sum the arrays of all members, element by element in order of rank; all members get the sum. Collective.

        Each member sums up a part of the elements, so that more members take no longer than fewer.

        Args:
            mine: This member's array; all members have the same shape.
        """
        if self.size == 1:
            return mine
        import numpy as np  # not at the top: --help needs none

        parts = self.alltoall(np.array_split(mine.ravel(), self.size))
        return np.concatenate(self.allgather(sum(parts[1:], parts[0]))).reshape(mine.shape)

    def alltoall(self, values: Sequence[Any]) -> list[Any]:
        """Exchange one value with every member, as MPI_Alltoall.

        Args:
            values: One value for each member, in order of rank.

        Returns:
            The value from each member, in order of rank.
        """
        return [of_member[self.rank] for of_member in self.allgather(values)]

    def exchange(self, rows: np.ndarray, counts: np.ndarray, said: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Exchange rows with every member, as MPI_Alltoallv. It is fast enough to be called thousands of times.

        Args:
            rows: Rows that this member sends, sorted by receiving member.
            counts: Number of rows for each member, int64 of shape (members,).
            said: Numbers that this member sends to all members, int64 of shape (values,).

        Returns:
            The rows that this member receives, in order of the sending member; and the numbers that all members sent,
            int64 of shape (members, values).
        """
        import numpy as np

        parts = np.split(rows, np.cumsum(counts)[:-1])
        found = self.alltoall([(part, said) for part in parts])
        return np.concatenate([part for part, _ in found]), np.stack([told for _, told in found])

    def barrier(self) -> None:
        """Wait until all members have called this method."""

    def abort(self) -> None:
        """End all other members after a fatal error of this member."""

    def share(self, n: int, sizes: Sequence[int] | None = None) -> range:
        """Return the contiguous range of n pieces of work that is this member's. The ranges follow each other by rank.

        Args:
            n: Number of pieces.
            sizes: Cost of each piece, in any unit; the ranges then cost about the same. None: all pieces cost the
                same.
        """
        cuts = [k * n // self.size for k in range(self.size + 1)]
        if sizes is not None and self.size > 1 and any(sizes):
            done = list(accumulate(sizes, initial=0))
            cuts = [_nearest(done, k * done[-1] / self.size) for k in range(self.size)] + [n]
        return range(cuts[self.rank], cuts[self.rank + 1])


def dealt(team: Team, pieces: Sequence[Piece], work: Callable[[Piece], Found]) -> list[Found]:
    """Run `work` on independent pieces, shared among the members, and return all results on all members. Collective.

    Args:
        team: Processes that share the work.
        pieces: The pieces. Member k gets the pieces k, k + size, k + 2 size, and so on.
        work: Function that is called with one piece.

    Returns:
        One result for each piece, in the order of the pieces.

    Raises:
        TracelibError: `work` raised it for at least one piece. All members raise the error of the first such piece.
    """
    mine: list[Found | TracelibError] = []
    for piece in pieces[team.rank :: team.size]:
        try:
            mine.append(work(piece))
        except TracelibError as error:
            mine.append(error)
    parts = team.allgather(mine)
    every = [parts[number % team.size][number // team.size] for number in range(len(pieces))]
    for one in every:
        if isinstance(one, TracelibError):
            raise one
    return every


def _nearest(ascending: Sequence[int], value: float) -> int:
    """Return the index of the number that is nearest to a value. Of two equally near ones it is the first."""
    after = bisect_left(ascending, value)
    return after - 1 if after and value - ascending[after - 1] <= ascending[after] - value else after


class MpiTeam(Team):
    """Team of all processes of MPI_COMM_WORLD."""

    def __init__(self) -> None:
        from mpi4py import MPI

        self._comm = MPI.COMM_WORLD
        self.rank = self._comm.Get_rank()
        self.size = self._comm.Get_size()

    def allgather(self, value: Any) -> list[Any]:
        self.meet()
        return self._comm.allgather(value)

    def bcast(self, value: Any) -> Any:
        self.meet()
        return self._comm.bcast(value)

    def alltoall(self, values: Sequence[Any]) -> list[Any]:
        self.meet()
        return self._comm.alltoall(values)

    def exchange(self, rows: np.ndarray, counts: np.ndarray, said: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        import numpy as np

        told = np.empty((self.size, 1 + len(said)), np.int64)
        told[:, 0], told[:, 1:] = counts, said
        heard = np.empty_like(told)
        self.meet()
        self._comm.Alltoall(told, heard)
        found = np.empty(int(heard[:, 0].sum()), rows.dtype)
        sizes = [(n * rows.itemsize).tolist() for n in (counts, heard[:, 0])]
        self._comm.Alltoallv([rows.view(np.uint8), sizes[0]], [found.view(np.uint8), sizes[1]])
        return found, heard[:, 1:]

    def barrier(self) -> None:
        self.meet()

    def meet(self) -> None:
        """Wait for all members, and sleep meanwhile.

        MPI would poll, and take shared CPUs from the member that is waited for.
        """
        here, since = self._comm.Ibarrier(), time.monotonic()
        while not here.Test():
            waited = time.monotonic() - since
            time.sleep(min(max(PAUSE * waited, SHORTEST_PAUSE_S), LONGEST_PAUSE_S))

    def abort(self) -> None:
        self._comm.Abort(1)


_STARTED_BY_MPI = ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK", "MV2_COMM_WORLD_SIZE")


def team() -> Team:
    """Return an `MpiTeam` under mpirun. Otherwise return a team of one process, and do not import mpi4py."""
    return MpiTeam() if is_started_by_mpi() else Team()


def is_started_by_mpi() -> bool:
    """Return True if an MPI launcher started this process, which the environment variables of the launcher show."""
    return any(name in os.environ for name in _STARTED_BY_MPI)
