"""Search for the names of all places of a run's paths that are not known yet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from analyzer.places.debug_files import DEBUG_FOLDERS
from analyzer.places.hidden_frames import BEGINNINGS, is_shown_in_detail
from analyzer.places.modules import FoundModule, LoadedModule, ModuleState, find_module
from analyzer.places.name_cache import ModuleNames, NameCache
from analyzer.places.name_table import BY_DEBUG_INFO, PlaceFrames
from analyzer.places.naming import name_places, readers
from analyzer.places.paths import PathTables, numbered_sites
from tracelib.schema import PATH_IN_FUNCTION


def look_up(
    tables: PathTables, known: NameCache, ended_ns: int | None = None, folders: Sequence[str] = DEBUG_FOLDERS
) -> bool:
    """Look up names of the places of `tables`, and add them to `known`.

    Args:
        tables: Call paths of the run.
        known: Names that are known; new names are added here.
        ended_ns: Time at which the run ended, in ns since 1970. None: unknown.
        folders: Folders with installed debug information.

    Returns:
        Whether names were added.
    """
    sites, _ = numbered_sites(tables.paths)
    places = tables.paths[sites]
    in_module = places[(places["module"] > 0) & (places["module"] & PATH_IN_FUNCTION == 0)]
    new = False
    for row in np.unique(in_module["module"]):
        offsets = np.unique(in_module["offset"][in_module["module"] == row])
        new |= _look_up(tables.module(int(row)), offsets, known, ended_ns, folders)
    return new


def _look_up(
    module: LoadedModule, offsets: np.ndarray, known: NameCache, ended_ns: int | None, folders: Sequence[str]
) -> bool:
    """Look up names in the file of one module, only if the file may have better names than the known ones."""
    have = known.module_names(module)
    at = have.find(offsets)
    poor = at < 0
    poor[~poor] = have.names.quality()[at[~poor]] < BY_DEBUG_INFO
    if not poor.any():
        return False
    found = _without_details(module, find_module(module, ended_ns, folders))
    known.here[module.identity] = found.state
    stamp = f"{found.stamp} {readers()}"
    asked = offsets[at < 0 if stamp == have.stamp else poor]
    if found.elf is None or not len(asked):
        return False
    state, frames = name_places(found, asked)
    names = PlaceFrames.build(frames)
    better = np.flatnonzero(~names.unnamed() | ~np.isin(asked, have.offsets[have.names.quality() > 0]))
    is_tool = found.elf.offers(BEGINNINGS)
    known.add(ModuleNames(module, asked[better], names.take(better), state, stamp, is_tool))
    known.here[module.identity] = state
    return True


def _without_details(module: LoadedModule, found: FoundModule) -> FoundModule:
    """Drop the debug information, which can be large, of a library whose source lines are not shown."""
    if is_shown_in_detail(module.path):
        return found
    return replace(found, debug_file=None, state=min(found.state, ModuleState.NO_DEBUG_INFO))
