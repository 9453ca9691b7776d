"""Source for Paraver traces (.prv, .pcf, .row), our own and those that other tools wrote."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from analyzer.sources.registry import Source

if TYPE_CHECKING:
    from analyzer.parallel import Team
    from analyzer.trace import Trace
    from analyzer.trace.read_options import ReadOptions


def _recognises(_path: Path, head: bytes) -> bool:
    return head.startswith(b"#Paraver")


def _open(path: Path, team: Team, options: ReadOptions) -> Trace:
    from analyzer.sources.paraver.trace import open_prv

    return open_prv(path, team, options.choice)


SOURCE = Source(
    name="paraver",
    title="Paraver",
    noun="a Paraver trace",
    endings=(".prv", ".prv.gz"),
    recognises=_recognises,
    open=_open,
    chooses_ranks=True,
)
