"""What the return addresses and lines in some paths are called, and which of their frames a person asks about."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from analyzer.places.frames import Frame, Frames
from analyzer.places.known import Known
from analyzer.places.names import MOST, Names, joined
from analyzer.places.owners import (
    is_import,
    is_interpreter,
    is_mpi_function,
    is_mpi_library,
    is_runtime_library,
    is_start_code,
)
from analyzer.places.paths import PathTables, numbered_sites, text_of
from analyzer.places.readable import is_fortran
from tracelib.schema import PATH_CUT, PATH_IN_FUNCTION, PATH_SHORT

NOT_RECORDED, NOT_KNOWN = "(not recorded)", "(not known)"
"""Functions of PATH_CUT and PATH_SHORT, and of PATH_LOST."""


@dataclass(frozen=True)
class Sites:
    """The different (module, offset) of some paths."""

    of_path: np.ndarray  # for each path its site
    module: np.ndarray  # of each site: what `module` of its paths is
    names: Names  # each site has at least one frame, but that of row 0
    of_frame: np.ndarray  # for each row of names.frames its site
    hidden: np.ndarray  # for each row of names.frames: whether it is never shown: MPI's, a binding's, an interpreter's
    mpi: np.ndarray  # whether it is MPI's, a binding's, or tracelib's own
    runtime: np.ndarray  # whether it calls back, or starts programs and threads: no place, and no outermost frame


def named_sites(tables: PathTables, known: Known) -> Sites:
    """The sites of all paths, with the names that are known."""
    rows, of_path = numbered_sites(tables.paths)
    places = tables.paths[rows]
    modules, begins = np.unique(places["module"], return_index=True)  # sites are in the order of their modules
    offsets = np.split(places["offset"], begins[1:])
    parts = [_names_in(*part, tables, known) for part in zip(modules.tolist(), offsets, strict=True)]
    names = joined(parts)
    of_frame = np.repeat(np.arange(len(names)), np.diff(names.first))
    module = places["module"].astype(np.int64)
    return Sites(of_path, module, names, of_frame, *_roles(tables, names, module[of_frame]))


def _names_in(module: int, offsets: np.ndarray, tables: PathTables, known: Known) -> Names:
    if module & PATH_IN_FUNCTION:
        row = tables.functions[module & (PATH_IN_FUNCTION - 1)]
        function, file = text_of(row["name"]), text_of(row["file"])
        return Names.of((Frame(function, file, line if line <= MOST else 0),) for line in offsets.tolist())
    if module == 0:
        return Names.of(_ended(offset) for offset in offsets.tolist())
    found = known.of(tables.module(module))
    names = found.names.take(found.find(offsets))
    unnamed = names.unnamed()
    past = np.zeros(len(offsets), np.int64)
    has_begin = np.diff(names.first) > 0
    past[has_begin] = names.frames["past"][names.first[:-1][has_begin]]
    name = found.module.name
    addresses = Names.of(
        (Frame(f"{name}+{offset - behind:#x}", past=behind),)
        for offset, behind in zip(offsets[unnamed].tolist(), past[unnamed].tolist(), strict=True)
    )
    both = np.arange(len(names))
    both[unnamed] = len(names) + np.arange(len(addresses))
    return joined([names, addresses]).take(both)


def _ended(offset: int) -> Frames:
    return (Frame(NOT_RECORDED if offset in (PATH_CUT, PATH_SHORT) else NOT_KNOWN),) if offset else ()


def _roles(tables: PathTables, names: Names, module: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """`hidden`, `mpi` and `runtime` of each frame; `module`: what its site is in."""
    in_function = module & PATH_IN_FUNCTION != 0
    row = np.where(in_function, 0, module)
    paths = [text_of(path) for path in tables.modules["path"]]
    function, file = names.frames["function"], names.frames["file"]
    starts = _flags(names.texts, is_start_code)[function]
    mpi = _flags(paths, is_mpi_library)[row] | (in_function & _flags(names.texts, is_mpi_library)[file])
    mpi |= _flags(names.texts, is_mpi_function)[function]
    interpreter = _flags(paths, is_interpreter)[row] & (len(tables.functions) > 1)
    interpreter |= in_function & _flags(names.texts, is_import)[file]
    main = _flags(names.texts, "main".__eq__)[function] & _flags(names.texts, is_fortran)[file]
    return mpi | starts | interpreter, mpi, starts | main | _flags(paths, is_runtime_library)[row]


def _flags(texts: list[str] | tuple[str, ...], test: Callable[[str], bool]) -> np.ndarray:
    return np.array([test(text) for text in texts], bool)
