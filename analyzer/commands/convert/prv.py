"""`analyze prv`: a Paraver trace."""

from __future__ import annotations

from pathlib import Path

import click

from analyzer.commands.command import Alone, Chooses, Refuses, command
from analyzer.commands.shared.iteration_option import iterations_in, open_wanted
from analyzer.commands.shared.options import file_argument
from analyzer.commands.shared.outputs import output_base
from analyzer.commands.shared.session import Session


@command(
    "Write a Paraver trace.",
    iterations=True,
    ranks=Chooses(),
    place=Refuses("a Paraver trace has all calls; with --callers, Paraver can choose among them"),
    repair=True,
    output="Name of the trace, without ending, or a folder for it.",
    alone=Alone("one process joins the parts of the file", 8),
)
@file_argument
@click.option("--waits", is_flag=True, help="Add wait states as events, and write NAME.waits.cfg, which shows them.")
@click.option(
    "--callers",
    type=click.IntRange(1, 100),
    metavar="N",
    help="Add this number of callers of each call as events, as Extrae does.",
)
@click.option("--iterations", is_flag=True, help="Add the iterations (analyze structure) as events.")
def prv(
    session: Session, file: str, waits: bool, callers: int | None, iterations: bool, output: str | None, force: bool
) -> None:
    """Write FILE as a Paraver trace: NAME.prv, NAME.pcf and NAME.row."""
    from analyzer.results.write_traces import with_callers, write_paraver, write_with_waits
    from analyzer.structure.events import WithIterations

    trace = open_wanted(session, file, repair_ns=session.repair_ns, choice=session.choice)
    session.mention_choice(trace)
    try:
        write = write_with_waits if waits else write_paraver
        found = iterations_in(trace, session) if iterations else None
        shown = with_callers(trace, callers) if callers else trace
        shown = WithIterations(shown, found) if found else shown
        for path in write(shown, output_base(Path(file), output, (".prv",)), session, force):
            session.say(str(path))
    finally:
        trace.close()
