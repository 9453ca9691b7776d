"""HDF5 file of one rank: attributes of its process, and tables, which are read by ranges of rows."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from analyzer.errors import TracelibError
from analyzer.recording.rank_file.chunks import Chunks, Descriptor
from analyzer.recording.rank_file.direct import ROOT, Direct, Shape, groups_of_ranks, read_direct
from analyzer.recording.rank_file.limited import limited
from analyzer.recording.rank_file.tables import (
    DAMAGED,
    OPEN_FILES,
    KeptOpen,
    OpenFiles,
    OpenGroup,
    Table,
    procedure_names,
    text_of,
)
from analyzer.recording.rank_file.versions import dtype_of, has_table, lacks, upgraded, upgraded_inside
from analyzer.trace.read_sizes import DEFAULT_SIZES, ReadSizes
from tracelib import schema
from tracelib.schema.groups import is_progression, ranks_of

PREDICTED = "replay"
"""`boot_id` of a predicted run, whose times come from no clock."""

_LAST_THREAD = np.iinfo(schema.CALL["thread"]).max

_WORLD = 1
"""Row of MPI_COMM_WORLD in the table `communicators`."""

_LONGEST_OVERHEAD = 1 << 40
"""Bound of the overhead attributes, in ticks or ns (minutes). The tracer takes less time between two calls."""

_STATES = frozenset(schema.ProcessState)

_EMPTY = {name: np.zeros(0, dtype) for name, dtype in schema.DIRECT.items()}
_READ_LATER = (*schema.BUFFERED, *schema.SOURCES)

Place = str | os.PathLike[str]
"""Path of a file."""

_files = OpenFiles()
_descriptors = KeptOpen(OPEN_FILES, Descriptor)
_places_of_groups = KeptOpen(OPEN_FILES, groups_of_ranks)


@dataclass
class RankFile:
    """Open rank file, or a rank's group in a packed run.

    Attributes and small tables are in memory. The large tables are read by `read`.
    """

    place: str
    group: str
    rank: int
    size: int
    attributes: dict[str, int | str]
    procedures: tuple[str, ...]
    lengths: dict[str, int]  # number of rows of each table
    chunks: Mapping[str, Chunks]  # places of the large tables that need no HDF5
    blocks: np.ndarray
    clock: np.ndarray
    sync: np.ndarray
    communicators: np.ndarray
    members: np.ndarray
    objects: np.ndarray
    labels: np.ndarray
    counters: np.ndarray
    skipped: np.ndarray
    tasks: np.ndarray
    inside: np.ndarray  # schema.INSIDE: threads that died in a call, where `tracelib recover` has noted it
    modified_ns: int  # time of the last write, ns since 1970
    sizes: ReadSizes = DEFAULT_SIZES

    @property
    def path(self) -> Path:
        return Path(self.place)

    def read(self, table: str, first: int, last: int, into: np.ndarray | None = None) -> np.ndarray:
        """Return rows [first, last) of a table.

        Args:
            table: Name of the table.
            first: First row.
            last: Behind the last row.
            into: Array for the rows, of the right length. None: the result must not be changed, as small tables come
                from memory.

        Raises:
            TracelibError: The file is damaged.
        """
        if not self.lengths[table]:
            return np.zeros(0, schema.TABLES[table])
        if into is None and table in schema.DIRECT:
            return getattr(self, table)[first:last]
        if into is None and last == first + 1 and (end := self._end(table, first)) is not None:
            return end
        try:
            if table in self.chunks:
                stop = min(last, self.lengths[table])
                return self.chunks[table].read(_descriptors.get(self.place), first, stop, into=into)
            with limited(self.place, last - first):
                return self._stored(table).rows(first, last, into=into)
        except DAMAGED as error:
            raise unreadable(self.place, error) from error

    def known_ends(self, table: str) -> np.ndarray | None:
        """Return the first and the last row of a table that is not empty. None: they must be read."""
        chunks = self.chunks.get(table)
        return chunks.ends if chunks else None

    def _end(self, table: str, row: int) -> np.ndarray | None:
        """Return row `row` if it is the first or the last row and in memory; otherwise None."""
        if (chunks := self.chunks.get(table)) is None or chunks.ends is None:
            return None
        return chunks.ends[:1] if not row else chunks.ends[1:] if row == self.lengths[table] - 1 else None

    def sample(self, table: str, first: int, last: int, step: int) -> np.ndarray:
        """Return every step-th row of rows [first, last) of a table. Raises TracelibError if the file is damaged."""
        try:
            if table in self.chunks:
                return self.chunks[table].read(_descriptors.get(self.place), first, last, step)
            with limited(self.place, last - first):
                return self._stored(table).rows(first, last, step)
        except DAMAGED as error:
            raise unreadable(self.place, error) from error

    def _stored(self, table: str) -> Table:
        stored = _files.group(self.place, self.group, self.sizes.open_groups).table(table)
        if stored is None:
            raise KeyError(f"no table {table}")
        return stored

    def ranks_of(self, said: int, size: int) -> range | np.ndarray:
        """Return the world ranks of a group of `size` ranks.

        Args:
            said: Value of `members` (or `remote`) in `communicators`: a progression, or the first row in the table
                `members`.
            size: Number of ranks of the group.
        """
        return ranks_of(said, size, self.size) if is_progression(said) else self.members[said : said + size]

    def close(self) -> None:
        """Close all handles of the file."""
        close_file(self.place)


def close_file(place: str) -> None:
    """Close all handles of a file, because the file will be replaced, or has been."""
    for kept in (_descriptors, _files, _places_of_groups, _shared_names):
        kept.drop(place)


def unreadable(path: Place, error: Exception | str) -> TracelibError:
    """Make the error for a file that HDF5 cannot read."""
    reason = " ".join(str(error).split())
    hint = "it was cut off, or is not an HDF5 file; copy it again from where it was traced"
    return TracelibError(f"{Path(path)}: cannot be read ({reason})", hint)


def foreign(path: Place, what: str) -> TracelibError:
    """Make the error for an HDF5 file that is no rank file. `what` is the reason."""
    return TracelibError(f"{Path(path)}: not a rank file of a trace ({what})", "give run.h5 or the folder run.ranks")


def open_rank(path: Place, group: str = "/", sizes: ReadSizes = DEFAULT_SIZES) -> RankFile:
    """Open a rank file: check it, and read its attributes and small tables.

    Args:
        path: The file.
        group: Group of the rank in a packed run, which has no empty tables. "/": a file of its own.
        sizes: Amounts in which the tables are read.

    Raises:
        TracelibError: It is no readable rank file; the message has the reason.
    """
    place = os.fspath(path)
    if group == "/":
        close_file(place)  # else HDF5 would answer from an earlier state of a file that has grown
    try:
        at = _place_of(place, group)
        direct = None if at is None else read_direct(place, at, partial(_table_of, place, group, sizes))
        if direct:
            file = _of_direct(place, group, direct, sizes)
        else:
            with limited(place):
                file = _of_hdf5(place, group, sizes)
    except DAMAGED as error:
        raise unreadable(place, error) from error
    if (file.blocks["thread"] > _LAST_THREAD).any():
        raise foreign(place, "a block of a thread that cannot be")
    if len(file.communicators) > _WORLD and file.communicators["size"][_WORLD] != file.size:
        world = file.communicators["size"][_WORLD]
        raise foreign(place, f"one of {file.size} ranks, but its MPI_COMM_WORLD has {world}")
    if place in _files and all(n in file.chunks for n in _READ_LATER if file.lengths[n]):
        if group == "/":
            _files.drop(place)
        else:
            _files.get(place).groups.drop(group)
    return file


def _table_of(path: str, group: str, sizes: ReadSizes, name: str) -> Table | None:
    with limited(path):
        return _files.group(path, group, sizes.open_groups).table(name)


def _place_of(path: str, group: str) -> int | None:
    """Return the address of a group's object header; None: HDF5 must find it."""
    if group == "/":
        return ROOT
    rank, places = group.removeprefix("ranks/"), _places_of_groups.get(path)
    return places[int(rank)] or None if rank.isdecimal() and int(rank) < len(places) else None


