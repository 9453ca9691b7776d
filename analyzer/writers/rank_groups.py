"""The ranks of a packed or cut run: a group for each rank, appended to a file that HDF5 has begun.

h5py makes the file: its attributes, the types of its tables, and an empty group `ranks`. The groups are appended as
bytes (hdf5_parts), and at the end `ranks` is made to list them.

Also compression of a chunk in the format of HDF5's filters shuffle and deflate, but in fewer bytes. A filter prescribes
only how a chunk is read. Deflate codes a block by the frequency of its bytes. Given a whole shuffled chunk, a library
codes the lower bytes of times, which are noise, together with columns that hardly change. Here noise has blocks of its
own, if there are at least FEW rows. csrc/runtime/record/compress.c does the same while a program runs.
"""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from functools import cached_property, lru_cache
from hashlib import blake2b
from itertools import chain, pairwise
from pathlib import Path
from typing import BinaryIO
from uuid import uuid4

import h5py
import numpy as np
from h5py import h5o

from analyzer.writers import hdf5_parts as parts
from analyzer.writers.hdf5_groups import new_group, new_hdf5, new_table, write_rows
from tracelib import schema

FEW = 1024
"""Number of rows below which a separate block for noise takes more bytes than it saves."""


def deflated(rows: np.ndarray, level: int) -> bytes:
    """Shuffle and compress a whole chunk, a contiguous 1-D array of rows."""
    columns = np.ascontiguousarray(rows.view(np.uint8).reshape(len(rows), -1).T)
    if len(rows) < FEW:
        return zlib.compress(columns.data, level)
    noise = [*(2 * (columns[:, 1:] == columns[:, :-1]).sum(axis=1) < len(rows)), False]
    coder = zlib.compressobj(level)
    parts = []
    for column, (here, after) in zip(columns, pairwise(noise), strict=True):
        parts.append(coder.compress(column))
        if here or after:
            parts.append(coder.flush(zlib.Z_BLOCK))
    return b"".join([*parts, coder.flush()])


RANKS, TYPES = "ranks", "types"
CHUNK_ROWS = schema.COMPRESSED_CHUNK_ROWS
SMALL_BYTES = 1024
"""Largest size in bytes of a table that is stored uncompressed. An index of chunks would cost more than it saves."""

_BUFFER_BYTES = 1 << 20
_EOF_AT = 40  # superblock version 0
_SYMBOL_TABLE_AT = 24  # in the header of an empty group, its only message: addresses of its tree and its heap

Chunk = tuple[int, int, int]
"""A chunk in the file: its address, its bytes, and a bit for each filter that was left out."""


