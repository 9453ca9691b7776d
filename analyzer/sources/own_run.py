"""Runs that tracelib recorded: run.h5, its folder run.ranks, or one rank file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from analyzer.errors import TracelibError
from analyzer.sources.registry import Source

if TYPE_CHECKING:
    from analyzer.parallel import Team
    from analyzer.trace import Trace
    from analyzer.trace.read_options import ReadOptions

_HDF5 = b"\x89HDF\r\n\x1a\n"


def _recognises(path: Path, head: bytes) -> bool:
    return head.startswith(_HDF5) or (path.is_dir() and any(path.glob("*.h5")))


def _open(path: Path, team: Team, options: ReadOptions) -> Trace:
    if not path.is_dir() and is_network(path):
        raise TracelibError(f"{path} is a measurement of the network, not a trace", f"analyze loggp {path}")
    from analyzer.recording.run.opening import open_run

    return open_run(str(path), team, options)


def is_network(path: Path) -> bool:
    """Return True if a file is a measurement of the network by tracelib-net.

    False also for a file that cannot be read.
    """
    try:
        with path.open("rb") as file:
            if file.read(len(_HDF5)) != _HDF5:
                return False
        from analyzer.recording.rank_file.limited import opened
        from tracelib.schema.net import FORMAT
        from tracelib.schema.sound import SoundAttributes

        with opened(path) as measured:
            name = SoundAttributes(measured).get("format", "")
            return isinstance(name, str | bytes) and name in (FORMAT, FORMAT.encode())
    except (OSError, KeyError, RuntimeError, ValueError, TypeError):  # h5py's errors for a damaged file
        return False


SOURCE = Source(
    name="tracelib",
    title="tracelib",
    noun="run.h5, a folder run.ranks",
    endings=(".h5", ".ranks"),
    recognises=_recognises,
    open=_open,
    is_own=True,
    chooses_ranks=True,
)
