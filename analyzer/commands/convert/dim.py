"""`analyze dim`: a Dimemas trace."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from analyzer.commands.command import REPLAYS_ALL_CALLS, REPLAYS_ALL_RANKS, Opens, Result, command
from analyzer.commands.shared.session import Session
from analyzer.results.output_files import output_base

if TYPE_CHECKING:  # numpy takes as long to import as click: who asks for --help does not wait for it
    from analyzer.trace import Trace


@command(
    "Write a Dimemas trace.",
    opens=Opens(remarks=""),
    iterations=True,
    ranks=REPLAYS_ALL_RANKS,
    place=REPLAYS_ALL_CALLS,
    repair=True,
    output="Name of the trace, without ending, or a folder for it.",
)
def dim(session: Session, trace: Trace, output: str | None, force: bool) -> Result:
    """Write FILE as a Dimemas trace, NAME.dim: bursts and messages, ready to be replayed on another machine.

    The time in which the tracer wrote its buffer is not computation: it is left out of runs that tracelib recorded.
    In a Paraver trace of another tool it stays, as in prv2dim.
    """
    from analyzer.report.words.eager import eager_note
    from analyzer.results.write_traces import dimemas_notes, write_dimemas
    from analyzer.results.written_files import FilesResult

    report = write_dimemas(trace, output_base(Path(session.file), output, (".dim",)), session, force)
    replays = f"Dimemas --dim {shlex.quote(str(report.path))} MACHINE.cfg replays it{eager_note(report.buffered)}"
    return FilesResult([report.path], [str(report.path), replays, *dimemas_notes(trace, report)])
