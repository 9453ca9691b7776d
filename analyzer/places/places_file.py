"""Storage of the names of a run's places: an HDF5 file beside the run, or a group of a packed run."""

from __future__ import annotations

import os
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path

import h5py
import numpy as np

from analyzer.atomic_file import temporary_name
from analyzer.places.debug_files import user_cache
from analyzer.places.modules import LoadedModule, ModuleState
from analyzer.places.name_cache import ModuleNames, NameCache
from analyzer.places.name_table import FRAME, PlaceFrames, joined
from analyzer.signal_handling import discard
from tracelib.schema.sound import SoundAttributes, is_sound

VERSION = 2
"""Version of the format. Version 2 added functions with a begin but without a name, and which modules are tools."""
FILE = "places.h5"
GROUP = "places"

_MODULE = np.dtype([("count", "<u4"), ("state", "<u4"), ("build_id", "S40"), ("is_tool", "u1")])
"""Record of a module.

`count`: number of its places, which follow the places of the module before. `is_tool`: since version 2.
"""
_PLACE = np.dtype([("offset", "<u8"), ("frames", "<u4")])
"""Record of a place. `frames`: number of its frames, which follow the frames of the place before."""
_DAMAGED = (OSError, KeyError, RuntimeError, ValueError, TypeError, IndexError, AttributeError)
_MOST_COMPRESSED = 1032
"""Largest ratio of compression. Deflate (RFC 1951) cannot compress any better."""
_COMPRESSED = {"compression": "gzip", "shuffle": True}


def places_file(ranks_folder: Path) -> Path:
    """Return the path of the file of names in a run's folder of rank files."""
    return ranks_folder / FILE


def cached_file(run: Path) -> Path:
    """Return the path of the file of names in the user's cache, for a run whose folder cannot be written."""
    return user_cache() / "tracelib" / "places" / f"{sha256(os.fsencode(run.resolve())).hexdigest()[:32]}.h5"


def read_names(paths: Iterable[Path]) -> NameCache:
    """Read and join several files of names.

    A later file wins over an earlier one. Missing or damaged files are skipped.
    """
    known = NameCache()
    for path in paths:
        try:
            with h5py.File(path, "r", locking=False) as file:
                known.update(from_group(file[GROUP]))
        except _DAMAGED:
            continue
    return known


def packed_names(path: Path) -> list[ModuleNames]:
    """Return the names that a packed run contains. Empty: there are none, or they are damaged."""
    return list(read_names([path]).modules.values())


def write_names(known: NameCache, paths: Iterable[Path]) -> Path | None:
    """Write a file of names to the first of these paths that can be written, completely or not at all.

    Returns:
        The path that was written. None: none could be written.
    """
    for path in paths:
        part = temporary_name(path)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with h5py.File(part, "w", libver="latest") as file:
                to_group(known, file.create_group(GROUP))
            part.replace(path)
            return path
        except OSError:
            continue
        finally:
            discard(part)
    return None


def to_group(known: NameCache, group: h5py.Group) -> None:
    """Write all names into an empty group of an open HDF5 file."""
    found = list(known.modules.values())
    names = joined([module.names for module in found])
    places = np.empty(len(names), _PLACE)
    places["offset"] = np.concatenate([np.empty(0, np.uint64), *(module.offsets for module in found)])
    places["frames"] = np.diff(names.first)
    modules = [(len(each.offsets), each.state, each.module.build_id.encode(), each.is_tool) for each in found]
    group.attrs["version"] = VERSION
    group.create_dataset("modules", data=np.array(modules, _MODULE))
    for name, texts in (("paths", [m.module.path for m in found]), ("stamps", [m.stamp for m in found])):
        _write_texts(group, name, texts)
    group.create_dataset("places", data=places, **_compressed(places))
    group.create_dataset("frames", data=names.frames, **_compressed(names.frames))
    _write_texts(group, "texts", names.texts)


def from_group(group: h5py.Group) -> list[ModuleNames]:
    """Read the names in a group of an open HDF5 file. Empty: the format is of a later version.

    Raises:
        ValueError: The group is damaged. h5py raises further exceptions for damaged files.
    """
    version = int(SoundAttributes(group)["version"])
    if version > VERSION:
        return []
    modules, places, frames = (_rows(group[name]) for name in ("modules", "places", "frames"))
    paths, stamps, texts = (_read_texts(group, name) for name in ("paths", "stamps", "texts"))
    first = np.concatenate([[0], np.cumsum(places["frames"].astype(np.int64))])
    frames = frames.astype(FRAME)
    if first[-1] != len(frames) or modules["count"].sum() != len(places) or len(texts) == 0:
        raise ValueError("counts of places do not fit")
    if len(frames) and max(frames["function"].max(), frames["file"].max()) >= len(texts):
        raise ValueError("a frame names a text that is not there")
    all_names, found, begin = PlaceFrames(first, frames, tuple(texts)), [], 0
    for row, path, stamp in zip(modules, paths, stamps, strict=True):
        rows = np.arange(begin, begin + int(row["count"]))
        module = LoadedModule(path, row["build_id"].decode("ascii", "replace"))
        order = rows[np.argsort(places["offset"][rows], kind="stable")]
        names = all_names.take(order)
        is_tool = bool(row["is_tool"]) if version > 1 else False
        found.append(
            ModuleNames(module, places["offset"][order], names, ModuleState(int(row["state"])), stamp, is_tool)
        )
        begin += len(rows)
    return found


def _compressed(rows: np.ndarray) -> dict[str, object]:
    return _COMPRESSED if len(rows) else {}


def _write_texts(group: h5py.Group, name: str, texts: Iterable[str]) -> None:
    """Write texts of any length as a table of bytes, with a zero byte after each text."""
    data = np.frombuffer("".join(f"{text}\0" for text in texts).encode("utf-8", "replace"), np.uint8)
    group.create_dataset(name, data=data, **_compressed(data))


def _read_texts(group: h5py.Group, name: str) -> list[str]:
    return _rows(group[name]).astype(np.uint8).tobytes().decode("utf-8", "replace").split("\0")[:-1]


def _rows(table: h5py.Dataset) -> np.ndarray:
    """Return all rows of a table.

    Raises:
        ValueError: The table claims more rows than were stored, or its type is not supported.
    """
    if not is_sound(table.id.get_type()):
        raise ValueError(f"{table.name} has a type that cannot be")
    if table.nbytes > table.id.get_storage_size() * _MOST_COMPRESSED:
        raise ValueError(f"{table.name} has rows that were never written")
    return table[:]
