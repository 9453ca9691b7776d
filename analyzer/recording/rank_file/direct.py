"""Reader of rank files without HDF5: for files as the tracer writes them, and groups of ranks in packed runs.

A run has thousands of files, and HDF5 needs milliseconds for each. The kernel `rank_file_read` finds attributes and
tables. It gives up if a file is not as expected: damaged, cut off, or written by another library. HDF5 then reads or
refuses the file.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Lock
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
from h5py import h5t

from analyzer._kernels import ffi, lib
from analyzer.c_arrays import pointer
from analyzer.recording.rank_file.chunks import Chunks, unshuffled
from analyzer.recording.rank_file.tables import Table, procedure_names
from tracelib import schema
from tracelib.schema.sound import is_sound

Key = TypeVar("Key")
Value = TypeVar("Value")

PROCEDURES = "procedures"
_WHOLE = (*schema.DIRECT, PROCEDURES)
_TABLES = (*_WHOLE, *schema.BUFFERED, *schema.SOURCES)
_NO_ROWS = dict.fromkeys(schema.TABLES, 0)
_FOUND = np.dtype([(name, "<i8") for name in ("rows", "chunk_rows", "at", "bytes", "filtered")])
"""Place of a table: `struct found_table` of the kernel."""

_MOST_ROOM = 1 << 28
"""Largest number of bytes of the small tables and of the places of chunks. Larger files are read by HDF5."""
_LEAST_GROUP_BYTES = 40
"""Smallest number of bytes that a file has for each group: the group's entry in its parent."""
_MOST_REMEMBERED = 256
_ALIGNED = 8
"""Tables begin at multiples of this number of bytes."""
_ENCODED = b"\x03\x00"
"""Bytes that HDF5 puts before a datatype message when it encodes a type alone."""


@dataclass(frozen=True, eq=False)
class Shape:
    """Layout of a rank file: its attributes, tables and types. The files of a run usually have the same."""

    values: np.dtype  # one column for each attribute
    arrays: tuple[str, ...]  # names of attributes that are arrays
    dtypes: dict[str, np.dtype]  # by name, for tables that exist
    stored: dict[str, bytes]  # datatype and filters of each table, as encoded in the file
    filtered: frozenset[str]  # tables that have filters
    deflated: frozenset[str] = frozenset()  # tables whose chunks are shuffled and deflated

    @classmethod
    def of(cls, text: bytes) -> Shape | None:
        """Decode the kernel's text. None: it has types that numpy does not have."""
        values: list[tuple[Any, ...]] = []
        arrays, dtypes, stored, filtered = [], {}, {}, set()
        for kind, name, encoded, rest in _items(text):
            dtype = _dtype_of(encoded)
            if dtype is None:
                return None
            if kind == "T":
                dtypes[name], stored[name] = dtype, encoded + rest
                filtered.update([name] if rest else [])
            elif rest:
                arrays.append(name)
                values.append((name, dtype, (int.from_bytes(rest, "little"),)))
            else:
                values.append((name, dtype))
        if len({name for name, *_ in values}) < len(values):
            return None
        return cls(np.dtype(values), tuple(arrays), dtypes, stored, frozenset(filtered))


class Direct(NamedTuple):
    """Attributes and small tables of a rank file, and the places of its large tables, as they stand in the file."""

    attributes: dict[str, Any]
    procedures: tuple[str, ...] | None  # None: the names that all ranks of a packed run share
    shape: Shape
    lengths: dict[str, int]
    rows: dict[str, np.ndarray]  # small tables (`schema.DIRECT`) that have rows
    chunks: dict[str, Chunks]  # large tables that can be read without HDF5
    modified_ns: int


ROOT = 0
"""Value that stands for the root group instead of a group's address."""


def read_direct(path: str, group: int, by_hdf5: Callable[[str], Table | None]) -> Direct | None:
    """Read attributes and small tables of a rank file, or of a group in a file.

    Args:
        path: The file.
        group: Address of the group's object header; ROOT: the whole file.
        by_hdf5: Function that opens a table by HDF5. Compressed names of procedures are read in this way, once for all
            files that store the same names.

    Returns:
        The small parts; None: HDF5 must read the file.
    """
    return _reader.read(path, group, by_hdf5)