class RankGroups:
    """Appender of the groups and tables of ranks to an HDF5 file.

    Its methods raise OSError if the file cannot be written.
    """

    def __init__(self, file: BinaryIO, types: Mapping[str, int], ranks: int, codec: str, level: int) -> None:
        """Prepare to append to a file.

        Args:
            file: The file, written by HDF5 and closed there.
            types: Address of the object header of each table's type, by name of the table.
            ranks: Address of the object header of the empty group for ranks.
            codec: Compression of rows, one of CODECS.
            level: Level of gzip.
        """
        self._file, self._types, self._codec, self._level = file, types, codec, level
        self._same: dict[bytes, int] = {}
        file.seek(ranks + _SYMBOL_TABLE_AT)
        self._tree, self._heap = (int.from_bytes(file.read(8), "little") for _ in range(2))
        self._end = file.seek(0, 2)
        self._end += file.write(bytes(-self._end % parts.ALIGNED))
        self._members: list[tuple[str, int]] = []
        self._leads: Counter[int] = Counter(dict.fromkeys(types.values(), 1))

    def table(self, name: str, length: int, stretches: Iterable[np.ndarray]) -> int:
        """Write a table and return the address of its object header.

        A table of up to SMALL_BYTES is stored uncompressed, and only once for all ranks that have the same rows.

        Args:
            name: Name of the table.
            length: Number of rows.
            stretches: The rows in pieces; each but the last consists of whole chunks.
        """
        rows = iter(stretches)
        first = next(rows)
        if length * first.itemsize > SMALL_BYTES:
            return self._in_chunks(name, length, _chunks(chain([first], rows), min(length, CHUNK_ROWS)))
        same = blake2b(name.encode() + b"\0" + first.tobytes()).digest()
        if same not in self._same:
            at = self._append(first.tobytes()) if length else parts.UNDEFINED
            kind = self._type(name, first.dtype)
            self._same[same] = self._append(parts.table_as_it_is(kind, length, first.itemsize, at))
        return self._same[same]

    def _in_chunks(self, name: str, length: int, chunks: Iterable[np.ndarray]) -> int:
        of_chunk, dtype = min(length, CHUNK_ROWS), np.dtype("u1")
        places: list[Chunk] = []
        for chunk in chunks:
            stored, left_out = self._compressed(chunk)
            places.append((self._append(stored), len(stored), left_out))
            dtype = chunk.dtype
        kind, filters = self._type(name, dtype), _filters(self._codec, self._level, of_chunk, dtype)
        if len(places) == 1:
            return self._append(parts.table_in_chunk(kind, length, dtype.itemsize, filters, places[0]))
        tree, root = parts.chunk_tree(self._end, of_chunk, places)
        self._append(tree)
        return self._append(parts.table_in_chunks(kind, length, dtype.itemsize, of_chunk, filters, root))

    def _compressed(self, chunk: np.ndarray) -> tuple[bytes, int]:
        """Return a chunk as it is stored, and the bits of the filters that were left out."""
        if self._codec == "gzip":
            return deflated(chunk, self._level), 0
        table = new_table(self._scratch.id, "rows", len(chunk), chunk.dtype, len(chunk), self._codec)
        write_rows(table, chunk)
        left_out, stored = table.read_direct_chunk((0,))
        del self._scratch["rows"]
        return stored, left_out

    @cached_property
    def _scratch(self) -> h5py.File:
        """File in memory in which HDF5 compresses chunks, because HDF5 applies filters only in files."""
        return _in_memory()

    def close(self) -> None:
        """Free the memory of the scratch file."""
        if "_scratch" in self.__dict__:
            self._scratch.close()

    def add(self, rank: int, attributes: Sequence[bytes], tables: Mapping[str, int]) -> None:
        """Add the group of a rank, with the messages of its attributes and the addresses of its tables by name."""
        links = [parts.link(name, at) for name, at in tables.items()]
        self._leads.update(tables.values())
        self._members.append((f"{rank:06d}", self._append(parts.header([*attributes, *parts.IS_GROUP, *links]))))

    def finish(self) -> None:
        """Write the list of groups into `ranks`, and the new end into the file."""
        behind, heap, root = parts.group_of(sorted(self._members), self._end)
        self._append(behind)
        self._replace(self._heap, heap)
        self._replace(self._tree, root)
        for at, count in self._leads.items():
            if count > 1:
                self._replace(at + parts.REFERENCES_AT, parts.REFERENCES.pack(count))
        self._replace(_EOF_AT, self._end.to_bytes(8, "little"))

    def _append(self, part: bytes) -> int:
        at, whole = self._end, parts.padded(part)
        self._file.write(whole)
        self._end += len(whole)
        return at

    def _replace(self, at: int, part: bytes) -> None:
        self._file.seek(at)
        self._file.write(part)

    def _type(self, name: str, dtype: np.dtype) -> bytes:
        if (at := self._types.get(name)) is None:
            return parts.own_type(dtype)
        self._leads[at] += 1
        return parts.type_at(at)


@contextmanager
def new_run(
    path: Path, size: int, tables: Iterable[str], head: Callable[[h5py.File], None], codec: str, level: int
) -> Iterator[RankGroups]:
    """Create the file of a run, and return an appender for the groups of its ranks.

    Args:
        path: The file.
        size: Number of ranks.
        tables: Names of the tables that have rows on some rank.
        head: Function that writes the rest of the file with h5py.
        codec: Compression of the tables, one of CODECS.
        level: Level of gzip.

    Raises:
        OSError: The file cannot be written.
    """
    with new_hdf5(path) as out:
        out.attrs["schema_version"] = np.uint64(schema.VERSION)
        out.attrs["size"] = np.uint64(size)
        head(out)
        types = out.create_group(TYPES)
        for name in (name for name in tables if schema.TABLES[name].names):
            types[name] = schema.TABLES[name]
        at = {name: h5o.get_info(types[name].id).addr for name in types}
        ranks = h5o.get_info(new_group(out, RANKS)).addr
    with (
        path.open("r+b", buffering=_BUFFER_BYTES) as file,
        closing(RankGroups(file, at, ranks, codec, level)) as groups,
    ):
        yield groups
        groups.finish()


def _chunks(stretches: Iterable[np.ndarray], of_chunk: int) -> Iterator[np.ndarray]:
    """Yield the rows of a table in chunks. The last chunk is filled up with zeros."""
    for rows in stretches:
        for at in range(0, len(rows), of_chunk):
            part = rows[at : at + of_chunk]
            yield part if len(part) == of_chunk else np.concatenate([part, np.zeros(of_chunk - len(part), rows.dtype)])


def _in_memory() -> h5py.File:
    """Open a file that exists only in memory. Its name is unique, because HDF5 would share files of one name."""
    return h5py.File(uuid4().hex, "w", driver="core", backing_store=False)


@lru_cache
def _filters(codec: str, level: int, of_chunk: int, dtype: np.dtype) -> bytes:
    """Return the message of a codec's filters. It depends on the type and the number of rows in a chunk."""
    with _in_memory() as file:
        table = new_table(file.id, "rows", of_chunk, dtype, of_chunk, codec, level)
        return parts.filters_of(table.get_create_plist())
