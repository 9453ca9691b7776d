"""Several views of the same rows cut into pieces: intervals of a row in which none of them changes.

Also a view that is read twice but computed once: first to find columns that fit all of its values, then to fill them.
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
    """Pieces of some rows; the pieces of one row are in order of time."""

    row: np.ndarray  # int64
    length: np.ndarray  # int64, ns
    values: np.ndarray  # float64 (pieces, views)


class ViewPoints(NamedTuple):
    """Values of all views at some times of a window."""

    row: np.ndarray
    time: np.ndarray
    values: np.ndarray  # before: float64 (rows, views)
    before: np.ndarray
    begin: int
    length: int

    def values_at(self, row: np.ndarray, time: np.ndarray) -> np.ndarray:
        """Return the values at each (row, time) of the window, float64 (n, views)."""
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
    """Yield for each window of the run the pieces in [begin, end) ns that end in it, and the values at its times.

    The last window also has the pieces that do not end. joined: neighbours with the same values are one.
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
    """Steps of a view (View or Derived) of one run, kept in a temporary file once all of them have been read."""

    def __init__(self, view: Any) -> None:
        self._view = view
        self._spill: Spill | None = None  # once all steps are in it

    def rows(self, run: ViewRun) -> ViewRows:
        """Return the rows of the view."""
        return self._view.rows(run)  # type: ignore[no-any-return]

    def steps(self, run: ViewRun) -> Iterator[RowSteps]:
        """Yield the steps window by window."""
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
