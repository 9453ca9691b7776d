"""Small parts of rank files, in the form in which the processes of a team exchange them.

Processes then have the `RankFile`s of all ranks without opening all files, which would take ten times as long.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from analyzer.recording.rank_file.chunks import Chunks
from analyzer.recording.rank_file.file import RankFile
from analyzer.trace.read_sizes import DEFAULT_SIZES, ReadSizes
from tracelib import schema

_ARRAYS = (*schema.DIRECT, "inside")
_NOWHERE = np.zeros(0, np.int64)

Value = int | str


@dataclass(frozen=True)
class ChunkColumns:
    """Places of the chunks of one table in several files, as arrays. For a file without chunks see `rows`."""

    table: str
    rows: list[int]  # by file: rows of a chunk; 0: HDF5 reads the table, or it has no rows
    at: np.ndarray  # byte offsets of all chunks of all files
    counts: np.ndarray  # number of chunks of each file
    ends: np.ndarray  # first and last rows of the files, where known
    known: np.ndarray  # by file: 2 if the first and last row are known, else 0
    deflated: np.ndarray  # number of bytes of all deflated chunks
    packed: np.ndarray  # number of deflated chunks of each file

    @classmethod
    def of(cls, table: str, files: Sequence[RankFile]) -> ChunkColumns:
        """Collect the places of a table's chunks in some files."""
        found = [file.chunks.get(table) for file in files]
        at = [one.at if one else _NOWHERE for one in found]
        ends = [one.ends if one and one.ends is not None else np.zeros(0, schema.TABLES[table]) for one in found]
        deflated = [one.deflated if one and one.deflated is not None else _NOWHERE for one in found]
        rows = [one.rows if one else 0 for one in found]
        places, sizes = (_joined(_NOWHERE.dtype, some) for some in (at, deflated))
        return cls(table, rows, *places, *_joined(schema.TABLES[table], ends), *sizes)

    def of_file(self, k: int) -> Chunks:
        """Return the chunks of the file with index k, which must have some."""
        (at, its_ends, its_bytes), count = self._firsts[:, k].tolist(), int(self.counts[k])
        known = self.ends[its_ends : its_ends + 2] if self.known[k] else None
        deflated = self.deflated[its_bytes : its_bytes + count] if self.packed[k] else None
        return Chunks(schema.TABLES[self.table], self.rows[k], self.at[at : at + count], known, deflated)

    @cached_property
    def _firsts(self) -> np.ndarray:
        counts = np.stack([self.counts, self.known, self.packed])
        return np.cumsum(counts, axis=1) - counts


class SentChunks(Mapping[str, Chunks]):
    """Chunks of a file that another process has opened (`RankFile.chunks`). They are unpacked at their first use."""

    def __init__(self, columns: Sequence[ChunkColumns], k: int) -> None:
        self._columns, self._k = columns, k

    @cached_property
    def _chunks(self) -> Mapping[str, Chunks]:
        return {column.table: column.of_file(self._k) for column in self._columns if column.rows[self._k]}

    def __getitem__(self, table: str) -> Chunks:
        return self._chunks[table]

    def __contains__(self, table: object) -> bool:
        return table in self._chunks

    def __iter__(self) -> Iterator[str]:
        return iter(self._chunks)

    def __len__(self) -> int:
        return len(self._chunks)


@dataclass(frozen=True)
class Heads:
    """Attributes, small tables and places of chunks of several rank files, as columns.

    Columns are sent and unpacked much faster than objects.
    """

    attributes: dict[str, list[Value]]  # by name: the values of all files
    texts: list[str]  # values of text attributes are indices in this list: most files have the same
    procedures: list[tuple[str, ...]]
    which: list[int]  # by file: index in `procedures`
    lengths: np.ndarray  # (files, tables of the schema)
    arrays: dict[str, tuple[np.ndarray, np.ndarray]]  # by name: the rows of all files, and the number of rows of each
    chunks: list[ChunkColumns]
    modified_ns: list[int]

    @classmethod
    def of(cls, files: Sequence[RankFile]) -> Heads:
        """Collect the small parts of some open files."""
        texts: dict[str, int] = {}
        procedures: dict[tuple[str, ...], int] = {}
        attributes: dict[str, list[Value]] = {
            name: [int(file.attributes[name]) for file in files] for name in schema.INTEGER_ATTRIBUTES
        }
        for name in schema.TEXT_ATTRIBUTES:
            attributes[name] = [texts.setdefault(str(file.attributes[name]), len(texts)) for file in files]
        which = [procedures.setdefault(file.procedures, len(procedures)) for file in files]
        return cls(
            attributes, list(texts), list(procedures), which,
            np.array([[file.lengths[name] for name in schema.TABLES] for file in files], np.int64),
            {name: _joined(_dtype(name), [getattr(file, name) for file in files]) for name in _ARRAYS},
            [ChunkColumns.of(table, files) for table in (*schema.BUFFERED, *schema.SOURCES)],
            [file.modified_ns for file in files],
        )  # fmt: skip

    def files(self, places: Sequence[tuple[str, str]], sizes: ReadSizes = DEFAULT_SIZES) -> list[RankFile]:
        """Make the `RankFile`s in another process.

        Args:
            places: For each rank of the run, the path of its file and its group in the file.
            sizes: Amounts in which the tables are read.
        """
        names = (*schema.INTEGER_ATTRIBUTES, *schema.TEXT_ATTRIBUTES)
        columns: list[Sequence[Value]] = [self.attributes[name] for name in schema.INTEGER_ATTRIBUTES]
        columns += [[self.texts[int(number)] for number in self.attributes[name]] for name in schema.TEXT_ATTRIBUTES]
        attributes = [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]
        lengths = [dict(zip(schema.TABLES, row, strict=True)) for row in self.lengths.tolist()]
        arrays: dict[str, Any] = {name: _apart(*column) for name, column in self.arrays.items()}
        return [
            RankFile(
                *places[rank], rank, int(attributes[k]["size"]), attributes[k],
                self.procedures[self.which[k]], lengths[k], SentChunks(self.chunks, k),
                modified_ns=self.modified_ns[k], sizes=sizes, **{name: column[k] for name, column in arrays.items()},
            )
            for k, rank in enumerate(map(int, self.attributes["rank"]))
        ]  # fmt: skip


def _dtype(name: str) -> np.dtype:
    return schema.INSIDE if name == "inside" else schema.DIRECT[name]


def _joined(dtype: np.dtype, arrays: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    rows = np.frombuffer(b"".join([array.tobytes() for array in arrays]), dtype)  # numpy takes its time for records
    return rows, np.array(list(map(len, arrays)), np.int64)


def _apart(rows: np.ndarray, counts: np.ndarray) -> list[np.ndarray]:
    if not len(rows):
        return [rows] * len(counts)
    ends = np.cumsum(counts)
    return [rows[first:last] for first, last in zip((ends - counts).tolist(), ends.tolist(), strict=True)]
