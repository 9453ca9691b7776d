"""One rank's HDF5 file: what it says about its process, and its tables, row range by row range."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from analyzer.errors import TracelibError
from analyzer.sources.chunks import Chunks, Descriptors
from analyzer.sources.tables import OpenFiles, OpenGroup, Table
from analyzer.sources.versions import dtype_of, has_table, lacks, upgraded
from tracelib import schema

PREDICTED = "replay"
"""`boot_id` in a run that was predicted: its times are those of no clock."""

_LAST_THREAD = np.iinfo(schema.CALL["thread"]).max


_files = OpenFiles()
_descriptors = Descriptors()


@dataclass(frozen=True)
class RankFile:
    """A readable rank file, or a rank's group of a packed run: attributes and small tables in memory, the buffered
    tables read by `read`."""

    path: Path
    group: str
    attributes: dict[str, int | str]
    procedures: tuple[str, ...]
    lengths: dict[str, int]  # rows of each table
    chunks: dict[str, Chunks]  # of the buffered tables that can be read without HDF5
    blocks: np.ndarray
    clock: np.ndarray
    sync: np.ndarray
    communicators: np.ndarray
    members: np.ndarray
    objects: np.ndarray
    labels: np.ndarray
    counters: np.ndarray
    skipped: np.ndarray
    inside: np.ndarray  # schema.INSIDE: threads that died in a call, where `tracelib recover` has noted it

    @property
    def rank(self) -> int:
        return int(self.attributes["rank"])

    @property
    def size(self) -> int:
        return int(self.attributes["size"])

    def read(self, table: str, first: int, last: int) -> np.ndarray:
        """Rows [first, last) of a table."""
        if not self.lengths[table]:
            return np.zeros(0, schema.TABLES[table])
        try:
            if table in self.chunks:
                return self.chunks[table].read(_descriptors.get(self.path), first, min(last, self.lengths[table]))
            return self._stored(table).rows(first, last)
        except (OSError, KeyError, RuntimeError) as error:
            raise unreadable(self.path, error) from error

    def sample(self, table: str, first: int, last: int, step: int) -> np.ndarray:
        """Every step-th row of [first, last)."""
        try:
            if table in self.chunks:
                return self.chunks[table].sample(_descriptors.get(self.path), first, last, step)
            return self._stored(table).rows(first, last, step)
        except (OSError, KeyError, RuntimeError) as error:
            raise unreadable(self.path, error) from error

    def _stored(self, table: str) -> Table:
        stored = _files.group(self.path, self.group).table(table)
        if stored is None:
            raise KeyError(f"no table {table}")
        return stored

    def close(self) -> None:
        """Give the descriptors back."""
        _descriptors.drop(self.path)
        _files.drop(self.path)


def unreadable(path: Path, error: Exception | str) -> TracelibError:
    """The error for a file that HDF5 cannot read."""
    reason = " ".join(str(error).split())
    hint = "it was cut off, or is no HDF5 file at all; copy it again from where it was traced"
    return TracelibError(f"{path}: cannot be read ({reason})", hint)


def foreign(path: Path, what: str) -> TracelibError:
    """The error for an HDF5 file that holds something else."""
    return TracelibError(f"{path}: not a rank file of a trace ({what})", "give run.h5 or the folder run.ranks")


def open_rank(path: Path, group: str = "/") -> RankFile:
    """Read what is small of a rank file (of `group` in a packed run, which has no empty tables) and check that it is
    one; TracelibError says why not."""
    if not path.exists():
        raise TracelibError(f"{path}: no such file", "copy the folder of rank files together with run.h5")
    if path.stat().st_size == 0:
        raise TracelibError(f"{path}: is empty", "the process ended, or the disk was full, before anything was written")
    if group == "/":
        _descriptors.drop(path)
        _files.drop(path)  # HDF5 would answer from what it knew of a file that has grown since
    try:
        file = _files.group(path, group)
        stored = file.attributes()
        version = _version(path, stored)
        attributes = _attributes(path, stored, version)
        packed = group != "/"
        tables = {n: _table(path, file, n, version, packed) for n in schema.TABLES if has_table(version, n)}
        procedures = _procedures(path, file, group)
        small = {name: _whole(name, tables.get(name)) for name in schema.DIRECT}
        lengths = {name: len(tables.get(name) or ()) for name in schema.TABLES}
        chunks = _chunks(tables)
    except (OSError, KeyError, RuntimeError) as error:
        raise unreadable(path, error) from error
    if small["blocks"]["thread"].max(initial=0) > _LAST_THREAD:
        raise foreign(path, "a block of a thread that cannot be")
    inside = np.array(stored.get("inside", []), schema.INSIDE)
    if not packed and all(name in chunks for name in schema.BUFFERED if lengths[name]):
        _files.drop(path)
    return RankFile(path, group, attributes, procedures, lengths, chunks, inside=inside, **small)


def _version(path: Path, stored: Mapping[str, Any]) -> int:
    version = int(stored.get("schema_version", 0))
    if version < 1:
        raise foreign(path, "no attribute schema_version")
    if version > schema.VERSION:
        text = f"{path}: written in version {version} of the format; this analyzer reads up to {schema.VERSION}"
        raise TracelibError(text, "install the version of tracelib that recorded it, or a later one")
    return version


def _attributes(path: Path, stored: Mapping[str, Any], version: int) -> dict[str, int | str]:
    old = lacks(version)
    missing = [n for n in (*schema.INTEGER_ATTRIBUTES, *schema.TEXT_ATTRIBUTES) if n not in stored and n not in old]
    if missing:
        raise foreign(path, f"no attribute {missing[0]}")
    numbers = {name: int(stored.get(name, 0)) for name in schema.INTEGER_ATTRIBUTES}
    if not 0 <= numbers["rank"] < numbers["size"]:
        raise foreign(path, f"rank {numbers['rank']} of {numbers['size']}")
    return numbers | {name: text_of(stored.get(name, b"")) for name in schema.TEXT_ATTRIBUTES}


def _procedures(path: Path, file: OpenGroup, group: str) -> tuple[str, ...]:
    """Names of the calls; in a packed run all ranks may share them."""
    names = file.table("procedures")
    if names is None and group != "/":
        names = _files.group(path, "/").table("procedures")
    if names is None:
        raise foreign(path, "no table procedures")
    return tuple(text_of(name) for name in names.rows())


def _chunks(tables: Mapping[str, Table | None]) -> dict[str, Chunks]:
    found = {name: table.chunks() for name in schema.BUFFERED if (table := tables.get(name))}
    return {name: chunks for name, chunks in found.items() if chunks}


def _whole(name: str, table: Table | None) -> np.ndarray:
    return np.zeros(0, schema.TABLES[name]) if table is None else upgraded(name, table.rows())


def _table(path: Path, file: OpenGroup, name: str, version: int, packed: bool) -> Table | None:
    """None: it has no rows, of which a packed run says nothing."""
    table = file.table(name)
    if table is None and not packed:
        raise foreign(path, f"no table {name}")
    if table is not None and table.dtype != dtype_of(version, name):
        raise foreign(path, f"table {name} has other columns: written by another version?")
    return table


def text_of(value: bytes | str) -> str:
    """A fixed-length string of the file."""
    text = value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
    return text.split("\0", 1)[0]
