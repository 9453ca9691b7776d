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
"""Between two looks at whether the others have come."""
PAUSE = 1 / 16
"""A pause is this part of the time waited so far: so much longer than it must be a wait may last."""


class Team:
    """A single process; also the interface of a team of several."""

    rank = 0
    size = 1

    def allgather(self, value: Any) -> list[Any]:
        """Return each member's value, on all members."""
        return [value]

    def bcast(self, value: Any) -> Any:
        """Rank 0's value, everywhere."""
        return self.allgather(value)[0]

    def gather(self, work: Callable[[], Found]) -> list[Found]:
        """Collect the result of each member's work, on all members.

        If members raise a TracelibError, all raise the error of the first of these.
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
        """Sum up each member's array, in their order, on all members.

        Each member adds up a part, so that more members take no longer than fewer.
        """
        if self.size == 1:
            return mine
        import numpy as np  # not at the top: --help needs none

        parts = self.alltoall(np.array_split(mine.ravel(), self.size))
        return np.concatenate(self.allgather(sum(parts[1:], parts[0]))).reshape(mine.shape)

    def alltoall(self, values: Sequence[Any]) -> list[Any]:
        """Exchange one value with every member, as MPI_Alltoall; `values`: the value for each member."""
        return [of_member[self.rank] for of_member in self.allgather(values)]

    def exchange(self, rows: np.ndarray, counts: np.ndarray, said: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Exchange rows with every member, as `alltoall`, thousands of times.

        `rows`: this member's rows for each, one after the other, `counts` (int64) the number for each. `said` (int64):
        values for all. Returns the rows for this member, in order of the sending member, and everyone's values,
        (members, values).
        """
        import numpy as np

        parts = np.split(rows, np.cumsum(counts)[:-1])
        found = self.alltoall([(part, said) for part in parts])
        return np.concatenate([part for part, _ in found]), np.stack([told for _, told in found])

    def barrier(self) -> None:
        """Wait for all members."""

    def abort(self) -> None:
        """End all other members after a fatal error of this one."""

    def share(self, n: int, sizes: Sequence[int] | None = None) -> range:
        """Return this member's contiguous part of n pieces of work, in order of rank.

        All parts have about the same number of pieces or, if `sizes` are given, about the same size.
        """
        cuts = [k * n // self.size for k in range(self.size + 1)]
        if sizes is not None and self.size > 1 and any(sizes):
            done = list(accumulate(sizes, initial=0))
            cuts = [_nearest(done, k * done[-1] / self.size) for k in range(self.size)] + [n]
        return range(cuts[self.rank], cuts[self.rank + 1])


def dealt(team: Team, pieces: Sequence[Piece], work: Callable[[Piece], Found]) -> list[Found]:
    """Return the results of `work` on independent pieces, in their order, on all members. Collective.

    Each piece is one member's work; pieces are dealt out in turns. If any raise a TracelibError, all members raise the
    error of the first of these pieces.
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
    """Return which of some numbers is nearest to a value; of equal ones the first."""
    after = bisect_left(ascending, value)
    return after - 1 if after and value - ascending[after - 1] <= ascending[after] - value else after


class MpiTeam(Team):
    """Members of MPI_COMM_WORLD."""

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
        """Wait for all members. MPI would poll meanwhile, and take shared CPUs from the member that is waited for."""
        here, since = self._comm.Ibarrier(), time.monotonic()
        while not here.Test():
            waited = time.monotonic() - since
            time.sleep(min(max(PAUSE * waited, SHORTEST_PAUSE_S), LONGEST_PAUSE_S))

    def abort(self) -> None:
        self._comm.Abort(1)


_STARTED_BY_MPI = ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK", "MV2_COMM_WORLD_SIZE")


def team() -> Team:
    """Return an MpiTeam under mpirun, else a team of one (mpi4py is not imported then)."""
    return MpiTeam() if is_started_by_mpi() else Team()


def is_started_by_mpi() -> bool:
    """Return True if a launcher of MPI started this process."""
    return any(name in os.environ for name in _STARTED_BY_MPI)