def _of_direct(path: str, group: str, found: Direct, sizes: ReadSizes) -> RankFile:
    """Build a rank file from what was read without HDF5."""
    version = _version(path, found.attributes)
    attributes = _attributes(path, found.attributes, version)
    packed = group != "/"
    if not _has_tables(found.shape, version, packed):
        for name in schema.TABLES:
            if has_table(version, name):
                _check_dtype(path, name, version, found.shape.dtypes.get(name))
    rows = found.rows
    if not _has_tables(found.shape, schema.VERSION, packed):
        rows = {name: upgraded(name, old) for name, old in rows.items()}
    inside = upgraded_inside(found.attributes.get("inside"))
    procedures = found.procedures
    if procedures is None:
        if not packed:
            raise foreign(path, "no table procedures")
        procedures = _shared_names.get(path)
    return RankFile(
        path, group, int(attributes["rank"]), int(attributes["size"]), attributes, procedures, found.lengths,
        found.chunks, inside=inside, modified_ns=found.modified_ns, sizes=sizes, **(_EMPTY | rows),
    )  # fmt: skip


@lru_cache
def _has_tables(shape: Shape, version: int, packed: bool) -> bool:
    """Return True if all tables have the columns of this version. In a packed run empty tables are missing."""
    tables = [name for name in schema.TABLES if has_table(version, name) and not (packed and name not in shape.dtypes)]
    return all(shape.dtypes.get(name) == dtype_of(version, name) for name in tables)


