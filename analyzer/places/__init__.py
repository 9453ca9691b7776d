"""Names of places in a program (function, file, line) for the call paths of a run.

A path is a chain of return addresses. `naming` finds functions, files and lines for addresses of one module, from debug
information or symbols, and does not depend on runs. `name_cache` and `places_file` store these names. `paths` merges
the paths of all ranks into one table, and `place_table` answers questions about it.
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
    """Return the places of a run, and look up the names that are not known yet.

    Args:
        tables: Call paths of the run.
        files: Files of names. Known names are read from all of them; new names are written to the first writable one.
        ended_ns: Time at which the run ended, in ns since 1970. None: unknown.
        packed: Names that are stored in the run itself.
    """
    known = NameCache()
    known.update([*packed, *read_names(files).modules.values()])
    if look_up(tables, known, ended_ns):
        write_names(known, files)
    return Places(tables, known)
