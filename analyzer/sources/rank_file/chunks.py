"""Rows of tables read where they lie in a file, without HDF5."""

from __future__ import annotations

import os
from collections import OrderedDict
from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from analyzer._kernels import ffi, lib

OPEN_FILES = 128
"""How many files are kept open at a time: thousands of ranks must not meet the limit on descriptors."""


@dataclass(slots=True)
class Chunks:
    """A table as it lies in its file: chunk k holds rows [k * rows, (k + 1) * rows), from byte `at[k]` on. `ends` are
    its first and last row, where they are known."""

    dtype: np.dtype
    rows: int
    at: np.ndarray  # int64
    ends: np.ndarray | None = None

    @classmethod
    def of(cls, dtype: np.dtype, rows: int, count: int, found: bytes, at: int) -> Chunks:
        """Of a table of `count` rows, as `rank_file_read` found it: places, then the ends."""
        places = -(-count // rows)
        ends = np.frombuffer(found, dtype, 2, at + 8 * places)
        return cls(dtype, rows, np.frombuffer(found, np.int64, places, at), ends)

    def read(
        self, file: Descriptor, first: int, last: int, step: int = 1, into: np.ndarray | None = None
    ) -> np.ndarray:
        """Every step-th of rows [first, last) from an open file, in an array of that length if one is given. Raises
        OSError where the file is shorter than it was."""
        last = min(last, len(self.at) * self.rows)
        found = np.empty(max(-(-(last - first) // step), 0), self.dtype) if into is None else into
        at, to = ffi.cast("int64_t *", ffi.from_buffer(self.at)), ffi.from_buffer(found)
        answer = lib.rank_file_rows(file.number, at, self.rows, self.dtype.itemsize, first, last, step, to)
        if answer < 0:
            raise OSError(ffi.errno, os.strerror(ffi.errno))
        if not answer:
            raise OSError("it ends before its rows do")
        return found


class Descriptor:
    """A file open for reading, closed when nobody holds it any more."""

    __slots__ = ("number",)

    def __init__(self, path: str) -> None:
        self.number = os.open(path, os.O_RDONLY | os.O_CLOEXEC)

    def __del__(self) -> None:
        if hasattr(self, "number"):
            os.close(self.number)


def make_room(kept: OrderedDict, most: int) -> None:
    """Forget the oldest of what is kept, so that with one more it is not more than `most`."""
    while len(kept) >= most:
        with suppress(KeyError):  # another thread has forgotten it
            kept.popitem(last=False)


class Descriptors:
    """Open files, the least recently used closed first; where another thread reads from one, that holds it until
    then."""

    def __init__(self) -> None:
        self._open: OrderedDict[str, Descriptor] = OrderedDict()  # no lock: each step is one of the dict's

    def get(self, path: str) -> Descriptor:
        """An open file."""
        found = self._open.pop(path, None) or Descriptor(path)
        make_room(self._open, OPEN_FILES)
        self._open[path] = found
        return found

    def drop(self, path: str) -> None:
        """Close a file."""
        self._open.pop(path, None)
