"""`analyze dim`: a Dimemas trace."""

from __future__ import annotations

from pathlib import Path

import click

from analyzer.commands.common import Session, common_options, file_argument, output_base, repair_option
from analyzer.commands.write import dimemas_notes, write_dimemas
from analyzer.sources.opening import open_trace


@click.command("dim")
@file_argument
@repair_option
@common_options(output="Name of the trace, with or without .dim, or a folder for it.")
@click.pass_obj
def dim(session: Session, file: str, repair_ns: int | None, output: str | None, force: bool, quiet: bool) -> None:
    """Write FILE as a Dimemas trace, NAME.dim: bursts and messages, ready to be replayed on another machine.

    Time spent flushing the tracer's buffer is no computation and left out of our own runs; a Paraver trace
    keeps it, as prv2dim does.
    """
    session.quiet = quiet
    trace = open_trace(file, session.team, repair_ns)
    try:
        report = write_dimemas(trace, output_base(Path(file), output, (".dim",)), session, force)
        session.say(str(report.path))
        for note in dimemas_notes(trace, report):
            session.say(note)
    finally:
        trace.close()
