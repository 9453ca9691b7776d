"""Opens a trace of any kind, told apart by its contents and not by its name."""

from __future__ import annotations

import gzip
import os
import zlib
from pathlib import Path

from analyzer.errors import TracelibError
from analyzer.parallel import Team
from analyzer.trace import Trace

_HDF5 = b"\x89HDF\r\n\x1a\n"
_GZIP = b"\x1f\x8b"
_PARAVER = b"#Paraver"
_DIMEMAS = b"#DIMEMAS"
_EXPECTED = "expected run.h5, the folder run.ranks, a Paraver trace (.prv, .prv.gz) or a Dimemas trace (.dim)"


def open_trace(path: str | os.PathLike[str], team: Team | None = None, repair_ns: int | None = None) -> Trace:
    """A `Trace` of a measured run (run.h5 or its folder run.ranks), of a Paraver trace (.prv, .prv.gz), or of the
    ideal replay of a Dimemas trace (.dim, .dim.gz), which holds no times.

    `repair_ns`: move times so that no message takes less than this, and no collective ends before all have begun it.
    Raises TracelibError with one clear line for a missing, unreadable, empty, truncated or foreign file.
    """
    path, team = Path(path), team or Team()
    try:
        if path.is_dir():
            return _open_folder(path, team, repair_ns)
        begin = _first_bytes(path)
        if begin.startswith(_HDF5):
            if is_network(path):
                raise TracelibError(f"{path} is a measurement of the network, not a trace", f"analyze loggp {path}")
            from analyzer.sources.run import open_run

            return open_run(str(path), team, repair_ns)
        if begin.startswith((_PARAVER, _DIMEMAS)) and repair_ns is not None:
            raise TracelibError(f"{path}: only our own runs can be repaired", "leave out --repair-clocks")
        if begin.startswith(_PARAVER):
            from analyzer.sources.paraver import open_prv

            return open_prv(path, team)
        if begin.startswith(_DIMEMAS):
            from analyzer.sources.dimemas import open_dim

            return open_dim(path)
    except FileNotFoundError as error:
        ranks = path.with_suffix(".ranks")
        hint = f"rank 0 did not write it, but there is {ranks}: analyze that" if ranks.is_dir() else _EXPECTED
        raise TracelibError(f"{path}: no such file", hint) from error
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise TracelibError(f"{path} is a damaged or truncated gzip file") from error
    except OSError as error:
        raise TracelibError(f"cannot read {path}: {error.strerror or error}") from error
    if not begin:
        raise TracelibError(f"{path} is empty", _EXPECTED)
    raise TracelibError(f"{path} is not a trace", _EXPECTED)


def is_network(path: str | os.PathLike[str]) -> bool:
    """Whether a file is a measurement of the network (tracelib-net); False for one that cannot be read."""
    try:
        with Path(path).open("rb") as file:
            if file.read(len(_HDF5)) != _HDF5:
                return False
        import h5py

        from tracelib.schema.net import FORMAT

        with h5py.File(path, "r") as measured:
            return measured.attrs.get("format", "") in (FORMAT, FORMAT.encode())
    except OSError:
        return False


def _open_folder(path: Path, team: Team, repair_ns: int | None) -> Trace:
    if not any(path.glob("*.h5")):
        raise TracelibError(f"{path} is a folder without rank files", _EXPECTED)
    from analyzer.sources.run import open_run

    return open_run(str(path), team, repair_ns)


def _first_bytes(path: Path) -> bytes:
    """The first bytes of a file, decompressed if it is gzip."""
    with path.open("rb") as file:
        begin = file.read(len(_PARAVER))
    if not begin.startswith(_GZIP):
        return begin
    with gzip.open(path) as file:
        return file.read(len(_PARAVER))
