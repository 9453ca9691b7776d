"""Rows of tables read where they lie in a file, without HDF5."""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

OPEN_FILES = 128
"""How many files are kept open at a time: thousands of ranks must not meet the limit on descriptors."""


@dataclass(frozen=True)
class Chunks:
    """A table as it lies in its file: chunk k holds rows [k * rows, (k + 1) * rows), from byte `at[k]` on."""

    dtype: np.dtype
    rows: int
    at: np.ndarray  # int64

    def read(self, file: int, first: int, last: int) -> np.ndarray:
        """Rows [first, last) from an open file. Raises OSError where it is shorter than it was."""
        return self._gathered(file, max(last - first, 0), self._stretches(first, last))

    def sample(self, file: int, first: int, last: int, step: int) -> np.ndarray:
        """Every step-th of these rows."""
        wanted = range(first, last, step)
        return self._gathered(file, len(wanted), (s for row in wanted for s in self._stretches(row, row + 1)))

    def _gathered(self, file: int, count: int, stretches: Iterator[tuple[int, int]]) -> np.ndarray:
        found = np.empty(count, self.dtype)
        into, done = found.view(np.uint8).data, 0
        for begin, size in stretches:
            _read_whole(file, into[done : done + size], begin)
            done += size
        return found

    def _stretches(self, first: int, last: int) -> Iterator[tuple[int, int]]:
        """Byte and size of what lies together."""
        width = self.dtype.itemsize
        begin = size = 0
        while first < last:
            chunk = first // self.rows
            stop = min(last, (chunk + 1) * self.rows)
            at = int(self.at[chunk]) + (first - chunk * self.rows) * width
            if size and begin + size != at:
                yield begin, size
                size = 0
            if not size:
                begin = at
            size += (stop - first) * width
            first = stop
        if size:
            yield begin, size


def _read_whole(file: int, into: memoryview, at: int) -> None:
    while len(into):
        count = os.preadv(file, [into], at)
        if not count:
            raise OSError("it ends before its rows do")
        into, at = into[count:], at + count


class Descriptors:
    """Descriptors of files, the least recently used closed first."""

    def __init__(self) -> None:
        self._open: OrderedDict[Path, int] = OrderedDict()

    def get(self, path: Path) -> int:
        """The descriptor of a file."""
        if path in self._open:
            self._open.move_to_end(path)
        else:
            while len(self._open) >= OPEN_FILES:
                os.close(self._open.popitem(last=False)[1])
            self._open[path] = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        return self._open[path]

    def drop(self, path: Path) -> None:
        """Close a file."""
        if path in self._open:
            os.close(self._open.pop(path))
