"""`analyze dim`: a Dimemas trace."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from analyzer.commands.shared.iteration_option import iteration_option, open_wanted
from analyzer.commands.shared.options import (
    common_options,
    file_argument,
    repair_option,
    replays_all_calls,
    replays_all_ranks,
)
from analyzer.commands.shared.outputs import output_base
from analyzer.commands.shared.session import Session
from analyzer.commands.shared.write import dimemas_notes, write_dimemas
from analyzer.report.words.eager import eager_note


@click.command("dim")
@file_argument
@iteration_option
@repair_option
@replays_all_ranks
@replays_all_calls
@common_options(output="Name of the trace, with or without .dim, or a folder for it.")
@click.pass_obj
def dim(session: Session, file: str, repair_ns: int | None, output: str | None, force: bool, quiet: bool) -> None:
    """Write FILE as a Dimemas trace, NAME.dim: bursts and messages, ready to be replayed on another machine.

    The time in which the tracer wrote its buffer is not computation: it is left out of runs that tracelib recorded.
    In a Paraver trace of another tool it stays, as in prv2dim.
    """
    session.quiet = quiet
    trace = open_wanted(session, file, repair_ns=repair_ns)
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
