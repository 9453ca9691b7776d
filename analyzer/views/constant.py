"""Bursts of a view. A burst is a longest interval in which the value of a row stays the same."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from analyzer.views.compose import ChangesOnly
from analyzer.views.run import ViewRun


class ViewBursts(NamedTuple):
    """Bursts of a view as columns, of shape (bursts,) each. The bursts of one row are in order of time."""

    row: np.ndarray  # int64: number of the row
    begin: np.ndarray  # int64, ns
    end: np.ndarray  # int64, ns
    value: np.ndarray  # float64
    whole: np.ndarray  # bool: not cut by the window that was asked for

    def select(self, chosen: np.ndarray) -> ViewBursts:
        """Return the bursts that a bool mask or an array of indices chooses."""
        return ViewBursts(*(column[chosen] for column in self))


def bursts(view: Any, run: ViewRun, begin: int = 0, end: int | None = None) -> Iterator[ViewBursts]:
    """Yield the bursts of a view in [begin, end) ns of the run, piece by piece in the order in which they end.

    Args:
        view: A View or a Derived.
        run: The run.
        begin: Begin of the window in ns.
        end: End of the window in ns. None: end of the run.
    """
    last = run.trace.duration_ns if end is None else min(end, run.trace.duration_ns)
    rows = len(view.rows(run))
    changes, since, value = ChangesOnly(rows), np.zeros(rows, np.int64), np.zeros(rows)
    for (first, _), steps in zip(run.windows, view.steps(run), strict=True):
        if first > last:
            break
        some, before = changes.feed(steps)
        if not len(some.row):
            continue
        known = ~np.isnan(before)
        starts = np.append(True, some.row[1:] != some.row[:-1])
        open_ = np.append(0, some.time[:-1])
        open_[starts] = since[some.row[starts]]
        yield _cut(some.row[known], open_[known], some.time[known], before[known], begin, last)
        ends = np.append(starts[1:], True)
        since[some.row[ends]], value[some.row[ends]] = some.time[ends], some.value[ends]
    every = np.flatnonzero(~np.isnan(changes.now))
    stop = last if last == run.trace.duration_ns else last + 1  # values that last until now end later
    yield _cut(every, since[every], np.full(len(every), stop), value[every], begin, last)


def _cut(row: np.ndarray, begin: np.ndarray, end: np.ndarray, value: np.ndarray, first: int, last: int) -> ViewBursts:
    """Cut bursts to [first, last) ns, and drop those outside."""
    inside = (end > first) & (begin < last) & (end > begin)
    if not inside.all():
        row, begin, end, value = row[inside], begin[inside], end[inside], value[inside]
    whole = (begin >= first) & (end <= last)
    return ViewBursts(row, np.maximum(begin, first), np.minimum(end, last), value, whole)


def first_bursts(every: Iterator[ViewBursts], most: int) -> tuple[ViewBursts, int]:
    """Return the `most` earliest bursts, sorted by begin and row, and the number of bursts that were left out."""
    none = np.zeros(0, np.int64)
    kept, seen = ViewBursts(none, none, none, np.zeros(0), np.zeros(0, bool)), 0
    for some in every:
        seen += len(some.row)
        both = ViewBursts(*(np.concatenate(columns) for columns in zip(kept, some, strict=True)))
        kept = both.select(np.lexsort((both.row, both.begin))[:most])
    return kept, seen - len(kept.row)
