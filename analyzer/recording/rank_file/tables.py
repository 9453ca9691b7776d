"""HDF5 files that stay open, and their tables, whose types are decoded once.

A run has thousands of ranks with a dozen tables each. h5py's own Files and Datasets make a numpy dtype of the stored
type at each use, which takes longer than reading a block. An open file takes half a megabyte and half a millisecond.
So the chunks of a table remember where they lie in the file: reading them needs no HDF5.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache
from typing import Any, Generic, TypeVar

import h5py
import numpy as np
from h5py import h5a, h5d, h5f, h5g, h5i, h5o, h5p, h5s, h5t, h5z

from analyzer.recording.rank_file.chunks import Chunks
from analyzer.trace.read_sizes import DEFAULT_SIZES
from tracelib.schema.sound import is_sound

OPEN_FILES = 128
"""Largest number of files that are open at a time, below the limit on descriptors."""

Opened = TypeVar("Opened")


class KeptOpen(Generic[Opened]):
    """Cache of opened objects by name. If it is full, the object that was used longest ago is dropped.

    A dropped object is closed with its last reference. Python threads share the cache without a lock, because a Trace
    that is deleted closes its files in any thread at any moment, also while h5py holds its own lock. Each step is one
    operation of a dict. In the worst case an object is opened twice, or stays although another thread has dropped it.
    """

    def __init__(self, most: int, opened: Callable[[str], Opened]) -> None:
        """Start with an empty cache.

        Args:
            most: Largest number of objects.
            opened: Function that opens the object with a name.
        """
        self._most, self._opened = most, opened
        self._kept: dict[str, Opened] = {}

    def __len__(self) -> int:
        return len(self._kept)

    def __contains__(self, name: str) -> bool:
        return name in self._kept

    def get(self, name: str, most: int | None = None) -> Opened:
        """Return the object with this name, opened if necessary. It becomes the latest.

        Args:
            name: Name of the object.
            most: New largest number of objects. None: as before.
        """
        if most is not None:
            self._most = most
        found = self._kept.pop(name, None)
        if found is None:
            found = self._opened(name)
        while len(self._kept) >= self._most:
            with suppress(RuntimeError, StopIteration):  # another thread was faster
                self._kept.pop(next(iter(self._kept)), None)
        self._kept[name] = found
        return found

    def drop(self, name: str) -> None:
        """Remove the object with this name, if it is in the cache."""
        self._kept.pop(name, None)


DAMAGED = (OSError, KeyError, RuntimeError, ValueError, TypeError)
"""Exceptions that h5py raises for a damaged file.

