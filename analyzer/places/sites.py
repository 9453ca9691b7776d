"""Names of the addresses and lines that occur in paths, and which of their frames belong to the program."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from analyzer.places.hidden_frames import (
    is_import,
    is_interpreter,
    is_mpi_function,
    is_mpi_library,
    is_runtime_library,
    is_start_code,
    is_wrapper,
)
from analyzer.places.name_cache import NameCache
from analyzer.places.name_table import MOST, Frame, Frames, PlaceFrames, joined
from analyzer.places.paths import PathTables, numbered_sites, text_of
from analyzer.places.readable_names import is_fortran
from tracelib.schema import PATH_CUT, PATH_IN_FUNCTION, PATH_SHORT

NOT_RECORDED, NOT_KNOWN = "(not recorded)", "(not known)"
"""Function names shown for missing callers: NOT_RECORDED for PATH_CUT and PATH_SHORT, NOT_KNOWN for PATH_LOST."""


@dataclass(frozen=True)
class Sites:
    """Sites of paths: the distinct pairs (module, offset), each once.

    Code that another MPI tool calls, between the program and MPI, is a site of its own, so that it can be hidden there.

    Attributes:
        of_path: Site of each path.
        module: Module column of each site's paths.
        names: Frames of each site; only site 0 has none.
        of_frame: Site of each frame.
        hidden, mpi, runtime: Masks of frames; the comments say what each marks.
    """

    of_path: np.ndarray  # (paths,): site of each path
    module: np.ndarray  # (sites,): column `module` of the site's paths
    names: PlaceFrames  # each site but site 0 has at least one frame
    of_frame: np.ndarray  # (frames,): site of each row of names.frames
    hidden: np.ndarray  # (frames,): never shown: MPI, a binding, start code, an interpreter
    mpi: np.ndarray  # (frames,): belongs to MPI, a binding or tracelib
    runtime: np.ndarray  # (frames,): starts programs or threads, or calls back: not a place, not an outermost frame


def named_sites(tables: PathTables, known: NameCache) -> Sites:
    """Return the sites of all paths with the names that are known."""
    rows, of_path = numbered_sites(tables.paths)
    places = tables.paths[rows]
    modules, begins = np.unique(places["module"], return_index=True)  # sites are in the order of their modules
    offsets = np.split(places["offset"], begins[1:])
    parts = [_names_in(*part, tables, known) for part in zip(modules.tolist(), offsets, strict=True)]
    names = joined(parts)
    module = places["module"].astype(np.int64)
    wrapped = _wrapped(tables, names, module, of_path)
    again, number = np.unique(of_path[wrapped], return_inverse=True)
    every = np.concatenate([np.arange(len(names)), again])
    of_path = of_path.copy()
    of_path[wrapped] = len(names) + number
    inside = np.arange(len(every)) >= len(names)
    names, module = names.take(every), module[every]
    of_frame = _site_of_frame(names)
    hidden, mpi, runtime = _roles(tables, known, names, module[of_frame])
    in_tool = inside[of_frame] | _inlined_in_wrapper(names)
    return Sites(of_path, module, names, of_frame, hidden | in_tool, mpi | in_tool, runtime)


def _site_of_frame(names: PlaceFrames) -> np.ndarray:
    return np.repeat(np.arange(len(names)), np.diff(names.first))


def _is_wrapper(names: PlaceFrames) -> np.ndarray:
    """Return a mask of the frames whose function is named like an MPI procedure."""
    return _flags(names.texts, is_wrapper)[names.frames["function"]]


def _inlined_in_wrapper(names: PlaceFrames) -> np.ndarray:
    """Return a mask of the frames that were inlined into a function named like an MPI procedure."""
    of_frame, wrappers = _site_of_frame(names), np.flatnonzero(_is_wrapper(names))
    outermost = np.full(len(names), -1)
    outermost[of_frame[wrappers]] = wrappers  # the last assignment wins: the outermost wrapper
    return np.arange(len(of_frame)) < outermost[of_frame]


def _wrapped(tables: PathTables, names: PlaceFrames, module: np.ndarray, of_path: np.ndarray) -> np.ndarray:
    """Return a mask of the paths whose innermost place is called by the MPI wrapper of another tool.

    The wrapper is a function named like an MPI procedure, outside the libraries of MPI; so the place belongs to the
    tool. Places inside the libraries of MPI are excluded, and the code that these libraries call back.
    """
    compiled = module & PATH_IN_FUNCTION == 0
    in_mpi = _flags([text_of(path) for path in tables.modules["path"]], is_mpi_library)[np.where(compiled, module, 0)]
    wraps = np.zeros(len(names), bool)
    wraps[_site_of_frame(names)[_is_wrapper(names)]] = True
    wraps &= compiled & ~in_mpi
    wrapped = np.zeros(len(of_path), bool)
    if not wraps.any():
        return wrapped
    parents = tables.paths["parent"].tolist()
    for path, site in enumerate(of_path.tolist()):
        parent = parents[path]
        wrapped[path] = path > 0 and not in_mpi[site] and (wrapped[parent] or wraps[of_path[parent]])
    return wrapped


def _names_in(module: int, offsets: np.ndarray, tables: PathTables, known: NameCache) -> PlaceFrames:
    if module & PATH_IN_FUNCTION:
        row = tables.functions[module & (PATH_IN_FUNCTION - 1)]
        function, file = text_of(row["name"]), text_of(row["file"])
        return PlaceFrames.build((Frame(function, file, line if line <= MOST else 0),) for line in offsets.tolist())
    if module == 0:
        return PlaceFrames.build(_ended(offset) for offset in offsets.tolist())
    found = known.module_names(tables.module(module))
    names = found.names.take(found.find(offsets))
    unnamed = names.unnamed()
    past = np.zeros(len(offsets), np.int64)
    has_begin = np.diff(names.first) > 0
    past[has_begin] = names.frames["past"][names.first[:-1][has_begin]]
    name = found.module.name
    addresses = PlaceFrames.build(
        (Frame(f"{name}+{offset - behind:#x}", past=behind),)
        for offset, behind in zip(offsets[unnamed].tolist(), past[unnamed].tolist(), strict=True)
    )
    both = np.arange(len(names))
    both[unnamed] = len(names) + np.arange(len(addresses))
    return joined([names, addresses]).take(both)


def _ended(offset: int) -> Frames:
    return (Frame(NOT_RECORDED if offset in (PATH_CUT, PATH_SHORT) else NOT_KNOWN),) if offset else ()


def _roles(
    tables: PathTables, known: NameCache, names: PlaceFrames, module: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the masks `hidden`, `mpi` and `runtime` of Sites. `module` is the module of each frame's site."""
    in_function = module & PATH_IN_FUNCTION != 0
    row = np.where(in_function, 0, module)
    paths = [text_of(path) for path in tables.modules["path"]]
    function, file = names.frames["function"], names.frames["file"]
    starts = _flags(names.texts, is_start_code)[function]
    tools = np.array([known.module_names(tables.module(number)).is_tool for number in range(len(paths))], bool)
    mpi = (tools | _flags(paths, is_mpi_library))[row] | (in_function & _flags(names.texts, is_mpi_library)[file])
    mpi |= _flags(names.texts, is_mpi_function)[function]
    interpreter = _flags(paths, is_interpreter)[row] & (len(tables.functions) > 1)
    interpreter |= in_function & _flags(names.texts, is_import)[file]
    main = _flags(names.texts, "main".__eq__)[function] & _flags(names.texts, is_fortran)[file]
    return mpi | starts | interpreter, mpi, starts | main | _flags(paths, is_runtime_library)[row]


def _flags(texts: list[str] | tuple[str, ...], test: Callable[[str], bool]) -> np.ndarray:
    return np.array([test(text) for text in texts], bool)
