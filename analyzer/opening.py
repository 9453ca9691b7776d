"""Functions that open a trace of any known format (analyzer.sources.registry), by its contents and not by its name."""

from __future__ import annotations

import gzip
import os
import zlib
from difflib import get_close_matches
from pathlib import Path

from analyzer.errors import TracelibError
from analyzer.parallel import Team
from analyzer.sources import own_run, registry
from analyzer.trace import Trace
from analyzer.trace.chosen import Choice
from analyzer.trace.read_options import ReadOptions
from analyzer.trace.read_sizes import DEFAULT_SIZES, ReadSizes

_GZIP = b"\x1f\x8b"
_ALIKE = 0.75
"""Similarity by difflib from which on two names may be mistaken for each other: three of four letters agree."""


def open_trace(
    path: str | os.PathLike[str],
    team: Team | None = None,
    repair_ns: int | None = None,
    *,
    impossible: bool = False,
    choice: Choice | None = None,
    matched: bool = True,
    sizes: ReadSizes = DEFAULT_SIZES,
) -> Trace:
    """Open a trace of any known format: a measured run, a foreign trace, or the operations of a Dimemas trace.

    A Dimemas trace gets the times of its ideal replay.

    Args:
        path: A file, or the folder run.ranks.
        team: Processes that read it together; all must call this.
        repair_ns: As in `ReadOptions`.
        impossible: As in `ReadOptions`.
        choice: Only these ranks, or these bursts; in the others the threads are idle.
        matched: As in `ReadOptions`.
        sizes: As in `ReadOptions`.

    Raises:
        TracelibError: The file is missing, unreadable, empty, truncated or foreign; in one clear line.
    """
    cluster = choice.cluster if choice else 0
    ranks = choice if choice and choice.stretches else None
    options = ReadOptions(repair_ns=repair_ns, impossible=impossible, choice=ranks, matched=matched, sizes=sizes)
    opened = _opened(Path(path), team or Team(), options)
    if not cluster:
        return opened
    from analyzer.burst_clusters.views import only_cluster

    try:
        return only_cluster(opened, cluster)
    except TracelibError:
        opened.close()
        raise


def _opened(path: Path, team: Team, options: ReadOptions) -> Trace:
    try:
        head = b"" if path.is_dir() else _first_bytes(path)
        if source := registry.source_of(path, head):
            return registry.open_by(source, path, team, options)
    except FileNotFoundError as error:
        raise TracelibError(f"{path}: no such file", _hint_at(path)) from error
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise TracelibError(f"{path} is a damaged or truncated gzip file") from error
    except OSError as error:
        raise TracelibError(f"cannot read {path}: {error.strerror or error}") from error
    if path.is_dir():
        raise TracelibError(f"{path} is a folder without rank files", registry.expected_text())
    raise TracelibError(f"{path} is {'not a trace' if head else 'empty'}", registry.expected_text())


def _hint_at(path: Path) -> str:
    """Suggest what could be meant by the name of a file that does not exist."""
    ranks = path.with_suffix(".ranks")
    if path.suffix == ".h5" and ranks.is_dir():
        return f"rank 0 did not write it, but there is {ranks}: analyze that"
    if not path.parent.is_dir():
        return f"there is no folder {path.parent}"
    near = near_file(path)
    return f"did you mean {near}?" if near else registry.expected_text()


def near_file(path: Path) -> Path | None:
    """Find the trace beside `path` whose name, with or without ending, is most like its own; None: none is like it."""
    try:
        names = sorted(file.name for file in path.parent.iterdir() if file.name.endswith(registry.endings()))
    except OSError:
        return None
    stems = {name.partition(".")[0]: name for name in reversed(names)}
    for wanted, known in ((path.name, dict(zip(names, names, strict=True))), (path.stem, stems)):
        if close := get_close_matches(wanted, known, n=1, cutoff=_ALIKE):
            return path.with_name(known[close[0]])
    return None


def foreign_trace(path: str | os.PathLike[str]) -> str:
    """Name the format of a trace that is no run of tracelib; "" for a run, and for a file that cannot be read."""
    try:
        source = registry.source_of(Path(path), _first_bytes(Path(path)))
    except (OSError, EOFError, zlib.error):
        return ""
    return "" if source is None or source.is_own else source.title


def is_network(path: str | os.PathLike[str]) -> bool:
    """Return whether a file is a measurement of the network (tracelib-net); False for one that cannot be read."""
    return own_run.is_network(Path(path))


def _first_bytes(path: Path) -> bytes:
    """Read the first bytes of a file, decompressed if it is gzip."""
    with path.open("rb") as file:
        head = file.read(registry.HEAD_BYTES)
    if not head.startswith(_GZIP):
        return head
    with gzip.open(path) as file:
        return file.read(registry.HEAD_BYTES)
