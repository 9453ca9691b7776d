"""Source for Dimemas traces (.dim), which have no times of calls and messages. They are read as a program."""

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

    return open_dim(path, options.choice, options.sizes)


def _write_example(folder: Path) -> str:
    """Write a trace in which task 0 computes 1 ms and sends 100 bytes to task 1."""
    lines = [
        '#DIMEMAS:"example":0:2(1,1),1',
        "d:1:1:2:0:1",
        "1:0:0:0.001",
        "2:0:0:1:0:100:7:1:0",
        "3:1:0:0:0:100:7:1:0",
    ]
    (folder / "example.dim").write_text("\n".join([*lines, ""]))
    return "example.dim"


SOURCE = Source(
    name="dimemas",
    title="Dimemas",
    noun="a Dimemas trace",
    endings=(".dim", ".dim.gz"),
    recognises=_recognises,
    open=_open,
    example=_write_example,
    chooses_ranks=True,
)
