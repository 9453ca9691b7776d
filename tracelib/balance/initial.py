"""The share of each rank when a program starts."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

from tracelib.schema.shares import Expectation, Plan, read_plan, split

VARIABLE = "TRACELIB_PLAN"


class Basis(Enum):
    """What shares come from, as tracelib_shares says in C: a plan; nothing, so they are equal; or a plan that is wrong
    or of another number of ranks, so they are equal, too."""

    PLANNED = 0
    EQUAL = 1
    WRONG = -1


@dataclass(frozen=True)
class Share:
    """The items first to last + 1 of one rank, and how many each has. basis: what the shares come from."""

    rank: int
    counts: tuple[int, ...]
    expected: Expectation | None = None
    basis: Basis = Basis.PLANNED

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
    problem, where it is not the number of items. Rank 0 reads the file. If it is wrong, rank 0 says so on stderr, and
    shares are equal (`Basis.WRONG`), as in C: a run goes on. Raises ValueError for a number of items that cannot be
    shared.
    """
    comm = _world() if comm is None else comm
    found = comm.bcast(_speeds(items if size is None else size, comm.size, plan) if comm.rank == 0 else None)
    basis, speeds, expected = found
    return Share(comm.rank, tuple(split(items, speeds)), expected, basis)


def _world() -> Any:
    from mpi4py import MPI

    return MPI.COMM_WORLD


def _speeds(
    size: float, ranks: int, plan: str | os.PathLike[str] | Plan | None
) -> tuple[Basis, list[float], Expectation | None]:
    """What the shares come from, the speed of each rank, and what is expected."""
    plan = os.environ.get(VARIABLE) or None if plan is None else plan
    if plan is None:
        return Basis.EQUAL, [1.0] * ranks, None
    try:
        known = plan if isinstance(plan, Plan) else read_plan(Path(plan).read_text(encoding="utf-8"))
        if known.ranks != ranks:
            raise ValueError(f"it is for {known.ranks} ranks, and there are {ranks}")
    except (OSError, ValueError) as error:
        name = "" if isinstance(plan, Plan) else f" {os.fspath(plan)}"
        print(f"tracelib: the plan{name} cannot be used, so shares are equal: {error}", file=sys.stderr, flush=True)
        return Basis.WRONG, [1.0] * ranks, None
    return Basis.PLANNED, known.speeds_at(size), known.expectation(size)


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
