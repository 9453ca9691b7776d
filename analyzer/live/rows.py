"""Threads that a row of the view stands for: one thread, the threads of a rank, or of ranks that behave alike."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from analyzer.errors import TracelibError
from analyzer.timeline import line_groups
from analyzer.trace import Losses, Trace
from analyzer.trace.chosen import Choice
from analyzer.waits.threads import Lanes


class RowGrouping(StrEnum):
    """Kind of the rows of a view."""

    RANKS = "ranks"
    THREADS = "threads"
    GROUPS = "groups"


@dataclass(frozen=True)
class RowSet:
    """Rows, from top to bottom."""

    names: tuple[str, ...]
    lanes: np.ndarray  # int64: of all rows, one row's after the other
    first: np.ndarray  # int64 (rows + 1,): where each row's begin in `lanes`
    rank: np.ndarray  # int64 (rows,): the rank that stands for each
    of_rank: np.ndarray  # int64 (ranks,): the first row that each rank is in; -1: none

    def __len__(self) -> int:
        return len(self.names)

    @property
    def threads(self) -> np.ndarray:
        """Number of threads of each row, int64 (rows,)."""
        return np.diff(self.first)

    def part(self, low: int, high: int) -> RowSet:
        """Return some of the rows, by their numbers."""
        low, high = min(low, len(self)), min(high, len(self))
        first = self.first[low : high + 1]
        lanes = self.lanes[first[0] : first[-1]]
        return RowSet(self.names[low:high], lanes, first - first[0], self.rank[low:high], self.of_rank)

    def summed(self, of_lanes: np.ndarray) -> np.ndarray:
        """Sum up (lanes, ...) to (rows, ...)."""
        if not len(self):
            return of_lanes[:0]
        return np.add.reduceat(of_lanes, self.first[:-1], axis=0)


Sums = tuple[np.ndarray, np.ndarray, np.ndarray]
"""ns that each rank computes, is in MPI, and waits there; int64 (ranks,) each."""


def rows_of(trace: Trace, lanes: Lanes, by: RowGrouping, ranks: str, sums: Sums) -> RowSet:
    """Make the rows of the ranks among `ranks` ("0-63,1000"; "": all) that could be read.

    `sums`: sums by which groups are made. Raises TracelibError if there are no such ranks.
    """
    present = present_ranks(trace, ranks)
    if by == RowGrouping.GROUPS:
        found = line_groups(trace, present, *(of_rank[present] for of_rank in sums))
        line = found.of_rank[lanes.rank]
        return _rows(found.names, [np.flatnonzero(line == k) for k in range(len(found.names))], found.typical, lanes)
    mine = np.flatnonzero(np.isin(lanes.rank, present))
    rank, thread = lanes.rank[mine], lanes.thread[mine]
    if by == RowGrouping.THREADS:
        names = tuple(f"{r}.{t}" for r, t in zip(rank.tolist(), thread.tolist(), strict=True))
        return _rows(names, list(mine[:, None]), rank, lanes)
    heads = np.flatnonzero(thread == 0)
    each = np.split(mine, heads[1:]) if len(heads) else []
    return _rows(tuple(map(str, rank[heads].tolist())), each, rank[heads], lanes)


def present_ranks(trace: Trace, ranks: str) -> np.ndarray:
    """Return the ranks among `ranks` ("0-63,1000"; "": all) that could be read.

    Raises:
        TracelibError: `ranks` is not a list of ranks.
    """
    present = np.setdiff1d(np.arange(trace.size), trace.extra(Losses).missing)
    if not ranks:
        return present
    try:
        wanted = Choice.parse(ranks)
    except ValueError:
        raise TracelibError(f"{ranks!r} is not a list of ranks", "such as 3 or 0-63,1000") from None
    return np.intersect1d(present, wanted.of(trace.size, trace.path))


def _rows(names: tuple[str, ...], each: list[np.ndarray], rank: np.ndarray, lanes: Lanes) -> RowSet:
    every = np.concatenate([np.zeros(0, np.int64), *each])
    count = np.array([len(one) for one in each], np.int64)
    of_rank = np.full(int(lanes.rank.max(initial=-1)) + 1, -1, np.int64)
    of_rank[lanes.rank[every][::-1]] = np.repeat(np.arange(len(each)), count)[::-1]  # of several the first
    return RowSet(names, every, np.append(0, np.cumsum(count)), np.asarray(rank, np.int64), of_rank)