def _of_hdf5(path: str, group: str, sizes: ReadSizes) -> RankFile:
    """Read any rank file, or a rank's group of a packed run, by HDF5."""
    place = Path(path)
    if not place.exists():
        raise TracelibError(f"{place}: no such file", "copy the folder of rank files together with run.h5")
    status = place.stat()
    if status.st_size == 0:
        raise TracelibError(
            f"{place}: is empty", "the process ended, or the disk was full, before anything was written"
        )
    file = _files.group(path, group, sizes.open_groups)
    stored = file.attributes()
    version = _version(path, stored)
    attributes = _attributes(path, stored, version)
    packed = group != "/"
    tables = {n: _table(path, file, n, version, packed) for n in schema.TABLES if has_table(version, n)}
    for name, table in tables.items():
        if table is not None and not table.could_be_in(status.st_size):
            raise ValueError(f"table {name} has {len(table)} rows, for which there is no room in the file")
    procedures = _procedures(path, file, group)
    small = {name: _whole(name, tables.get(name)) for name in schema.DIRECT}
    lengths = {name: len(tables.get(name) or ()) for name in schema.TABLES}
    chunks = _chunks(tables)
    inside = upgraded_inside(stored.get("inside"))
    return RankFile(
        path, group, int(attributes["rank"]), int(attributes["size"]), attributes, procedures, lengths, chunks,
        inside=inside, modified_ns=status.st_mtime_ns, sizes=sizes, **small,
    )  # fmt: skip


def _version(path: str, stored: Mapping[str, Any]) -> int:
    version = int(stored.get("schema_version", 0))
    if version < 1:
        raise foreign(path, "no attribute schema_version")
    if version > schema.VERSION:
        text = f"{Path(path)}: written in version {version} of the format; this analyzer reads up to {schema.VERSION}"
        raise TracelibError(text, "install the version of tracelib that recorded it, or a later one")
    return version


@cache
def _expected(version: int) -> frozenset[str]:
    """Return the attributes that a file of this version must have."""
    return frozenset({*schema.INTEGER_ATTRIBUTES, *schema.TEXT_ATTRIBUTES} - lacks(version))


def _attributes(path: str, stored: Mapping[str, Any], version: int) -> dict[str, int | str]:
    if not stored.keys() >= _expected(version):
        missing = (n for n in (*schema.INTEGER_ATTRIBUTES, *schema.TEXT_ATTRIBUTES) if n not in stored)
        raise foreign(path, f"no attribute {next(n for n in missing if n not in lacks(version))}")
    found: dict[str, int | str] = {name: int(stored.get(name, 0)) for name in schema.INTEGER_ATTRIBUTES}
    rank, size = int(found["rank"]), int(found["size"])
    if not 0 <= rank < size:
        raise foreign(path, f"rank {rank} of {size}")
    for name in ("overhead_ticks", "overhead_cpu_ns"):
        if not 0 <= int(found[name]) < _LONGEST_OVERHEAD:
            raise foreign(path, f"attribute {name} is {found[name]}")
    if found["state"] not in _STATES:
        raise foreign(path, f"attribute state is {found['state']}")
    for name in schema.TEXT_ATTRIBUTES:
        found[name] = sys.intern(text_of(stored.get(name, b"")))  # most ranks say the same
    return found


def _procedures(path: str, file: OpenGroup, group: str) -> tuple[str, ...]:
    """Return the names of the procedures. In a packed run all ranks may share them."""
    names = file.table("procedures")
    if names is not None:
        return procedure_names(names)
    if group == "/":
        raise foreign(path, "no table procedures")
    return _shared_names.get(path)


def _names_of_all(path: str) -> tuple[str, ...]:
    """Return the names of the procedures that all ranks of a packed run share."""
    with limited(path):
        names = _files.group(path, "/").table("procedures")
        if names is None:
            raise foreign(path, "no table procedures")
        return procedure_names(names)


_shared_names = KeptOpen(OPEN_FILES, _names_of_all)


def _chunks(tables: Mapping[str, Table | None]) -> dict[str, Chunks]:
    found = {name: table.chunks() for name in _READ_LATER if (table := tables.get(name))}
    return {name: chunks for name, chunks in found.items() if chunks}


def _whole(name: str, table: Table | None) -> np.ndarray:
    return np.zeros(0, schema.TABLES[name]) if table is None else upgraded(name, table.rows())


def _table(path: str, file: OpenGroup, name: str, version: int, packed: bool) -> Table | None:
    """Open a table and check its columns. None: a packed run has left it out, as it is empty."""
    table = file.table(name)
    if table is not None or not packed:
        _check_dtype(path, name, version, None if table is None else table.dtype)
    return table


def _check_dtype(path: str, name: str, version: int, found: np.dtype | None) -> None:
    """Raise TracelibError if a table does not have the columns of this version. `found`: None if there is no table."""
    if found is None:
        raise foreign(path, f"no table {name}")
    if found != dtype_of(version, name):
        raise foreign(path, f"table {name} has other columns: written by another version?")