def groups_of_ranks(path: str) -> list[int]:
    """Return the addresses of the groups of a packed run's ranks, by rank.

    0: the address is not known. Empty list: only HDF5 can find the groups.
    """
    place = os.fsencode(path)
    count = lib.rank_groups(place, ffi.NULL, 0)
    if count <= 0 or count > Path(path).stat().st_size // _LEAST_GROUP_BYTES:
        return []
    found = np.zeros(count, np.int64)
    lib.rank_groups(place, ffi.cast("int64_t *", ffi.from_buffer(found)), count)
    return found.tolist()


def _items(text: bytes) -> Iterator[tuple[str, str, bytes, bytes]]:
    """Yield kind, name, encoded type, and the rest of each item of a shape; see the kernel's header."""
    at = 0
    while at < len(text):
        kind, parts = chr(text[at]), []
        at += 1
        for _ in range(3):
            begin = at + 2
            at = begin + int.from_bytes(text[at:begin], "little")
            parts.append(text[begin:at])
        yield kind, parts[0].decode("latin-1"), parts[1], parts[2]


def _dtype_of(encoded: bytes) -> np.dtype | None:
    """Return the dtype of an HDF5 datatype message. None: it has no fixed size, or is damaged."""
    try:
        stored = h5t.decode(_ENCODED + encoded)
        if not is_sound(stored):
            return None
        dtype = stored.dtype
    except (OSError, KeyError, RuntimeError, TypeError, ValueError):
        return None
    whole = dtype.itemsize == int.from_bytes(encoded[4:8], "little")
    return dtype if whole and not dtype.hasobject and dtype.itemsize else None


