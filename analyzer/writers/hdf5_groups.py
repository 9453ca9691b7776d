"""Groups, attributes and tables that HDF5 writes with properties that h5py's own interface does not set.

They store no time of modification, and the attributes of a group are in its header. (rank_groups writes the groups of
ranks without HDF5.)

Also HDF5 files on disks that may be full. If closing a file fails, the library crashes; so it is not told of errors.
"""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, BinaryIO

import h5py
import numpy as np
from h5py import h5a, h5d, h5g, h5p, h5s, h5t, h5z

from analyzer.signal_handling import called_from_c

CODECS = ("gzip", "lzf")
"""Compressions of a table. Every h5py has both: gzip, a part of HDF5, gives the smallest files; lzf is the fastest."""


def new_group(parent: h5py.Group, name: str) -> h5g.GroupID:
    """Make a group, with missing groups of its path. Its attributes are stored in its header, and no time is stored.

    Otherwise a heap of attributes would take as much space as the rows of a small run.
    """
    return h5g.create(parent.id, name.encode(), lcpl=_through_groups(), gcpl=_attributes_in_header())


def set_attribute(of: h5g.GroupID | h5d.DatasetID, name: str, value: np.generic | np.ndarray) -> None:
    """Set an attribute to a number, to bytes of a fixed length, or to an array."""
    stored = np.asarray(value)  # bytes of no length become one zero
    kind = _type(stored.dtype)
    h5a.create(of, name.encode(), kind, _space(stored.shape)).write(stored, kind)


def new_table(
    group: h5g.GroupID,
    name: str,
    rows: int,
    kind: h5t.TypeID | np.dtype,
    chunk: int = 0,
    codec: str = "",
    level: int = 0,
) -> h5d.DatasetID:
    """Make a table with a fixed number of rows. No time is stored, so the same rows give the same bytes.

    Args:
        group: Group of the table.
        name: Name of the table.
        rows: Number of rows.
        kind: Type of a row.
        chunk: Number of rows of a chunk. 0: the table is not compressed.
        codec: Compression of chunks, one of CODECS.
        level: Level of gzip.

    Raises:
        ValueError: There is no such codec.
    """
    stored = _type(kind) if isinstance(kind, np.dtype) else kind
    return h5d.create(group, name.encode(), stored, _space((rows,)), _layout(chunk, codec, level))


def write_rows(table: h5d.DatasetID, rows: np.ndarray, first: int = 0) -> None:
    """Write rows to a table, from row number `first` on. They must have the type of the table."""
    stored = table.get_space()
    stored.select_hyperslab((first,), rows.shape)
    table.write(_space(rows.shape), stored, np.ascontiguousarray(rows), _type(rows.dtype))


@cache
def _through_groups() -> h5p.PropLCID:
    properties = h5p.create(h5p.LINK_CREATE)
    properties.set_create_intermediate_group(True)
    return properties


@cache
def _attributes_in_header() -> h5p.PropGCID:
    properties = h5p.create(h5p.GROUP_CREATE)
    properties.set_attr_phase_change(64, 32)
    properties.set_obj_track_times(False)
    return properties


@lru_cache
def _layout(chunk: int, codec: str, level: int) -> h5p.PropDCID:
    properties = h5p.create(h5p.DATASET_CREATE)
    properties.set_obj_track_times(False)
    if chunk:
        properties.set_chunk((chunk,))
        properties.set_shuffle()
        match codec:
            case "gzip":
                properties.set_deflate(level)
            case "lzf":
                properties.set_filter(h5z.FILTER_LZF, h5z.FLAG_OPTIONAL)
            case _:
                raise ValueError(f"{codec} is none of {CODECS}")
    return properties


@lru_cache
def _type(dtype: np.dtype) -> h5t.TypeID:
    """Return the HDF5 type of numbers, bytes, or records of them.

    Dtypes that compare equal share one type. Metadata that h5py adds to a dtype, such as names of values, is dropped.
    """
    return h5t.py_create(dtype, logical=True)


@lru_cache
def _space(shape: tuple[int, ...]) -> h5s.SpaceID:
    return h5s.create_simple(shape) if shape else h5s.create(h5s.SCALAR)


@contextmanager
def new_hdf5(path: Path) -> Iterator[h5py.File]:
    """Create an HDF5 file and open it for writing, in the oldest format that can hold its contents.

    Raises:
        OSError: The disk is full. It is raised at the latest when the `with` block ends.
    """
    with path.open("x+b", buffering=0) as file:
        kept = _Kept(file)
        try:
            with h5py.File(kept, "w", libver=("earliest", "v110")) as out:
                yield out
        except Exception as error:
            raise kept.error or error from None
        if kept.error:
            raise kept.error


class _Kept(io.RawIOBase):
    """A file that remembers its first error of writing, and pretends that all later writes succeed."""

    def __init__(self, file: BinaryIO) -> None:
        self.error: OSError | None = None
        self._file = file
        self._end = 0  # end of the file if all had been written

    @called_from_c
    def seek(self, at: int, whence: int = os.SEEK_SET) -> int:
        return self._file.seek(self._end if whence == os.SEEK_END else at)

    @called_from_c
    def tell(self) -> int:
        return self._file.tell()

    @called_from_c
    def readinto(self, into: Any) -> int:
        """Read into a buffer. Parts that could not be written read as zeros."""
        count = self._file.readinto(into)  # type: ignore[attr-defined]
        memoryview(into)[count:] = bytes(len(into) - count)
        return len(into)

    @called_from_c
    def write(self, data: Any) -> int:
        begin, at, left = self._file.tell(), 0, memoryview(data).cast("B")
        self._end = max(self._end, begin + len(left))
        try:
            while at < len(left) and not self.error:
                at += self._file.write(left[at:])
        except OSError as error:
            self.error = error
        return len(left)

    @called_from_c
    def truncate(self, size: int | None = None) -> int:
        self._end = self._file.tell() if size is None else size
        try:
            self._file.truncate(self._end)
        except OSError as error:
            self.error = self.error or error
        return self._end

    @called_from_c
    def flush(self) -> None:
        """Do nothing: each write reaches the file at once."""
