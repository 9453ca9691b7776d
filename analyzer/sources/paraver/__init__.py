"""Source for Paraver traces (.prv, .pcf, .row), which tracelib or other tools wrote."""

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

    return open_prv(path, team, options.choice, options.sizes)


def _write_example(folder: Path) -> str:
    """Write a trace in which task 1 computes 1000 ns and sends 100 bytes to task 2."""
    lines = ["#Paraver (28/11/2026 at 00:00):1500_ns:0:1:2(1:0,1:0)", "1:0:1:1:1:0:1000:1", "1:0:1:2:1:0:1500:1"]
    lines.append("3:0:1:1:1:1000:1000:0:1:2:1:1500:1500:100:7")
    (folder / "example.prv").write_text("\n".join([*lines, ""]))
    return "example.prv"


SOURCE = Source(
    name="paraver",
    title="Paraver",
    noun="a Paraver trace",
    endings=(".prv", ".prv.gz"),
    recognises=_recognises,
    open=_open,
    example=_write_example,
    chooses_ranks=True,
)
