"""Iterations as visits of a region "iteration", so that all analyses of regions can be used for them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import cast

import numpy as np

from analyzer.columns.arrays import joined
from analyzer.columns.sorted_runs import sort_rows
from analyzer.structure.iterations import Iterations
from analyzer.trace import EVENT, MARK, Mark, Regions, Trace
from analyzer.trace.annotated import Annotated
from analyzer.trace.trace import Kind
from tracelib.schema import REGION_TYPE

NAME = "iteration"
"""Name of the region."""


class WithRegion(Annotated):
    """Trace in which each iteration is one visit of the region "iteration", on all threads of a rank.

    Only ranks whose iterations are known have these visits. They nest with the program's regions: a region in which an
    iteration ends belongs to one iteration as a whole.
    """

    def __init__(self, trace: Trace, iterations: Iterations) -> None:
        super().__init__(trace, {}, lambda begin, end: np.zeros(0, EVENT))
        self._regions = _WithIterations.from_trace(trace, iterations)

    def extra(self, kind: type[Kind]) -> Kind:
        return cast(Kind, self._regions) if kind is Regions else super().extra(kind)

    def close(self) -> None:
        self._trace.close()


@dataclass(frozen=True, kw_only=True)
class _WithIterations(Regions):
    """Regions of the program, with the iterations as the last region."""

    own: Regions
    edges: np.ndarray  # as in Iterations
    threads: np.ndarray  # of each rank
    _made: dict[tuple[int, bool], np.ndarray] = field(default_factory=dict)  # of the rank that was asked for last

    @classmethod
    def from_trace(cls, trace: Trace, iterations: Iterations) -> _WithIterations:
        own = trace.extra(Regions)
        return cls(
            names=(*own.names, NAME),
            parameters=own.parameters,
            own=own,
            edges=iterations.edges,
            threads=trace.threads,
        )

    def marks(self, rank: int, begin: int = 0, end: int | None = None) -> np.ndarray:
        return _between(self._all(rank, of_events=False), begin, end)

    def events(self, rank: int, begin: int = 0, end: int | None = None) -> np.ndarray:
        return _between(self._all(rank, of_events=True), begin, end)

    def _all(self, rank: int, *, of_events: bool) -> np.ndarray:
        if (rank, of_events) not in self._made:
            for key in [key for key in self._made if key[0] != rank]:
                del self._made[key]
            self._made[rank, of_events] = self._events(rank) if of_events else self._marks(rank)
        return self._made[rank, of_events]

    def _marks(self, rank: int) -> np.ndarray:
        rows = self.own.marks(rank)
        parts = []
        for thread in range(int(self.threads[rank])):
            mine = rows[rows["thread"] == thread]
            at, times = _visits(mine["time"], _steps(mine["what"], Mark.BEGIN, Mark.END), self.edges[rank])
            added = np.zeros(len(at), MARK)
            added["time"], added["thread"], added["number"] = times, thread, len(self.names)
            added["what"] = np.where(np.arange(len(at)) % 2, Mark.END, Mark.BEGIN)
            parts.append(_with(mine, at, added))
        return joined(parts, MARK)

    def _events(self, rank: int) -> np.ndarray:
        rows = self.own.events(rank)
        parts = []
        for thread in range(int(self.threads[rank])):
            mine = rows[rows["thread"] == thread]
            steps = np.where(mine["type"] == REGION_TYPE, np.where(mine["value"] > 0, 1, -1), 0)
            at, times = _visits(mine["time"], steps, self.edges[rank])
            added = np.zeros(len(at), EVENT)
            added["time"], added["thread"], added["rank"], added["type"] = times, thread, rank, REGION_TYPE
            added["value"] = np.where(np.arange(len(at)) % 2, 0, len(self.names))
            parts.append(_with(mine, at, added))
        rows = joined(parts, EVENT)
        return rows if len(parts) == 1 else sort_rows(rows, "time", "thread")


def _with(rows: np.ndarray, at: np.ndarray, added: np.ndarray) -> np.ndarray:
    """Insert rows before some rows. (np.insert takes 30 us even if there are no rows.)"""
    return np.insert(rows, at, added) if len(rows) else added


def _between(rows: np.ndarray, begin: int, end: int | None) -> np.ndarray:
    inside = rows["time"] >= begin
    return rows[inside if end is None else inside & (rows["time"] < end)]


def _steps(what: np.ndarray, begins: int, ends: int) -> np.ndarray:
    """Compute the change of the number of open visits at each mark."""
    return (what == begins).astype(np.int64) - (what == ends)


def _visits(time: np.ndarray, step: np.ndarray, edges: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Find the marks before which the visits of iterations begin and end.

    Args:
        time: Times of a thread's marks.
        step: 1 if a mark begins a visit, -1 if it ends one, 0 otherwise.
        edges: Edges of the iterations of the rank, ns. -1: not known, there are no visits.

    Returns:
        Indices of marks, and times, int64. Begins and ends alternate.
    """
    nothing = np.zeros(0, np.int64)
    if edges[0] < 0:
        return nothing, nothing
    if not len(time):
        lasts = edges[1:] > edges[:-1]
        times = np.stack([edges[:-1][lasts], edges[1:][lasts]], axis=1).ravel()
        return np.zeros(len(times), np.int64), times
    depth = np.concatenate([[0], np.cumsum(step)])  # before each mark, and behind the last
    begin, end = _nesting(time, step, depth, edges)
    lasts = end > begin
    begin, end = begin[lasts], end[lasts]
    if not len(begin):
        return nothing, nothing
    around = _around(time, depth, begin, end)
    first = _places(time, depth, begin, around, -1)
    last = _places(time, depth, end, around, 0)
    return np.stack([first, last], axis=1).ravel(), np.stack([begin, end], axis=1).ravel()


