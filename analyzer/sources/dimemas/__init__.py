"""Source for Dimemas traces (.dim), which have no times of messages and calls: read as a program for the simulator."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from analyzer.sources.registry import Source

if TYPE_CHECKING:
    from analyzer.parallel import Team
    from analyzer.trace import Trace
    from analyzer.trace.read_options import ReadOptions


def _recognises(_path: Path, head: bytes) -> bool:
    return head.startswith(b"#DIMEMAS")


def _open(path: Path, _team: Team, options: ReadOptions) -> Trace:
    from analyzer.sources.dimemas.trace import open_dim

    return open_dim(path, options.choice)


SOURCE = Source(
    name="dimemas",
    title="Dimemas",
    noun="a Dimemas trace",
    endings=(".dim", ".dim.gz"),
    recognises=_recognises,
    open=_open,
    chooses_ranks=True,
)
