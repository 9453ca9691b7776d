"""Rows in temporary files, appended in any order and read by windows of time in bounded memory.

Each array of rows that is appended is sorted in memory and written to the file; it is then called a *sorted run*. A
window of time consists of the slices of the sorted runs that overlap it, merged. If rows come nearly in order, a window
needs one or two sorted runs. In any order, each row is read once for each window that holds it.
"""

from __future__ import annotations

import os

import numpy as np

from analyzer.errors import TracelibError
from analyzer.temporary_files import unnamed_file

INDEX_STEP = 4096
"""One time is kept in memory for this number of rows of a sorted run, unless a reader asks for another number."""


def sort_rows(rows: np.ndarray, time: str, *objects: str) -> np.ndarray:
    """Sort rows by time, then by the columns `objects`. Rows that are equal in all of them keep their order.

    Args:
        rows: The rows.
        time: Name of the column of the time.
        objects: Names of at most two columns of integers below 2^31.
    """
    times = rows[time]
    if (times[1:] < times[:-1]).any():
        rows = rows[np.argsort(times, kind="stable")]
        times = rows[time]
    if not objects:
        return rows
    key = rows[objects[0]].astype(np.int64)
    for column in objects[1:]:
        key = (key << 32) + rows[column]
    same = times[1:] == times[:-1]
    if not (same & (key[1:] < key[:-1])).any():
        return rows
    tied = np.zeros(len(rows), bool)
    tied[1:] |= same
    tied[:-1] |= same
    rows = rows.copy()
    rows[tied] = rows[tied][np.lexsort((key[tied], times[tied]))]
    return rows


class RowFile:
    """Rows in a temporary file without a name, which vanishes with this process."""

    def __init__(self, dtype: np.dtype) -> None:
        self.dtype = dtype
        self._file = unnamed_file()
        self.rows = 0

    def append(self, rows: np.ndarray) -> int:
        """Write rows at the end, and return the index of the first of them.

        Raises TracelibError if the disk has no room.
        """
        first = self.rows
        view = np.ascontiguousarray(rows).view(np.uint8).data
        offset = first * self.dtype.itemsize
        try:
            while view:
                written = os.pwrite(self._file.fileno(), view, offset)
                view, offset = view[written:], offset + written
        except OSError as error:
            raise TracelibError(
                f"temporary files cannot be written ({error.strerror})", "set TMPDIR to a folder with room"
            ) from error
        self.rows += len(rows)
        return first

    def read(self, first: int, count: int, out: np.ndarray) -> None:
        """Read rows [first, first + count) into the array `out`. Raises TracelibError if the file was cut short."""
        view = out.view(np.uint8).data
        offset = first * self.dtype.itemsize
        while view:
            got = os.preadv(self._file.fileno(), [view], offset)
            if got == 0:
                raise TracelibError("a temporary file was cut short")
            view, offset = view[got:], offset + got

    def close(self) -> None:
        self._file.close()


class _Ends:
    """First and last time of each sorted run."""

    def __init__(self) -> None:
        self._pairs: list[tuple[int, int]] = []
        self._table = np.zeros((0, 2), np.int64)

    def append(self, first: int, last: int) -> None:
        self._pairs.append((first, last))

    def overlapping(self, begin: int, end: int) -> list[int]:
        """Return the numbers of the runs that may have a time in [begin, end), by their first and last times."""
        if len(self._table) != len(self._pairs):
            self._table = np.array(self._pairs, np.int64)
        return np.flatnonzero((self._table[:, 0] < end) & (self._table[:, 1] >= begin)).tolist()


class SortedRuns:
    """Rows of one type, appended in any order, and read by windows of their time."""

    def __init__(self, dtype: np.dtype, time: str, *objects: str, step: int = INDEX_STEP) -> None:
        """Create an empty file of rows.

        Args:
            dtype: Type of the rows.
            time: Name of the column of the time (ns).
            objects: Names of columns that order rows of the same time.
            step: One time is kept in memory for this number of rows of a sorted run.
        """
        self._time, self._objects, self._step = time, objects, step
        self._file = RowFile(dtype)
        self._index: list[np.ndarray] = []  # by run: time of every `step`-th row
        self._place: list[tuple[int, int]] = []  # by run: first row, number of rows
        self._ends = _Ends()

    @property
    def rows(self) -> int:
        return self._file.rows

    def append(self, rows: np.ndarray) -> None:
        """Append rows, in any order, as one sorted run. The array itself is not kept."""
        if not len(rows):
            return
        rows = sort_rows(rows, self._time)
        times = rows[self._time]
        self._index.append(times[:: self._step].copy())
        self._ends.append(int(times[0]), int(times[-1]))
        self._place.append((self._file.append(rows), len(rows)))

    def sample(self) -> np.ndarray:
        """Return the time of every `step`-th row of each sorted run, not sorted."""
        return np.concatenate([np.zeros(0, np.int64), *self._index])

    def _slice(self, run: int, begin: int, end: int) -> tuple[int, int]:
        """Return first row and number of the rows of a sorted run, in whole steps, that may lie in [begin, end)."""
        index = self._index[run]
        first, count = self._place[run]
        low = max(0, int(np.searchsorted(index, begin, "left")) - 1) * self._step
        high = min(count, int(np.searchsorted(index, end, "left")) * self._step)
        return first + low, high - low

    def read(self, begin: int, end: int) -> np.ndarray:
        """Return the rows with begin <= time < end, sorted by time, then by `objects`, then in order of appending."""
        slices = [self._slice(run, begin, end) for run in self._ends.overlapping(begin, end)]
        rows = np.empty(sum(count for _, count in slices), self._file.dtype)
        at = 0
        for first, count in slices:
            self._file.read(first, count, rows[at : at + count])
            at += count
        times = rows[self._time]
        inside = (times >= begin) & (times < end)
        if not inside.all():
            rows = rows[inside]
        return sort_rows(rows, self._time, *self._objects)

    def close(self) -> None:
        self._file.close()


class RankRuns:
    """Rows of several ranks, appended array by array, and read by rank and window of their time.

    `time`: name of the column of the time. `size`: number of ranks.
    """

    def __init__(self, dtype: np.dtype, time: str, size: int) -> None:
        self._time, self._size = time, size
        self._file = RowFile(dtype)
        self._first: list[int] = []
        self._offsets: list[np.ndarray] = []  # by run: first row of each rank, and at the end the number of rows
        self._ends = _Ends()

    def append(self, rows: np.ndarray, ranks: np.ndarray) -> None:
        """Append rows, in any order, with the rank of each row."""
        if not len(rows):
            return
        order = np.argsort(ranks, kind="stable")
        rows = rows[order]
        self._offsets.append(np.searchsorted(ranks[order], np.arange(self._size + 1)))
        self._ends.append(int(rows[self._time].min()), int(rows[self._time].max()))
        self._first.append(self._file.append(rows))

    def read(self, rank: int, begin: int, end: int) -> np.ndarray:
        """Return the rows of a rank with begin <= time < end, sorted by time, then in order of appending."""
        parts = []
        for run in self._ends.overlapping(begin, end):
            first, last = self._offsets[run][rank : rank + 2].tolist()
            rows = np.empty(last - first, self._file.dtype)
            self._file.read(self._first[run] + first, len(rows), rows)
            times = rows[self._time]
            parts.append(rows[(times >= begin) & (times < end)])
        return sort_rows(np.concatenate(parts) if parts else np.zeros(0, self._file.dtype), self._time)

    def close(self) -> None:
        self._file.close()
