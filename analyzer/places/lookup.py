"""Search for names of all places of a run's paths that are not known yet."""

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
    """Add names of the places of `tables` to `known`. Returns whether there is anything new.

    `ended_ns`: when the run ended (since 1970), or None; `folders`: of debug information.
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
    """Look into the file, but only if there may be more in it than is known."""
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
    """Leave out the debug information, which can be large, of libraries that are shown by function only."""
    if is_shown_in_detail(module.path):
        return found
    return replace(found, debug_file=None, state=min(found.state, ModuleState.NO_DEBUG_INFO))
