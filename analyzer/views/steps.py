"""Piecewise constant functions of time as columns of steps, which the parts of a view pass to each other.

Also a store for steps that come in another order than that of time.
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
    """Steps of rows in a window of time, sorted by row and time. Of several steps of a row at one time the last counts.

    A row without a step in the window keeps its value. In the first window of a run each row has a step at time 0.
    """

    row: np.ndarray  # int64
    time: np.ndarray  # int64, ns
    value: np.ndarray  # float64, the value from this time on

    @classmethod
    def from_columns(cls, row: np.ndarray, time: np.ndarray, value: np.ndarray) -> RowSteps:
        """Make steps from columns of any numeric types."""
        return cls(row.astype(np.int64), time.astype(np.int64), value.astype(np.float64))

    def first(self, rows: int) -> np.ndarray:
        """Return the index of the first step of each row, followed by the number of steps.

        The result is int64 of shape (rows + 1,).
        """
        return np.searchsorted(self.row, np.arange(rows + 1)).astype(np.int64)

    def by_row(self) -> RowSteps:
        """Sort the steps by row. The steps of each row must already be in order of time."""
        if not (self.row[1:] < self.row[:-1]).any():
            return self
        order = np.argsort(self.row, kind="stable")
        return RowSteps(self.row[order], self.time[order], self.value[order])

    def in_order(self) -> RowSteps:
        """Sort the steps by row and time. Steps of the same row and time keep their order."""
        found = self.by_row()  # mostly enough, as times are in order
        if not ((found.time[1:] < found.time[:-1]) & (found.row[1:] == found.row[:-1])).any():
            return found
        order = np.lexsort((self.time, self.row))
        return RowSteps(self.row[order], self.time[order], self.value[order])

    def select(self, chosen: np.ndarray) -> RowSteps:
        """Return the steps that a bool mask chooses."""
        return RowSteps(self.row[chosen], self.time[chosen], self.value[chosen])

    def last_of_each_time(self) -> RowSteps:
        """Return the steps without those that a later step at the same row and time replaces."""
        over = np.append((self.row[1:] == self.row[:-1]) & (self.time[1:] == self.time[:-1]), False)[: len(self.row)]
        return self.select(~over) if over.any() else self


def starting(rows: int, steps: RowSteps, value: float = 0.0) -> RowSteps:
    """Prepend to the steps of the first window a step at time 0 with `value`, for each row."""
    every = np.arange(rows)
    return RowSteps(
        np.concatenate([every, steps.row]),
        np.concatenate([np.zeros(rows, np.int64), steps.time]),
        np.concatenate([np.full(rows, value), steps.value]),
    ).by_row()


class StepMerger:
    """Merger of the steps of several views of the same rows, window by window."""

    def __init__(self, views: int, rows: int) -> None:
        self._views, self._rows = views, rows
        self._now = np.zeros((rows, views))

    def feed(self, every: Sequence[RowSteps]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Merge the steps of all views in the next window.

        Args:
            every: Steps of each view.

        Returns:
            Row and time of each step of any view, and the values of all views from then on, float64 of shape (steps,
            views).
        """
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
    """Sorter of steps: it takes steps in any order, and returns them window by window.

    It stores them in a temporary file.
    """

    def __init__(self, bounds: np.ndarray) -> None:
        self._bounds, self._spill = bounds, Spill(_STEP)

    def put(self, row: np.ndarray, time: np.ndarray, value: np.ndarray) -> None:
        """Add steps. Steps of the same row and time keep the order in which they are added."""
        records = np.empty(len(row), _STEP)
        records["row"], records["time"], records["value"] = row, time, value
        self._spill.append_each(window_of(self._bounds, time), records)

    def windows(self) -> Iterator[RowSteps]:
        """Yield the steps of each window, sorted by row and time. The temporary file is removed at the end."""
        for window in range(len(self._bounds) - 1):
            records = self._spill.read(window)
            yield RowSteps.from_columns(records["row"], records["time"], records["value"]).in_order()
        self._spill.close()
