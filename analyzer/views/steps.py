"""Functions of time that are constant between steps, as columns: all parts of a view hand them to each other.

Also a store for steps whose values are known later than they begin, or that come in another order than that of time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from analyzer._kernels import lib
from analyzer.c_arrays import pointer
from analyzer.columns.spill import Spill
from analyzer.pairing.parts import window_of

MOST_MERGED = int(lib.MERGE_MOST)


class RowSteps(NamedTuple):
    """Steps of some rows in a window of time, by row and time. At one time the last of a row counts.

    A row whose window has no step keeps its value. In the first window of a run each row has a step at time 0.
    """

    row: np.ndarray  # int64
    time: np.ndarray  # int64, ns
    value: np.ndarray  # float64, from that time on

    @classmethod
    def from_columns(cls, row: np.ndarray, time: np.ndarray, value: np.ndarray) -> RowSteps:
        """Make steps from columns of any types of numbers."""
        return cls(row.astype(np.int64), time.astype(np.int64), value.astype(np.float64))

    def first(self, rows: int) -> np.ndarray:
        """Return where the steps of each row begin, and the end: int64 (rows + 1,)."""
        return np.searchsorted(self.row, np.arange(rows + 1)).astype(np.int64)

    def by_row(self) -> RowSteps:
        """Sort steps by row, if the steps of each row are in order already."""
        if not (self.row[1:] < self.row[:-1]).any():
            return self
        order = np.argsort(self.row, kind="stable")
        return RowSteps(self.row[order], self.time[order], self.value[order])

    def in_order(self) -> RowSteps:
        """Sort steps by row and time, from any order. Steps of one row and time keep their order."""
        found = self.by_row()  # mostly that is all: times are in order already
        if not ((found.time[1:] < found.time[:-1]) & (found.row[1:] == found.row[:-1])).any():
            return found
        order = np.lexsort((self.time, self.row))
        return RowSteps(self.row[order], self.time[order], self.value[order])

    def select(self, chosen: np.ndarray) -> RowSteps:
        """Return the steps of a mask."""
        return RowSteps(self.row[chosen], self.time[chosen], self.value[chosen])

    def last_of_each_time(self) -> RowSteps:
        """Return the steps without the ones that last no time."""
        over = np.append((self.row[1:] == self.row[:-1]) & (self.time[1:] == self.time[:-1]), False)[: len(self.row)]
        return self.select(~over) if over.any() else self


def starting(rows: int, steps: RowSteps, value: float = 0.0) -> RowSteps:
    """Return a first window's steps with one at time 0 before all others of each row."""
    every = np.arange(rows)
    return RowSteps(
        np.concatenate([every, steps.row]),
        np.concatenate([np.zeros(rows, np.int64), steps.time]),
        np.concatenate([np.full(rows, value), steps.value]),
    ).by_row()


class StepMerger:
    """Merger of several views of the same rows, window by window."""

    def __init__(self, views: int, rows: int) -> None:
        self._views, self._rows = views, rows
        self._now = np.zeros((rows, views))

    def feed(self, every: Sequence[RowSteps]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return row and time of each step of any view, and the values of all from then on (steps, views)."""
        if len(every) == 1:
            steps = every[0].last_of_each_time()
            return steps.row, steps.time, steps.value[:, None]
        starts = np.cumsum([0, *(len(steps.row) for steps in every)])
        first = np.concatenate([steps.first(self._rows) + start for steps, start in zip(every, starts, strict=False)])
        time, value = (np.concatenate([steps[k] for steps in every]) for k in (1, 2))
        row, at = np.empty((2, len(time)), np.int64)
        values = np.empty((len(time), self._views))
        written = lib.merge_steps(
            self._views, self._rows, pointer(first, "int64_t *"), pointer(time, "int64_t *"),
            pointer(value, "double *"), pointer(self._now, "double *"), pointer(row, "int64_t *"),
            pointer(at, "int64_t *"), pointer(values, "double *"),
        )  # fmt: skip
        return row[:written], at[:written], values[:written]


_STEP = np.dtype([("row", "<i8"), ("time", "<i8"), ("value", "<f8")])


class StepSorter:
    """Takes steps in any order and gives them window by window. They wait in a temporary file."""

    def __init__(self, bounds: np.ndarray) -> None:
        self._bounds, self._spill = bounds, Spill(_STEP)

    def put(self, row: np.ndarray, time: np.ndarray, value: np.ndarray) -> None:
        """Put in steps. Of the steps of one row and time, the first that is put in stays the first."""
        records = np.empty(len(row), _STEP)
        records["row"], records["time"], records["value"] = row, time, value
        self._spill.append_each(window_of(self._bounds, time), records)

    def windows(self) -> Iterator[RowSteps]:
        """Yield the steps of each window in order."""
        for window in range(len(self._bounds) - 1):
            records = self._spill.read(window)
            yield RowSteps.from_columns(records["row"], records["time"], records["value"]).in_order()
        self._spill.close()
