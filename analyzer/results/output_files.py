"""Names of output files, and checks that existing files may be replaced."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from analyzer.atomic_file import cannot_write
from analyzer.errors import TracelibError
from analyzer.sources.registry import without_ending

if TYPE_CHECKING:  # rich takes as long to import as click: only who prints pays for it
    from analyzer.trace import Trace


def stem(path: Path) -> str:
    """Return the name of a trace without folder and endings: "run" for run.h5, run.ranks and run.prv.gz."""
    name = path.resolve().name if path.name in ("", ".", "..") else path.name
    return without_ending(name)


def output_base(trace_path: Path, output: str | None, endings: tuple[str, ...] = ()) -> Path:
    """Return the path without ending for output files of a trace.

    Args:
        trace_path: Path of the trace.
        output: Folder or name that the user asked for (-o). None: the folder and name of the trace.
        endings: Endings that are removed from a name that the user asked for.
    """
    if not output:
        return trace_path.parent / stem(trace_path)
    chosen = Path(output)
    if chosen.is_dir():
        return chosen / stem(trace_path)
    for ending in endings:
        if chosen.name.endswith(ending) and chosen.name != ending:
            return chosen.with_name(chosen.name.removesuffix(ending))
    return chosen


def is_imported(trace: Trace) -> bool:
    """Return True if the trace is not a run of tracelib, but for example a .prv or .dim."""
    return trace.origin.imported or not trace.has_call_times


def check_writable(path: Path, trace: Trace, force: bool) -> None:
    """Raise TracelibError if writing `path` would destroy the trace that was read, or a file of another program.

    With `force`, files of other programs may be replaced.
    """
    check_replaceable(path, files_read(trace), force)


def check_replaceable(path: Path, sources: list[Path], force: bool) -> None:
    """Raise TracelibError if writing `path` would destroy one of `sources`, or a file of another program.

    With `force`, files of other programs may be replaced.
    """
    if any(_same(path, read) for read in sources):
        raise TracelibError(f"{path} is part of the trace that is read", "name another output with -o NAME")
    if path.is_dir():
        raise TracelibError(f"{path} is a folder", "name another output with -o NAME")
    try:
        os.stat(f"{path.parent}/.")  # noqa: PTH116, of a folder: a Path drops the dot
    except OSError as error:
        raise cannot_write(path, error) from error
    if not force and path.is_file() and not _is_derived(path):
        raise TracelibError(f"{path} exists and is not a {path.suffix} file", "name another output, or use --force")


def files_read(trace: Trace) -> list[Path]:
    """List the files that a trace was read from."""
    path = Path(trace.path)
    if not trace.origin.imported:
        return [path]
    base = path.parent / stem(path)
    return [path, base.with_name(base.name + ".pcf"), base.with_name(base.name + ".row")]


def _same(path: Path, other: Path) -> bool:
    return path.exists() and other.exists() and path.samefile(other)


_BEGINNINGS = {
    ".prv": (b"#Paraver",),
    ".dim": (b"#DIMEMAS",),
    ".pcf": (b"DEFAULT_OPTIONS", b"#"),
    ".row": (b"LEVEL",),
    ".cfg": (b"#ParaverCFG",),
    ".json": (b'{\n  "format": "tracelib-', b'{"schemaVersion": 1, '),
    ".pftrace": (b"\x04\x50\x01\x68\x01",),  # after the line feed that it begins with
    ".png": (b"\x89PNG",),
    ".svg": (b'<?xml version="1.0" encoding="utf-8"', b'<?xml version="1.0" encoding="UTF-8"?>\n<svg'),
    ".html": (b"<!doctype html>\n<!-- analyze report -->",),
    ".csv": (b"begin_ns,", b"region,", b"kind,", b"family,", b"view,"),
    ".parquet": (b"PAR1",),
    ".xml": (b'<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE cll_data',),
    ".c": (b"#include <math.h>\n\n/* ",),
    ".py": (b"import math\n\n\ndef model_",),
    ".tex": (b"\\mathit{",),
    ".toml": (b"# Fitted by analyze fit-machine",),
    ".plan": (b"tracelib-plan ", b'# TRACELIB_COUNTERS="'),
    ".swf": (b"; Note: simulated by analyze",),
}


def _is_derived(path: Path) -> bool:
    """Return True if the file is empty, or begins like the files with this ending that analyze writes."""
    try:
        with path.open("rb") as file:
            begin = file.read(64).lstrip()
    except OSError as error:
        raise TracelibError(f"cannot read {path}: {error.strerror}", "name another output with -o NAME") from error
    return not begin or begin.startswith(_BEGINNINGS.get(path.suffix, (b"",)))


def checked_picture(picture: str | None, inputs: Sequence[str], force: bool) -> Path | None:
    """Check the path of a picture before anything is computed, and return it. None: no picture is asked for.

    Args:
        picture: Path of a .png or .svg. None: no picture.
        inputs: Files that are read.
        force: Whether a file of another program may be replaced.

    Raises:
        TracelibError: The path has another ending, or must not be replaced.
    """
    if picture is None:
        return None
    path = Path(picture)
    if path.suffix not in (".png", ".svg"):
        raise TracelibError(f"{path}: no kind of picture that is known", "its name ends in .png or .svg")
    check_replaceable(path, [Path(name) for name in inputs], force)
    return path
