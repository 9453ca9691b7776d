"""The share of each rank when a program starts."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

from tracelib.schema.shares import Expectation, SharePlan, read_plan, split

VARIABLE = "TRACELIB_PLAN"
"""Environment variable with the path of the plan."""


class ShareOrigin(Enum):
    """Origin of shares, as tracelib_shares returns it in C.

    PLANNED: a plan. EQUAL: there is no plan. WRONG: the plan is wrong or for another number of ranks, and shares are
    equal.
    """

    PLANNED = 0
    EQUAL = 1
    WRONG = -1


@dataclass(frozen=True)
class Share:
    """Items of one rank, and the number of items of every rank.

    Attributes:
        rank: This rank.
        counts: Number of items of each rank.
        expected: Times that the plan expects. None: there is no plan, or it expects none.
        basis: Origin of the shares.
    """

    rank: int
    counts: tuple[int, ...]
    expected: Expectation | None = None
    basis: ShareOrigin = ShareOrigin.PLANNED

    @property
    def count(self) -> int:
        """Number of items of this rank."""
        return self.counts[self.rank]

    @property
    def first(self) -> int:
        """First item of this rank, where items are dealt in order of rank."""
        return sum(self.counts[: self.rank])

    @property
    def items(self) -> range:
        """Items of this rank, where items are dealt in order of rank."""
        return range(self.first, self.first + self.count)


def shares(
    items: int, comm: Any = None, plan: str | os.PathLike[str] | SharePlan | None = None, size: float | None = None
) -> Share:
    """Compute the shares of all ranks. Collective over comm.

    Rank 0 reads the plan. If the plan is wrong, rank 0 reports it on stderr, and shares are equal
    (`ShareOrigin.WRONG`), as
    in C: the run goes on.

    Args:
        items: Number of items that all ranks share.
        comm: An mpi4py communicator. None: MPI_COMM_WORLD.
        plan: A plan, or the path of its file. None: the file that TRACELIB_PLAN names; without it, shares are equal.
        size: Size of the problem. None: the number of items.

    Raises:
        ValueError: The number of items cannot be shared.
    """
    comm = _world() if comm is None else comm
    found = comm.bcast(_speeds(items if size is None else size, comm.size, plan) if comm.rank == 0 else None)
    basis, speeds, expected = found
    return Share(comm.rank, tuple(split(items, speeds)), expected, basis)


def _world() -> Any:
    from mpi4py import MPI

    return MPI.COMM_WORLD


def _speeds(
    size: float, ranks: int, plan: str | os.PathLike[str] | SharePlan | None
) -> tuple[ShareOrigin, list[float], Expectation | None]:
    """Return the origin of the shares, the speed of each rank, and the plan's expectation (None: there is none)."""
    plan = os.environ.get(VARIABLE) or None if plan is None else plan
    if plan is None:
        return ShareOrigin.EQUAL, [1.0] * ranks, None
    try:
        known = plan if isinstance(plan, SharePlan) else read_plan(Path(plan).read_text(encoding="utf-8"))
        if known.ranks != ranks:
            raise ValueError(f"it is for {known.ranks} ranks, and there are {ranks}")
    except (OSError, ValueError) as error:
        name = "" if isinstance(plan, SharePlan) else f" {os.fspath(plan)}"
        print(f"tracelib: the plan{name} cannot be used, so shares are equal: {error}", file=sys.stderr, flush=True)
        return ShareOrigin.WRONG, [1.0] * ranks, None
    return ShareOrigin.PLANNED, known.speeds_at(size), known.expectation(size)


def moves(before: Sequence[int], after: Sequence[int], rank: int) -> tuple[list[int], list[int]]:
    """Count the items that this rank sends to and receives from each rank when shares change, as for MPI_Alltoallv.

    Args:
        before: Number of items of each rank so far.
        after: Number of items of each rank from now on.
        rank: This rank.

    Returns:
        Number of items to send to each rank, and to receive from each rank.
    """
    mine, next_ = sum(before[:rank]), sum(after[:rank])
    sent, received = [], []
    was = will = 0
    for had, gets in zip(before, after, strict=True):
        sent.append(max(0, min(mine + before[rank], will + gets) - max(mine, will)))
        received.append(max(0, min(next_ + after[rank], was + had) - max(next_, was)))
        was, will = was + had, will + gets
    return sent, received