class _Reader:
    """Reader with the kernel's buffers, which grow as needed, and with the shapes and names that were found so far."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._names = [ffi.new("char[]", name.encode()) for name in _TABLES]
        self._name_list = ffi.new("char *[]", self._names)
        self._tables = np.zeros(len(_TABLES), _FOUND)
        self._file = ffi.new("struct rank_file *")
        self._file.tables = pointer(self._tables, "struct found_table *")
        self._rooms: dict[str, np.ndarray] = {}
        self._make_room(1 << 16)
        self._shapes: _Remembered[bytes, Shape] = _Remembered()
        self._procedures: _Remembered[tuple[bytes, int, bytes], tuple[str, ...]] = _Remembered()

    def _make_room(self, room: int) -> None:
        self._room = room
        for name in ("shape", "values", "data"):
            self._rooms[name] = np.empty(room, np.uint8)
            found = getattr(self._file, name)
            found.bytes, found.room = pointer(self._rooms[name], "unsigned char *"), room

    def read(self, path: str, group: int, by_hdf5: Callable[[str], Table | None]) -> Direct | None:
        """Read a file as `read_direct`."""
        with self._lock:
            place = os.fsencode(path)
            while (answer := self._ask(place, group)) == lib.RANK_FILE_NO_ROOM and self._room < _MOST_ROOM:
                self._make_room(4 * self._room)
            return self._direct(by_hdf5) if answer == lib.RANK_FILE_READ else None

    def _ask(self, place: bytes, group: int) -> int:
        return lib.rank_file_read(place, group, self._name_list, len(_TABLES), len(_WHOLE), self._file)

    def _used(self, name: str) -> Any:
        """Return the bytes that the kernel wrote. The next file overwrites them."""
        found = getattr(self._file, name)
        return ffi.buffer(found.bytes, found.used)

    def _direct(self, by_hdf5: Callable[[str], Table | None]) -> Direct | None:
        shape = self._shape(bytes(self._used("shape")), by_hdf5)
        if shape is None:
            return None
        row = np.frombuffer(self._used("values"), shape.values, 1)[0]
        attributes = dict(zip(shape.values.names or (), row.item(), strict=True))
        for name in shape.arrays:
            attributes[name] = row[name].copy()
        told: list[Any] = self._tables.tolist()
        found = {name: one for name, one in zip(_TABLES, told, strict=True) if one[0] > 0}
        data, names = _apart(bytes(self._used("data")), found)
        lengths, rows, chunks = _NO_ROWS.copy(), {}, {}
        for name, (count, chunk_rows, at, size, filtered) in found.items():
            lengths[name] = count
            if name in schema.DIRECT and name in shape.filtered:
                if name not in shape.deflated:
                    return None
                try:
                    rows[name] = unshuffled(data[at : at + size], chunk_rows, shape.dtypes[name])[:count]
                except OSError:
                    return None
            elif name in schema.DIRECT:
                rows[name] = np.frombuffer(data, shape.dtypes[name], count, at)
            elif chunk_rows and bool(filtered) == (name in shape.deflated):
                chunks[name] = Chunks.of(shape.dtypes[name], chunk_rows, count, data, at, deflated=bool(filtered))
        known = None
        if PROCEDURES in shape.stored:
            known = self._names_of((shape.stored[PROCEDURES], *names), by_hdf5)
            if known is None:
                return None
        return Direct(attributes, known, shape, lengths, rows, chunks, self._file.modified_ns)

    def _shape(self, text: bytes, by_hdf5: Callable[[str], Table | None]) -> Shape | None:
        """Return the shape of the kernel's text; None: HDF5 must read the file.

        A new shape is used only after HDF5 has opened all tables of a file that has it, and found the same types.
        """
        if (known := self._shapes.get(text)) is not None:
            return known
        shape = Shape.of(text)
        opened = {name: by_hdf5(name) for name in shape.dtypes} if shape else {}
        if shape is None or any(table is None or table.dtype != shape.dtypes[n] for n, table in opened.items()):
            return None
        deflated = frozenset(name for name, table in opened.items() if table is not None and table.is_deflated)
        return self._shapes.put(text, replace(shape, deflated=deflated))

    def _names_of(
        self, key: tuple[bytes, int, bytes], by_hdf5: Callable[[str], Table | None]
    ) -> tuple[str, ...] | None:
        """Return the names of procedures; None: there are none.

        They are read once for all files that store the same.
        """
        if (known := self._procedures.get(key)) is not None:
            return known
        stored = by_hdf5(PROCEDURES)
        return None if stored is None else self._procedures.put(key, procedure_names(stored))


def _apart(data: bytes, found: dict[str, tuple[int, ...]]) -> tuple[bytes, tuple[int, bytes]]:
    """Separate the table `procedures`, which many files share, from the bytes of the other tables.

    Removes `procedures` from `found`, and changes the offsets of the others there.

    Returns:
        The other tables' bytes; number of rows and bytes of `procedures`.
    """
    count, _, begin, size, _ = found.pop(PROCEDURES, (0, 0, 0, 0, 0))
    end = begin + -(-size // _ALIGNED) * _ALIGNED
    for name, (rows, chunk_rows, at, *rest) in found.items():
        if at > begin:
            found[name] = rows, chunk_rows, at - (end - begin), *rest
    return data[:begin] + data[end:], (count, data[begin : begin + size])


class _Remembered(Generic[Key, Value]):
    """Cache whose last key is compared first: it is usually asked for again, and comparing is cheaper than hashing."""

    def __init__(self) -> None:
        self._answers: dict[Key, Value] = {}
        self._last: tuple[Key, Value] | None = None

    def get(self, key: Key) -> Value | None:
        """Return the value of a key; None: not known."""
        if self._last is None or self._last[0] != key:
            if key not in self._answers:
                return None
            self._last = key, self._answers[key]
        return self._last[1]

    def put(self, key: Key, value: Value) -> Value:
        """Store the value of a key, and return the value."""
        if len(self._answers) >= _MOST_REMEMBERED:
            self._answers.clear()
        self._answers[key] = value
        return value


_reader = _Reader()
