"""Rows of the live view. A row stands for a thread, for a rank, or for a group of ranks that behave alike."""

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
    """The thing that a row of the live view stands for: a rank, a thread, or a group of ranks that behave alike."""

    RANKS = "ranks"
    THREADS = "threads"
    GROUPS = "groups"


@dataclass(frozen=True)
class RowSet:
    """The rows of a live view from top to bottom, and the lanes (threads) of each row.

    Attributes:
        names: Label of each row.
        lanes: Lanes of all rows, row after row.
        first: Index in `lanes` where each row begins, of shape (rows + 1,).
        rank: The rank that represents each row.
        of_rank: The first row that contains each rank; -1: none.
    """

    names: tuple[str, ...]
    lanes: np.ndarray  # int64 (lanes of all rows,)
    first: np.ndarray  # int64 (rows + 1,): index in `lanes`
    rank: np.ndarray  # int64 (rows,): the rank that represents the row
    of_rank: np.ndarray  # int64 (ranks,): the first row with this rank; -1: none

    def __len__(self) -> int:
        return len(self.names)

    @property
    def threads(self) -> np.ndarray:
        """Number of threads of each row, int64 of shape (rows,)."""
        return np.diff(self.first)

    def part(self, low: int, high: int) -> RowSet:
        """Return rows low to high - 1 as a set of rows of its own."""
        low, high = min(low, len(self)), min(high, len(self))
        first = self.first[low : high + 1]
        lanes = self.lanes[first[0] : first[-1]]
        return RowSet(self.names[low:high], lanes, first - first[0], self.rank[low:high], self.of_rank)

    def summed(self, of_lanes: np.ndarray) -> np.ndarray:
        """Sum up values of lanes, of shape (lanes, ...), to values of rows, of shape (rows, ...)."""
        if not len(self):
            return of_lanes[:0]
        return np.add.reduceat(of_lanes, self.first[:-1], axis=0)


Sums = tuple[np.ndarray, np.ndarray, np.ndarray]
"""Times in ns that each rank computes, is in MPI (waiting included), and waits; int64 of shape (ranks,) each."""


def rows_of(trace: Trace, lanes: Lanes, by: RowGrouping, ranks: str, sums: Sums) -> RowSet:
    """Build the rows for some ranks of a trace. Ranks whose data could not be read are left out.

    Args:
        trace: The trace.
        lanes: All lanes of the trace.
        by: What a row stands for.
        ranks: The ranks, such as "0-63,1000". "": all ranks.
        sums: Times of each rank, by which ranks are grouped.

    Raises:
        TracelibError: `ranks` is not a list of ranks.
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
    """Return the ranks of the list `ranks` ("0-63,1000"; "": all ranks) whose data could be read.

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
