"""Several views of the same rows, cut into pieces of time in which no view changes its value.

Also a view that is read several times but computed once: first to find columns for all values, then to fill them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from analyzer.columns.spill import Spill
from analyzer.views.lanes import ViewRows
from analyzer.views.run import ViewRun
from analyzer.views.steps import RowSteps
from analyzer.views.view import side_by_side


class RowPieces(NamedTuple):
    """Pieces of time as columns. The pieces of one row are in order of time."""

    row: np.ndarray  # int64
    length: np.ndarray  # int64, ns
    values: np.ndarray  # float64 (pieces, views)


class ViewPoints(NamedTuple):
    """Values of all views at the steps of one window.

    Attributes:
        row, time, values: The steps, with float64 values of shape (steps, views).
        before: Values before the window, float64 of shape (rows, views).
        begin, length: Begin and length of the window in ns.
    """

    row: np.ndarray
    time: np.ndarray
    values: np.ndarray  # float64 (steps, views)
    before: np.ndarray
    begin: int
    length: int

    def values_at(self, row: np.ndarray, time: np.ndarray) -> np.ndarray:
        """Return the values of all views at each (row, time in ns) of the window, float64 of shape (n, views)."""
        key = self.length + 1
        own = self.row * key + (self.time - self.begin)
        found = np.searchsorted(own, row * key + (time - self.begin), side="right") - 1
        inside = found >= 0
        inside[inside] = self.row[found[inside]] == row[inside]
        return (
            np.where(inside[:, None], self.values[np.maximum(found, 0)], self.before[row])
            if len(own)
            else (self.before[row])
        )


def pieces(
    views: Sequence[Any], run: ViewRun, rows: ViewRows, begin: int, end: int, *, joined: bool = True
) -> Iterator[tuple[RowPieces, ViewPoints]]:
    """Yield, for each window of the run, its pieces in [begin, end) ns and the values at its steps.

    A piece comes with the window in which it ends. One more window at the end has the pieces that last until the end of
    the run.

    Args:
        views: Views or Derived.
        run: The run.
        rows: Rows for all views.
        begin: Begin in ns.
        end: End in ns.
        joined: Whether neighbouring pieces of a row with the same values are joined into one.
    """
    count = len(rows)
    now, since, known = np.zeros((count, len(views))), np.zeros(count, np.int64), np.zeros(count, bool)
    for (first, until), (row, time, values) in zip(run.windows, side_by_side(views, run, rows), strict=True):
        before = now.copy()
        points = ViewPoints(row, time, values, before, first, until - first)
        if not len(row):
            yield _clipped(row, time, time, values, begin, end), points
            continue
        starts = np.append(True, row[1:] != row[:-1])
        old = np.concatenate([values[:1], values[:-1]])
        old[starts] = now[row[starts]]
        changed = (values != old).any(axis=1) | (starts & ~known[row]) if joined else np.ones(len(row), bool)
        row, time, values = row[changed], time[changed], values[changed]
        starts = np.append(True, row[1:] != row[:-1])[: len(row)]
        old, open_ = np.concatenate([values[:1], values[:-1]]), np.append(0, time)[:-1]
        old[starts], open_[starts] = now[row[starts]], since[row[starts]]
        ended = ~starts | known[row]
        yield _clipped(row[ended], open_[ended], time[ended], old[ended], begin, end), points
        last = np.append(starts[1:], True)[: len(row)]
        now[row[last]], since[row[last]], known[row[last]] = values[last], time[last], True
    every = np.flatnonzero(known)
    stop = np.full(len(every), run.trace.duration_ns)
    nothing = np.zeros(0, np.int64)
    yield (
        _clipped(every, since[every], stop, now[every], begin, end),
        ViewPoints(nothing, nothing, now[:0], now, int(run.bounds[-1]), 0),
    )


def _clipped(
    row: np.ndarray, since: np.ndarray, until: np.ndarray, values: np.ndarray, begin: int, end: int
) -> RowPieces:
    length = np.minimum(until, end) - np.maximum(since, begin)
    inside = length > 0
    return RowPieces(row[inside], length[inside], values[inside])


_STEP = np.dtype([("time", "<i8"), ("value", "<f8"), ("row", "<i4")])


class CachedView:
    """A view (View or Derived) of one run whose steps are stored in a temporary file when they are first read."""

    def __init__(self, view: Any) -> None:
        self._view = view
        self._spill: Spill | None = None  # set when all steps have been stored

    def rows(self, run: ViewRun) -> ViewRows:
        """Return the rows of the underlying view."""
        return self._view.rows(run)  # type: ignore[no-any-return]

    def steps(self, run: ViewRun) -> Iterator[RowSteps]:
        """Yield the steps window by window; from the file, once they have all been read before."""
        if self._spill is None:
            yield from self._computed(run)
            return
        for window in range(len(run.windows)):
            records = self._spill.read(window)
            yield RowSteps.from_columns(records["row"], records["time"], records["value"])

    def _computed(self, run: ViewRun) -> Iterator[RowSteps]:
        spill = Spill(_STEP)
        for window, steps in enumerate(self._view.steps(run)):
            records = np.empty(len(steps.row), _STEP)
            records["row"], records["time"], records["value"] = steps
            spill.append(window, records)
            yield steps
        self._spill = spill
