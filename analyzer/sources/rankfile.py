"""One rank's HDF5 file: what it says about its process, and its tables, row range by row range."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path

import h5py
import numpy as np

from analyzer.errors import TracelibError
from analyzer.sources.versions import dtype_of, has_table, lacks, upgraded
from tracelib import schema

OPEN_FILES = 128
"""How many rank files are kept open at a time: thousands of ranks must not meet the limit on descriptors."""

PREDICTED = "replay"
"""`boot_id` in a run that was predicted: its times are those of no clock."""

_LAST_THREAD = np.iinfo(schema.CALL["thread"]).max


class _Handles:
    """Open HDF5 files, the least recently used closed first."""

    def __init__(self) -> None:
        self._open: OrderedDict[Path, h5py.File] = OrderedDict()

    def get(self, path: Path) -> h5py.File:
        if path in self._open:
            self._open.move_to_end(path)
        else:
            while len(self._open) >= OPEN_FILES:
                self._open.popitem(last=False)[1].close()
            # No lock: the file may be growing, or lie on a file system without locks.
            self._open[path] = h5py.File(path, "r", locking=False, rdcc_nbytes=0)
        return self._open[path]

    def drop(self, path: Path) -> None:
        if path in self._open:
            self._open.pop(path).close()


_handles = _Handles()


@dataclass(frozen=True)
class RankFile:
    """A readable rank file, or a rank's group of a packed run: attributes and small tables in memory, the buffered
    tables read by `read`."""

    path: Path
    group: str
    attributes: dict[str, int | str]
    procedures: tuple[str, ...]
    lengths: dict[str, int]  # rows of each table
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
            return _handles.get(self.path)[self.group][table][first:last]
        except (OSError, KeyError) as error:
            raise unreadable(self.path, error) from error

    def sample(self, table: str, first: int, last: int, step: int) -> np.ndarray:
        """Every step-th row of [first, last)."""
        try:
            return _handles.get(self.path)[self.group][table][first:last:step]
        except (OSError, KeyError) as error:
            raise unreadable(self.path, error) from error

    def close(self) -> None:
        """Give the descriptor back."""
        _handles.drop(self.path)


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
        _handles.drop(path)  # HDF5 would answer from what it knew of a file that has grown since
    try:
        file = _handles.get(path)[group]
        version = _version(path, file)
        attributes = _attributes(path, file, version)
        expected = [name for name in schema.TABLES if has_table(version, name) and (group == "/" or name in file)]
        datasets = {name: _dataset(path, file, name, version) for name in expected}
        procedures = _procedures(path, file)
        small = {name: _whole(name, datasets.get(name)) for name in schema.DIRECT}
    except (OSError, KeyError, RuntimeError) as error:
        raise unreadable(path, error) from error
    if small["blocks"]["thread"].max(initial=0) > _LAST_THREAD:
        raise foreign(path, "a block of a thread that cannot be")
    lengths = {name: len(datasets[name]) if name in datasets else 0 for name in schema.TABLES}
    inside = np.array(file.attrs.get("inside", []), schema.INSIDE)
    return RankFile(path, group, attributes, procedures, lengths, inside=inside, **small)


def _version(path: Path, file: h5py.Group) -> int:
    version = int(file.attrs.get("schema_version", 0))
    if version < 1:
        raise foreign(path, "no attribute schema_version")
    if version > schema.VERSION:
        text = f"{path}: written in version {version} of the format; this analyzer reads up to {schema.VERSION}"
        raise TracelibError(text, "install the version of tracelib that recorded it, or a later one")
    return version


def _attributes(path: Path, file: h5py.Group, version: int) -> dict[str, int | str]:
    old = lacks(version)
    missing = [n for n in (*schema.INTEGER_ATTRIBUTES, *schema.TEXT_ATTRIBUTES) if n not in file.attrs and n not in old]
    if missing:
        raise foreign(path, f"no attribute {missing[0]}")
    numbers = {name: int(file.attrs.get(name, 0)) for name in schema.INTEGER_ATTRIBUTES}
    if not 0 <= numbers["rank"] < numbers["size"]:
        raise foreign(path, f"rank {numbers['rank']} of {numbers['size']}")
    return numbers | {name: text_of(file.attrs.get(name, b"")) for name in schema.TEXT_ATTRIBUTES}


def _procedures(path: Path, file: h5py.Group) -> tuple[str, ...]:
    """Names of the calls; in a packed run all ranks may share them."""
    names = file.get("procedures", file.file.get("procedures"))
    if not isinstance(names, h5py.Dataset):
        raise foreign(path, "no table procedures")
    return tuple(text_of(name) for name in names[:])


def _whole(name: str, dataset: h5py.Dataset | None) -> np.ndarray:
    return np.zeros(0, schema.TABLES[name]) if dataset is None else upgraded(name, dataset[:])


def _dataset(path: Path, file: h5py.Group, name: str, version: int) -> h5py.Dataset:
    dataset = file.get(name)
    if not isinstance(dataset, h5py.Dataset):
        raise foreign(path, f"no table {name}")
    if dataset.dtype != dtype_of(version, name) or dataset.ndim != 1:
        raise foreign(path, f"table {name} has other columns: written by another version?")
    return dataset


def text_of(value: bytes | str) -> str:
    """A fixed-length string of the file."""
    text = value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
    return text.split("\0", 1)[0]
