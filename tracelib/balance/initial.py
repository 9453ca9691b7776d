"""The share of each rank when a program starts."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tracelib.errors import TracelibError
from tracelib.schema.shares import Expectation, Plan, read_plan, split

VARIABLE = "TRACELIB_PLAN"


@dataclass(frozen=True)
class Share:
    """The items first to last + 1 of one rank, and how many each has."""

    rank: int
    counts: tuple[int, ...]
    expected: Expectation | None = None

    @property
    def count(self) -> int:
        return self.counts[self.rank]

    @property
    def first(self) -> int:
        return sum(self.counts[: self.rank])

    @property
    def items(self) -> range:
        """Those of this rank, when ranks have theirs one after the other."""
        return range(self.first, self.first + self.count)


def shares(
    items: int, comm: Any = None, plan: str | os.PathLike[str] | Plan | None = None, size: float | None = None
) -> Share:
    """This rank's share of so many items. Collective over comm (an mpi4py communicator; None: the world).

    plan: a plan or its file; None: the file that TRACELIB_PLAN names, and equal shares without one. size: of the
    problem, where it is not the number of items. Rank 0 reads the file. Raises TracelibError on all ranks where it is
    wrong, and ValueError for a number of items that cannot be shared.
    """
    comm = _world() if comm is None else comm
    found = comm.bcast(_speeds(items if size is None else size, comm.size, plan) if comm.rank == 0 else None)
    if isinstance(found, str):
        raise TracelibError(found, f"{VARIABLE} names a file that analyze balance -o writes")
    speeds, expected = found
    return Share(comm.rank, tuple(split(items, speeds)), expected)


def _world() -> Any:
    from mpi4py import MPI

    return MPI.COMM_WORLD


def _speeds(
    size: float, ranks: int, plan: str | os.PathLike[str] | Plan | None
) -> tuple[list[float], Expectation | None] | str:
    """Of each rank, and what is expected; a text says what is wrong."""
    plan = os.environ.get(VARIABLE) or None if plan is None else plan
    if plan is None:
        return [1.0] * ranks, None
    name = "the plan"
    if not isinstance(plan, Plan):
        name = os.fspath(plan)
        try:
            plan = read_plan(Path(name).read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            return f"the plan {name} cannot be used: {error}"
    if plan.ranks != ranks:
        return f"{name} is for {plan.ranks} ranks, and there are {ranks}"
    return plan.speeds_at(size), plan.expectation(size)


def moves(before: Sequence[int], after: Sequence[int], rank: int) -> tuple[list[int], list[int]]:
    """How many items this rank sends to each rank, and receives from each, when shares change: for Alltoallv."""
    mine, next_ = sum(before[:rank]), sum(after[:rank])
    sent, received = [], []
    was = will = 0
    for had, gets in zip(before, after, strict=True):
        sent.append(max(0, min(mine + before[rank], will + gets) - max(mine, will)))
        received.append(max(0, min(next_ + after[rank], was + had) - max(next_, was)))
        was, will = was + had, will + gets
    return sent, received
