"""Reads the rows of tables from where they lie in a file, without HDF5."""

from __future__ import annotations

import os
import zlib
from dataclasses import dataclass

import numpy as np

from analyzer._kernels import ffi, lib

_MOST_ADDED = 1024
"""Largest number of bytes by which deflate makes very few rows longer."""


@dataclass(slots=True)
class Chunks:
    """Table as it lies in its file. Chunk k holds rows [k * rows, (k + 1) * rows), from byte `at[k]` on.

    ends: the first and the last row; None: not known.
    deflated: number of bytes of each chunk, shuffled and deflated by HDF5's filters; None: chunks are not compressed.
    """

    dtype: np.dtype
    rows: int
    at: np.ndarray  # int64
    ends: np.ndarray | None = None
    deflated: np.ndarray | None = None  # int64

    @classmethod
    def of(cls, dtype: np.dtype, rows: int, count: int, found: bytes, at: int, *, deflated: bool) -> Chunks:
        """Make the chunks of a table from the result of the kernel's `rank_file_read`.

        Args:
            dtype: dtype of the rows.
            rows: Number of rows of a chunk.
            count: Number of rows of the table.
            found: Bytes of the kernel's result.
            at: Offset in `found` of the places of the chunks. The first and last row follow, or the sizes of the
                chunks.
            deflated: The chunks are compressed.
        """
        places = -(-count // rows)
        own, behind = np.frombuffer(found, np.int64, places, at), at + 8 * places
        if deflated:
            return cls(dtype, rows, own, None, np.frombuffer(found, np.int64, places, behind))
        return cls(dtype, rows, own, np.frombuffer(found, dtype, 2, behind))

    def read(
        self, file: Descriptor, first: int, last: int, step: int = 1, into: np.ndarray | None = None
    ) -> np.ndarray:
        """Read every step-th row of [first, last) from an open file.

        Args:
            file: The open file.
            first: First row.
            last: Behind the last row.
            step: Distance of rows.
            into: Array for the rows, of the right length; None: a new array.

        Raises:
            OSError: The file is shorter than it was, or damaged.
        """
        last = min(last, len(self.at) * self.rows)
        found = np.empty(max(-(-(last - first) // step), 0), self.dtype) if into is None else into
        if self.deflated is not None:
            return self._inflate(file, first, last, step, found)
        at, to = ffi.cast("int64_t *", ffi.from_buffer(self.at)), ffi.from_buffer(found)
        answer = lib.rank_file_rows(file.number, at, self.rows, self.dtype.itemsize, first, last, step, to)
        if answer < 0:
            raise OSError(ffi.errno, os.strerror(ffi.errno))
        if not answer:
            raise OSError("it ends before its rows do")
        return found

    def _inflate(self, file: Descriptor, first: int, last: int, step: int, found: np.ndarray) -> np.ndarray:
        """Read rows as `read`, from deflated chunks."""
        at = 0
        while first < last:
            number, skipped = divmod(first, self.rows)
            columns = self._inflated(file, number)[:, skipped : skipped + last - first : step]
            some = np.ascontiguousarray(columns.T).view(self.dtype)[:, 0]
            found[at : at + len(some)] = some
            at, first = at + len(some), first + len(some) * step
        return found

    def _inflated(self, file: Descriptor, number: int) -> np.ndarray:
        """Return the decompressed bytes of a chunk, still shuffled: uint8 of shape (bytes of a row, rows)."""
        assert self.deflated is not None
        size = min(int(self.deflated[number]), 2 * self.rows * self.dtype.itemsize + _MOST_ADDED)
        return _inflated(os.pread(file.number, size, int(self.at[number])), self.rows, self.dtype.itemsize)


def unshuffled(chunk: bytes, rows: int, dtype: np.dtype) -> np.ndarray:
    """Return the rows of a chunk that HDF5's filters have shuffled and deflated. Raises OSError if it is damaged."""
    return np.ascontiguousarray(_inflated(chunk, rows, dtype.itemsize).T).view(dtype)[:, 0]


def _inflated(chunk: bytes, rows: int, row_bytes: int) -> np.ndarray:
    whole = rows * row_bytes
    inflater = zlib.decompressobj()
    try:  # with room for one more byte, zlib also reads the checksum
        columns = inflater.decompress(chunk, whole + 1)
    except zlib.error as error:
        raise OSError(str(error)) from error
    if len(columns) != whole or not inflater.eof:
        raise OSError("a chunk ends before its rows do, or behind them")
    return np.frombuffer(columns, np.uint8).reshape(row_bytes, rows)


class Descriptor:
    """File that is open for reading. It is closed with its last reference."""

    __slots__ = ("number",)

    def __init__(self, path: str) -> None:
        self.number = os.open(path, os.O_RDONLY | os.O_CLOEXEC)

    def __del__(self) -> None:
        if hasattr(self, "number"):
            os.close(self.number)