ValueError and TypeError are for impossible names, types and values.
"""

UNWRITTEN_BYTES = 1 << 24
"""Largest number of bytes of a table whose rows may never have been written."""

_DEFLATED = (h5z.FILTER_SHUFFLE, h5z.FILTER_DEFLATE)
"""Filters of chunks that can be read without HDF5."""

_dtypes: dict[bytes, np.dtype] = {}


def _dtype(stored: h5t.TypeID) -> np.dtype:
    """Return the numpy dtype of an HDF5 type. Results are cached, since all files have the same few types.

    Raises TypeError if the type is damaged.
    """
    code = stored.encode()
    if code not in _dtypes:
        if not is_sound(stored):
            raise TypeError("a column has a type that cannot be")
        _dtypes[code] = stored.dtype
    return _dtypes[code]


def _filters(layout: h5p.PropDCID, row_bytes: int) -> tuple[int, ...]:
    """Return the filters of chunks in order. -1 stands for a shuffle that is not of whole rows."""
    found = [layout.get_filter(number) for number in range(layout.get_nfilters())]
    return tuple(-1 if code == h5z.FILTER_SHUFFLE and said != (row_bytes,) else code for code, _, said, _ in found)


class Table:
    """Table of an open HDF5 file: a dataset of one dimension."""

    def __init__(self, dataset: h5d.DatasetID) -> None:
        self._dataset, self._type = dataset, dataset.get_type()
        self.shape, self.dtype = dataset.shape, _dtype(self._type)

    def __len__(self) -> int:
        return self.shape[0]

    def rows(
        self, first: int = 0, last: int | None = None, step: int = 1, into: np.ndarray | None = None
    ) -> np.ndarray:
        """Read every step-th row of [first, last).

        Args:
            first: First row.
            last: Behind the last row; None: all.
            step: Distance of rows.
            into: Array for the rows, of the right length; None: a new array.
        """
        stop = len(self) if last is None else min(last, len(self))
        count = max(-(-(stop - first) // step), 0)
        found = np.empty(count, self.dtype) if into is None else into
        if count:
            stored = self._dataset.get_space()
            stored.select_hyperslab((first,), (count,), (step,))
            self._dataset.read(h5s.create_simple((count,)), stored, found, self._type)
        return found

    @property
    def is_deflated(self) -> bool:
        """True if the chunks are shuffled and deflated, and nothing else."""
        return _filters(self._dataset.get_create_plist(), self.dtype.itemsize) == _DEFLATED

    def chunks(self) -> Chunks | None:
        """Return where the rows lie in the file. None: only HDF5 can read them (rows in the header, other filters)."""
        layout, file = self._dataset.get_create_plist(), h5i.get_file_id(self._dataset)
        if not len(self) or file.get_create_plist().get_userblock():
            return None
        file_bytes = file.get_filesize()
        if layout.get_layout() == h5d.CONTIGUOUS:
            offset = self._dataset.get_offset()
            if offset is None or layout.get_external_count() or offset + len(self) * self.dtype.itemsize > file_bytes:
                return None
            return Chunks(self.dtype, len(self), np.array([offset], np.int64))
        filters = _filters(layout, self.dtype.itemsize)
        if layout.get_layout() == h5d.CHUNKED and filters in ((), _DEFLATED) and hasattr(self._dataset, "chunk_iter"):
            return self._chunks(layout.get_chunk()[0], file_bytes, deflated=bool(filters))
        return None

    def _chunks(self, rows: int, file_bytes: int, *, deflated: bool) -> Chunks | None:
        """Return the places of chunks of `rows` rows each.

        None: a chunk is missing, or has other filters than the others.
        """
        at, size = np.full((2, -(-len(self) // rows)), -1, np.int64)

        def note(chunk: h5d.StoreInfo) -> None:
            is_there = chunk.byte_offset + chunk.size <= file_bytes  # in a damaged file it may lie anywhere
            if is_there and chunk.chunk_offset[0] < len(self) and not chunk.filter_mask:
                number = chunk.chunk_offset[0] // rows
                at[number], size[number] = chunk.byte_offset, chunk.size

        self._dataset.chunk_iter(note)
        return Chunks(self.dtype, rows, at, None, size if deflated else None) if (at >= 0).all() else None

    def could_be_in(self, file_bytes: int) -> bool:
        """Return True if a file of this size has room for the rows of this table."""
        row_bytes = len(self) * self.dtype.itemsize
        if could_be_in(file_bytes, row_bytes, packed=False):
            return True
        return self._dataset.get_create_plist().get_nfilters() > 0 and could_be_in(file_bytes, row_bytes)


def could_be_in(file_bytes: int, row_bytes: int, *, packed: bool = True) -> bool:
    """Return True if a file has room for the rows of a table.

    Rows that were never written take no room. Compressed rows take at least 1/1032 of their size. Source: RFC 1951.

    Args:
        file_bytes: Size of the file.
        row_bytes: Size of all rows, uncompressed.
        packed: The rows may be compressed.
    """
    return row_bytes <= file_bytes * (1032 if packed else 1) + UNWRITTEN_BYTES


def whole_number(attributes: Any, name: str) -> int:
    """Return an attribute of a file that must be a whole number.

    Raises:
        KeyError: There is no such attribute.
        TypeError: It is no whole number.
    """
    value = np.asarray(attributes[name])
    if value.shape != () or value.dtype.kind not in "iu":
        raise TypeError(f"attribute {name} is not a whole number")
    return int(value)


def rows_of(group: h5py.Group, name: str, columns: np.dtype) -> np.ndarray:
    """Return all rows of a table after checks.

    Args:
        group: Group of the table.
        name: Name of the table.
        columns: Columns that the table must have.

    Raises:
        KeyError: There is no such table.
        TypeError: It is no table.
        ValueError: It lacks a column of the right kind, or its rows were never written.
    """
    table = group[name]
    if not isinstance(table, h5py.Dataset) or table.shape is None or len(table.shape) != 1:
        raise TypeError(f"{name} is no table")
    if not Table(table.id).could_be_in(table.id.get_storage_size()):
        raise ValueError(f"{name} has {len(table)} rows, which were never written")
    for column in columns.names or ():
        if column not in (table.dtype.names or ()) or not _is_like(table.dtype[column], columns[column]):
            raise ValueError(f"{name} has no column {column}")
    return table[:]


def _is_like(found: np.dtype, wanted: np.dtype) -> bool:
    """Return True if values of one dtype can be used as values of the other."""
    kinds = "iuf" if wanted.kind in "iuf" else "SUO" if wanted.kind in "SUO" else wanted.kind
    return found.kind in kinds and found.shape == wanted.shape


def procedure_names(table: Table) -> tuple[str, ...]:
    """Return the names in a table `procedures`. Usually all ranks have the same, which are then decoded once."""
    rows = table.rows()
    return _names(rows.tobytes(), rows.itemsize) if rows.dtype.kind == "S" else tuple(map(text_of, rows))


@lru_cache(maxsize=8)
def _names(rows: bytes, length: int) -> tuple[str, ...]:
    return tuple(text_of(rows[at : at + length]) for at in range(0, len(rows), length))


@lru_cache(maxsize=1024)
def text_of(value: bytes | str) -> str:
    """Decode a fixed-length string of the file, up to its first zero byte."""
    text = value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
    return text.split("\0", 1)[0]


class OpenGroup:
    """Group of an open HDF5 file. Methods raise an error of DAMAGED if the group is damaged."""

    def __init__(self, file: h5f.FileID, name: str) -> None:
        self._id = h5o.open(file, name.encode())
        if not isinstance(self._id, h5g.GroupID):
            raise TypeError(f"{name} is no group")
        self._tables: dict[str, Table] = {}
        self._names: set[bytes] = set()
        self._id.links.iterate(self._names.add)  # to ask HDF5 for a missing name takes 50 us

    def table(self, name: str) -> Table | None:
        """Return a table, which stays open; None: there is no table of that name."""
        if name not in self._tables:
            if name.encode() not in self._names:
                return None
            try:
                found = h5o.open(self._id, name.encode())
            except KeyError:  # a link that leads nowhere
                return None
            if not isinstance(found, h5d.DatasetID) or len(found.shape) != 1:
                return None
            self._tables[name] = Table(found)
        return self._tables[name]

    def attributes(self) -> dict[str, Any]:
        """Return all attributes by name: numpy scalars and arrays, str for strings of variable length."""
        found: dict[str, Any] = {}
        names: list[bytes] = []
        h5a.iterate(self._id, names.append)  # by its number, each attribute would be searched among all
        for encoded in names:
            attribute = h5a.open(self._id, encoded)
            name, stored = encoded.decode(), attribute.get_type()
            if isinstance(stored, h5t.TypeStringID) and stored.is_variable_str():
                found[name] = h5py.Group(self._id).attrs[name]
                continue
            value = np.empty(attribute.shape, _dtype(stored))
            attribute.read(value, stored)
            found[name] = value[()]
        return found


class OpenFile:
    """Open HDF5 file with its opened groups."""

    def __init__(self, path: str, access: h5p.PropFAID) -> None:
        file = h5f.open(os.fsencode(path), h5f.ACC_RDONLY, access)
        self.groups = KeptOpen(DEFAULT_SIZES.open_groups, lambda name: OpenGroup(file, name))


class OpenFiles(KeptOpen[OpenFile]):
    """Cache of open HDF5 files. A file is closed by dropping it.

    `h5f.FileID.close` would search all open objects of all files.
    """

    def __init__(self) -> None:
        access = h5p.create(h5p.FILE_ACCESS)
        # No lock: the file may be growing, or lie on a file system without locks.
        access.set_file_locking(False, False)
        access.set_cache(0, 521, 0, 0.75)
        super().__init__(OPEN_FILES, lambda path: OpenFile(path, access))

    def group(self, path: str, name: str, most: int = DEFAULT_SIZES.open_groups) -> OpenGroup:
        """Return a group of a file. At most `most` groups of the file stay open."""
        return self.get(path).groups.get(name, most)
