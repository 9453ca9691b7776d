"""Rows of tables read where they lie in a file, without HDF5."""

from __future__ import annotations

import os
from dataclasses import dataclass

import numpy as np

from analyzer._kernels import ffi, lib


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
