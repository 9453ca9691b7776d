"""Source for OTF2 archives, of Score-P and others. It needs OTF2's library, which its Python package otf2 contains."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from analyzer.sources.registry import Source

if TYPE_CHECKING:
    from analyzer.parallel import Team
    from analyzer.trace import Trace
    from analyzer.trace.read_options import ReadOptions


def _recognises(_path: Path, head: bytes) -> bool:
    return head[2:].startswith(b"OTF2")  # after the kind of the first chunk and its byte order


def _open(path: Path, _team: Team, options: ReadOptions) -> Trace:
    from analyzer.sources.otf2.trace import open_otf2

    return open_otf2(path, options.sizes)


SOURCE = Source(
    name="otf2",
    title="OTF2",
    noun="an OTF2 archive",
    endings=(".otf2",),
    recognises=_recognises,
    open=_open,
)
