"""The names of a run's places in an HDF5 file beside it, or in a group of a packed run."""

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
"""2: frames of functions that have no name, but a begin; which modules are tools."""
FILE = "places.h5"
GROUP = "places"

_MODULE = np.dtype([("count", "<u4"), ("state", "<u4"), ("build_id", "S40"), ("is_tool", "u1")])
"""Module in the file. `count`: number of its places, behind the module before it. `is_tool`: from version 2 on."""
_PLACE = np.dtype([("offset", "<u8"), ("frames", "<u4")])
"""Place in the file. `frames`: number of its frames, behind the frames of the place before it."""
_DAMAGED = (OSError, KeyError, RuntimeError, ValueError, TypeError, IndexError, AttributeError)
_MOST_COMPRESSED = 1032
"""RFC 1951 makes nothing smaller than that part of it."""
_COMPRESSED = {"compression": "gzip", "shuffle": True}


def places_file(ranks_folder: Path) -> Path:
    """Return the file of names in the folder of a run's ranks."""
    return ranks_folder / FILE


def cached_file(run: Path) -> Path:
    """Return the file of names in the user's cache, for a run whose folder cannot be written."""
    return user_cache() / "tracelib" / "places" / f"{sha256(os.fsencode(run.resolve())).hexdigest()[:32]}.h5"


def read_names(paths: Iterable[Path]) -> NameCache:
    """Read files of names together; a later file's are better. A missing or damaged file has none."""
    known = NameCache()
    for path in paths:
        try:
            with h5py.File(path, "r", locking=False) as file:
                known.update(from_group(file[GROUP]))
        except _DAMAGED:
            continue
    return known


def packed_names(path: Path) -> list[ModuleNames]:
    """Return the names that a packed run holds; none if it has none, or they are damaged."""
    return list(read_names([path]).modules.values())


def write_names(known: NameCache, paths: Iterable[Path]) -> Path | None:
    """Write a file of names in the first of these places that can be written, whole or not at all; None: in none."""
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
    """Write all names into an empty group of an open file."""
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
    """Read the names in a group of an open file; none of a later version. A damaged one raises h5py's errors."""
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
    """Write texts of any length as bytes, each with a zero behind it."""
    data = np.frombuffer("".join(f"{text}\0" for text in texts).encode("utf-8", "replace"), np.uint8)
    group.create_dataset(name, data=data, **_compressed(data))


def _read_texts(group: h5py.Group, name: str) -> list[str]:
    return _rows(group[name]).astype(np.uint8).tobytes().decode("utf-8", "replace").split("\0")[:-1]


def _rows(table: h5py.Dataset) -> np.ndarray:
    """Return all rows of a table.

    Raises ValueError if there are more rows than were written, or if their type is none of ours.
    """
    if not is_sound(table.id.get_type()):
        raise ValueError(f"{table.name} has a type that cannot be")
    if table.nbytes > table.id.get_storage_size() * _MOST_COMPRESSED:
        raise ValueError(f"{table.name} has rows that were never written")
    return table[:]
