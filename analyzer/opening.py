"""Opens a trace of any kind, told apart by its contents and not by its name."""

from __future__ import annotations

import gzip
import os
import zlib
from difflib import get_close_matches
from pathlib import Path

from analyzer.errors import TracelibError
from analyzer.parallel import Team
from analyzer.trace import Trace
from analyzer.trace.chosen import Choice

_HDF5 = b"\x89HDF\r\n\x1a\n"
_GZIP = b"\x1f\x8b"
_PARAVER = b"#Paraver"
_DIMEMAS = b"#DIMEMAS"
_OTF2 = b"OTF2"
_OTF2_AT = 2
"""It stands behind the kind of the file's first chunk and its byte order."""
_ENDINGS = (".h5", ".ranks", ".prv", ".prv.gz", ".dim", ".dim.gz", ".otf2")
_ALIKE = 0.75
"""How alike two names are, by difflib, that may be mistaken for each other: one letter of four."""
_EXPECTED = "expected run.h5, the folder run.ranks, a Paraver trace (.prv, .prv.gz) or a Dimemas trace (.dim)"


def open_trace(
    path: str | os.PathLike[str],
    team: Team | None = None,
    repair_ns: int | None = None,
    *,
    impossible: bool = False,
    choice: Choice | None = None,
    matched: bool = True,
) -> Trace:
    """A `Trace` of a measured run (run.h5 or its folder run.ranks), of a Paraver trace (.prv, .prv.gz), or of the
    ideal replay of a Dimemas trace (.dim, .dim.gz), which holds no times.

    `repair_ns`: move times so that no message takes less than this, and no collective ends before all have begun it.
    `impossible`: of our own runs, take time stamps that cannot be as they are (analyzer.recording.run.trace.open_run).
    `choice`: only these ranks; the others count as missing (`Losses.missing`), and `Chosen` says so. Or only these
    bursts; in the others the threads are idle.
    `matched`: a team finds the messages of our own runs now, so that each member may ask for them whenever it likes;
    else at their first use, which must be that of all members.
    Raises TracelibError with one clear line for a missing, unreadable, empty, truncated or foreign file.
    """
    cluster = choice.cluster if choice else 0
    opened = _opened(
        Path(path),
        team or Team(),
        repair_ns,
        impossible=impossible,
        choice=choice if choice and choice.stretches else None,
        matched=matched,
    )
    if not cluster:
        return opened
    from analyzer.burst_clusters.views import only_cluster

    try:
        return only_cluster(opened, cluster)
    except TracelibError:
        opened.close()
        raise


def _opened(
    path: Path, team: Team, repair_ns: int | None, *, impossible: bool, choice: Choice | None, matched: bool
) -> Trace:
    try:
        if path.is_dir():
            return _open_folder(path, team, repair_ns, impossible=impossible, choice=choice, matched=matched)
        begin = _first_bytes(path)
        if begin.startswith(_HDF5):
            if is_network(path):
                raise TracelibError(f"{path} is a measurement of the network, not a trace", f"analyze loggp {path}")
            from analyzer.recording.run.trace import open_run

            return open_run(str(path), team, repair_ns, impossible=impossible, choice=choice, matched=matched)
        is_otf2 = begin[_OTF2_AT:].startswith(_OTF2)
        if (begin.startswith((_PARAVER, _DIMEMAS)) or is_otf2) and repair_ns is not None:
            raise TracelibError(f"{path}: only runs of tracelib can be repaired", "leave out --repair-clocks")
        if begin.startswith(_PARAVER):
            from analyzer.sources.paraver.trace import open_prv

            return open_prv(path, team, choice)
        if begin.startswith(_DIMEMAS):
            from analyzer.sources.dimemas.trace import open_dim

            return open_dim(path, choice)
        if is_otf2:
            from analyzer.sources.otf2.trace import open_otf2

            if choice:
                raise TracelibError(f"{path}: an OTF2 archive is read as a whole", "leave out --ranks")
            return open_otf2(path)
    except FileNotFoundError as error:
        raise TracelibError(f"{path}: no such file", _hint_at(path)) from error
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise TracelibError(f"{path} is a damaged or truncated gzip file") from error
    except OSError as error:
        raise TracelibError(f"cannot read {path}: {error.strerror or error}") from error
    if not begin:
        raise TracelibError(f"{path} is empty", _EXPECTED)
    raise TracelibError(f"{path} is not a trace", _EXPECTED)


def _hint_at(path: Path) -> str:
    """What could be meant by the name of a file that is not there."""
    ranks = path.with_suffix(".ranks")
    if path.suffix == ".h5" and ranks.is_dir():
        return f"rank 0 did not write it, but there is {ranks}: analyze that"
    if not path.parent.is_dir():
        return f"there is no folder {path.parent}"
    near = near_file(path)
    return f"did you mean {near}?" if near else _EXPECTED


def near_file(path: Path) -> Path | None:
    """The trace beside `path` whose name, with or without its ending, is most like its own; None: none is like it."""
    try:
        names = sorted(file.name for file in path.parent.iterdir() if file.name.endswith(_ENDINGS))
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
        begin = _first_bytes(Path(path))
    except (OSError, EOFError, zlib.error):
        return ""
    kinds = ((_PARAVER, begin, "Paraver"), (_DIMEMAS, begin, "Dimemas"), (_OTF2, begin[_OTF2_AT:], "OTF2"))
    return next((name for mark, text, name in kinds if text.startswith(mark)), "")


def is_network(path: str | os.PathLike[str]) -> bool:
    """Whether a file is a measurement of the network (tracelib-net); False for one that cannot be read."""
    try:
        with Path(path).open("rb") as file:
            if file.read(len(_HDF5)) != _HDF5:
                return False
        from analyzer.recording.rank_file.limited import opened
        from tracelib.schema.net import FORMAT
        from tracelib.schema.sound import SoundAttributes

        with opened(path) as measured:
            name = SoundAttributes(measured).get("format", "")
            return isinstance(name, str | bytes) and name in (FORMAT, FORMAT.encode())
    except (OSError, KeyError, RuntimeError, ValueError, TypeError):  # h5py's, of a damaged file
        return False


def _open_folder(
    path: Path, team: Team, repair_ns: int | None, *, impossible: bool, choice: Choice | None, matched: bool
) -> Trace:
    if not any(path.glob("*.h5")):
        raise TracelibError(f"{path} is a folder without rank files", _EXPECTED)
    from analyzer.recording.run.trace import open_run

    return open_run(str(path), team, repair_ns, impossible=impossible, choice=choice, matched=matched)


def _first_bytes(path: Path) -> bytes:
    """The first bytes of a file, decompressed if it is gzip."""
    with path.open("rb") as file:
        begin = file.read(len(_PARAVER))
    if not begin.startswith(_GZIP):
        return begin
    with gzip.open(path) as file:
        return file.read(len(_PARAVER))
