"""Links in run.h5: the file of each rank, or its group in a packed run."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import h5py
from h5py import h5l

from analyzer.errors import TracelibError
from analyzer.recording.rank_file.file import unreadable
from analyzer.recording.rank_file.limited import opened
from analyzer.recording.rank_file.tables import DAMAGED, whole_number
from analyzer.signal_handling import called_from_c
from analyzer.trace.read_sizes import DEFAULT_SIZES, ReadSizes
from tracelib import schema
from tracelib.schema.sound import SoundAttributes

MOST_LINKS = 65000
"""Number of ranks from which on the tracer writes no links into run.h5 (csrc/generate/links.py)."""

MOST_BYTES = 1 << 26
"""Size of run.h5 in bytes below which many links are found by a search of its bytes."""

Place = tuple[str, str]
"""Path of the file in which a rank is, and the rank's group in that file; "/" if the file has only this rank."""


def ranks_named_in(path: Path, sizes: ReadSizes = DEFAULT_SIZES) -> list[Place] | None:
    """Return the place of each rank of a run.h5: a file that it names, or a group in run.h5 itself.

    Returns:
        Path and group of each rank. None: it is no run.h5, but may be a rank file.

    Raises:
        TracelibError: The file is empty, damaged, no trace, or of a later version of the format.
    """
    if path.stat().st_size == 0:
        raise TracelibError(
            f"{path}: is empty", "the run ended before anything was written; analyze its folder .ranks, if there is one"
        )
    try:
        with opened(path) as file:
            group = file.get("ranks")
            if not isinstance(group, h5py.Group):
                if "calls" in file:
                    return None
                raise TracelibError(f"{path}: not a trace of tracelib", "give run.h5, the folder run.ranks, or a .prv")
            given = SoundAttributes(file)
            _check_version(path, given)
            return _linked(path, group, whole_number(given, "size"), sizes)
    except DAMAGED as error:
        raise unreadable(path, error) from error


def _check_version(path: Path, given: SoundAttributes) -> None:
    version = whole_number(given, "schema_version") if "schema_version" in given else 0
    if not 1 <= version <= schema.VERSION:
        raise TracelibError(
            f"{path}: it has file format {version}, and this program reads 1 to {schema.VERSION}", "update tracelib"
        )


def _linked(path: Path, group: h5py.Group, size: int, sizes: ReadSizes) -> list[Place]:
    """Return the place of each rank: as run.h5 says, or for a rank that it does not name, where its file usually is.

    Files are beside run.h5. If run.h5 is a symbolic link, they may also be beside the file that it points to.
    """
    links, folder = group.id.links, str(path.parent)
    there = str(path.resolve().parent) if path.is_symlink() else None
    kinds: dict[bytes, int] = {}
    links.iterate(called_from_c(lambda name, info: kinds.__setitem__(name, info.type)), info=True)
    if size > len(kinds) and len(kinds) < MOST_LINKS:
        raise ValueError(f"it names {len(kinds)} ranks of {size}")
    external = [name for name, kind in kinds.items() if kind == h5l.TYPE_EXTERNAL]
    named = files_named_by(path, links, external, sizes.searched_links)
    places = []
    for rank in range(size):
        name = f"{rank:06d}"
        if kinds.get(name.encode()) == h5l.TYPE_HARD:
            places.append((str(path), f"ranks/{name}"))
            continue
        file = named.get(name.encode(), f"{path.stem}.ranks/{name}.h5")
        place = _beside(folder, file)
        places.append((_beside(there, file) if there and not Path(place).exists() else place, "/"))
    return places


def files_named_by(path: Path, links: Any, names: Sequence[bytes], many: int) -> dict[bytes, str]:
    """Return the file that each external link names.

    For each link HDF5 searches all links. So from `many` links on, names are searched in the file's bytes:
    FOLDER/NAME.h5 for each link NAME, with the FOLDER of the first link.

    Args:
        path: run.h5.
        links: h5py's low-level links of the group.
        names: Names of the external links.
        many: Number of links from which on the bytes are searched.
    """
    if not names:
        return {}
    first = links.get_val(names[0])[0]
    folder, slash, _ = first.rpartition(b"/")
    written: set[bytes] = set()
    if len(names) >= many and path.stat().st_size < MOST_BYTES:
        written = set(re.findall(re.escape(folder + slash) + rb"(\d+)\.h5\0", path.read_bytes()))
    found = {name: folder + slash + name + b".h5" if name in written else links.get_val(name)[0] for name in names}
    return {name: os.fsdecode(file) for name, file in found.items()}


def _beside(folder: str, file: str) -> str:
    """Join folder and file. Path objects would take longer for thousands of files."""
    return file if file.startswith("/") else f"{folder}/{file}"
