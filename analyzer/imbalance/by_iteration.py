"""Computing time and counters of each rank in each iteration."""

from __future__ import annotations

import numpy as np

from analyzer.metrics.sums import Sums, add_up
from analyzer.pairing.parts import Part
from analyzer.parallel import Team
from analyzer.trace import UNKNOWN, Counters, State, Trace


def computing_by_iteration(trace: Trace, team: Team, edges: np.ndarray) -> np.ndarray:
    """Sum the time in state Running of each rank in each iteration, in ns. Collective.

    Args:
        trace: The trace.
        team: The processes that share the work.
        edges: Bounds of the iterations in ns, int64 of shape (ranks, iterations + 1), ascending in each row. Iteration
            k
            of rank r is [edges[r, k], edges[r, k + 1]). A row of -1: the iterations of the rank are not known.

    Returns:
        int64 of shape (ranks, iterations), the threads of a rank added up; 0 where iterations are not known.
    """
    return add_up(trace, team, _Computing(edges))


class _Computing(Sums[np.ndarray]):
    """Sums of intervals in state Running by iteration.

    The edges of all ranks form one ascending array, in which each rank has its own range of numbers. So one search
    finds the iterations of intervals of any ranks.
    """

    def __init__(self, edges: np.ndarray) -> None:
        self._ranks, self._columns = edges.shape
        self._span = int(edges.max(initial=0)) + 2
        self._edges = (edges + 1 + self._span * np.arange(self._ranks)[:, None]).ravel()
        self._known = edges[:, 0] >= 0
        self._sums = np.zeros(self._ranks * self._columns, np.int64)  # the last column of a rank is no iteration
        self._whole = np.zeros(self._ranks * self._columns + 1, np.int64)

    def add(self, part: Part) -> None:
        states = part.states
        rows = states.compress((states["state"] == State.RUNNING) & self._known[states["rank"]])
        rank = rows["rank"].astype(np.int64)
        base = rank * self._span + 1
        first, last = rank * self._columns, (rank + 1) * self._columns - 1
        begin = np.maximum(base + rows["begin"], self._edges[first])
        end = np.minimum(base + np.minimum(rows["end"], self._span - 2), self._edges[last])
        self._share_out(begin.compress(begin < end), end.compress(begin < end))

    def _share_out(self, begin: np.ndarray, end: np.ndarray) -> None:
        """Add intervals that lie between the first and the last edge of one rank."""
        first = np.searchsorted(self._edges, begin, "right") - 1
        last = np.searchsorted(self._edges, end, "left") - 1
        np.add.at(self._sums, first, np.minimum(end, self._edges[first + 1]) - begin)
        several = last > first
        np.add.at(self._sums, last[several], end[several] - self._edges[last[several]])
        np.add.at(self._whole, first[several] + 1, 1)
        np.add.at(self._whole, last[several], -1)

    def total(self, team: Team) -> np.ndarray:
        width = np.diff(self._edges, append=self._edges[-1])
        sums = self._sums + np.cumsum(self._whole[:-1]) * width
        return team.total(sums).reshape(self._ranks, self._columns)[:, :-1]


def counter_by_iteration(trace: Trace, team: Team, edges: np.ndarray, name: str) -> np.ndarray:
    """Sum a counter in computing, for each rank and iteration: int64 of shape (ranks, iterations). Collective.

    A burst counts in the iteration in which it ends.

    Args:
        trace: The trace.
        team: The processes that share the work.
        edges: Bounds of the iterations, as in `computing_by_iteration`.
        name: Name of the counter.

    Raises:
        ValueError: The trace has no such counter.
    """
    column = [counter.name for counter in trace.extra(Counters).known].index(name)
    sums = np.zeros((len(edges), edges.shape[1] - 1), np.int64)
    for rank in trace.share(team):
        if edges[rank, 0] < 0:
            continue
        for block in trace.extra(Counters).counts(rank):
            at = np.searchsorted(edges[rank], block.calls["enter"], "left") - 1
            counted = (block.burst[:, column] != UNKNOWN) & (at >= 0) & (at < sums.shape[1])
            np.add.at(sums[rank], at[counted], block.burst[counted, column])
    return team.total(sums)
