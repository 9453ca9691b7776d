"""Places in a program: names for the call paths of a run.

A path is a chain of return addresses. `naming` finds functions, files and lines for addresses of one module, by debug
information or symbols, and does not depend on runs. `name_cache` and `places_file` keep them. `paths` makes one table
of the paths of all ranks, and `place_table` answers questions about it.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from analyzer.places.lookup import look_up
from analyzer.places.name_cache import ModuleNames, NameCache
from analyzer.places.paths import PathTables, merged_paths
from analyzer.places.place_table import Places
from analyzer.places.places_file import GROUP as PLACES
from analyzer.places.places_file import (
    cached_file,
    from_group,
    packed_names,
    places_file,
    read_names,
    to_group,
    write_names,
)

__all__ = [
    "PLACES",
    "ModuleNames",
    "NameCache",
    "PathTables",
    "Places",
    "cached_file",
    "from_group",
    "look_up",
    "merged_paths",
    "named_places",
    "packed_names",
    "places_file",
    "read_names",
    "to_group",
    "write_names",
]


def named_places(
    tables: PathTables, files: Sequence[Path], ended_ns: int | None = None, packed: Sequence[ModuleNames] = ()
) -> Places:
    """Return the places of a run.

    Known names are read from `files` and `packed`; names that are new go to the first of `files` that can be written.

    `ended_ns`: when the run ended (since 1970), or None.
    """
    known = NameCache()
    known.update([*packed, *read_names(files).modules.values()])
    if look_up(tables, known, ended_ns):
        write_names(known, files)
    return Places(tables, known)