def _nesting(time: np.ndarray, step: np.ndarray, depth: np.ndarray, edges: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return begins and ends of iterations, moved so that they nest with the visits that the marks describe.

    An edge inside a visit moves to the nearer end of the visit. If an iteration crosses the end of a visit that holds
    several edges, its longer part remains.
    """
    begin, end = edges[:-1].copy(), edges[1:].copy()
    for level in range(int(depth.max())):
        opens = time[(step > 0) & (depth[1:] == level + 1)]
        closes = time[(step < 0) & (depth[1:] == level)]
        held = _held(opens, closes, np.concatenate([begin, end[-1:]]))
        for side in (begin, end):
            inside = np.searchsorted(opens, side, "left") - 1
            within = (inside >= 0) & (side < closes[inside])
            within[within] &= held[inside[within]] < 2
            low, high = opens[inside[within]], closes[inside[within]]
            side[within] = np.where(side[within] - low <= high - side[within], low, high)
        for many in np.flatnonzero(held > 1).tolist():
            for bound in (opens[many], closes[many]):
                crosses = (begin < bound) & (bound < end)
                later = crosses & (end - bound >= bound - begin)
                begin[later], end[crosses & ~later] = bound, bound
    return begin, end


def _held(opens: np.ndarray, closes: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """Count the edges strictly inside each visit."""
    return np.maximum(np.searchsorted(edges, closes, "left") - np.searchsorted(edges, opens, "right"), 0)


def _around(time: np.ndarray, depth: np.ndarray, begin: np.ndarray, end: np.ndarray) -> np.ndarray:
    """Return the number of visits around each iteration: the smallest depth within it."""
    first, behind = np.searchsorted(time, begin, "right"), np.searchsorted(time, end, "left") + 1
    padded = np.append(depth, np.iinfo(np.int64).max)
    return np.minimum.reduceat(padded, np.stack([first, behind], axis=1).ravel())[::2]


def _places(time: np.ndarray, depth: np.ndarray, at: np.ndarray, wanted: np.ndarray, which: int) -> np.ndarray:
    """Find the mark before which to insert: of the marks at a time, the first (0) or last (-1) at the wanted depth."""
    low, high = np.searchsorted(time, at, "left"), np.searchsorted(time, at, "right")
    for one in np.flatnonzero(high > low).tolist():
        fits = np.flatnonzero(depth[low[one] : high[one] + 1] == wanted[one])
        low[one] += int(fits[which]) if len(fits) else 0
    return low
