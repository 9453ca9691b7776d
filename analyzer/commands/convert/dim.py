"""`analyze dim`: a Dimemas trace."""

from __future__ import annotations

import shlex
from pathlib import Path

from analyzer.commands.command import REPLAYS_ALL_CALLS, REPLAYS_ALL_RANKS, command
from analyzer.commands.shared.iteration_option import open_wanted
from analyzer.commands.shared.options import file_argument
from analyzer.commands.shared.outputs import output_base
from analyzer.commands.shared.session import Session


@command(
    "Write a Dimemas trace.",
    iterations=True,
    ranks=REPLAYS_ALL_RANKS,
    place=REPLAYS_ALL_CALLS,
    repair=True,
    output="Name of the trace, without ending, or a folder for it.",
)
@file_argument
def dim(session: Session, file: str, output: str | None, force: bool) -> None:
    """Write FILE as a Dimemas trace, NAME.dim: bursts and messages, ready to be replayed on another machine.

    The time in which the tracer wrote its buffer is not computation: it is left out of runs that tracelib recorded.
    In a Paraver trace of another tool it stays, as in prv2dim.
    """
    from analyzer.report.words.eager import eager_note
    from analyzer.results.write_traces import dimemas_notes, write_dimemas

    trace = open_wanted(session, file, repair_ns=session.repair_ns)
    try:
        report = write_dimemas(trace, output_base(Path(file), output, (".dim",)), session, force)
        session.say(str(report.path))
        session.say(
            f"Dimemas --dim {shlex.quote(str(report.path))} MACHINE.cfg replays it{eager_note(report.buffered)}"
        )
        for note in dimemas_notes(trace, report):
            session.say(note)
    finally:
        trace.close()
