"""`analyze prv`: a Paraver trace."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from analyzer.commands.command import Alone, Chooses, Opens, Refuses, Result, command
from analyzer.commands.shared.session import Session
from analyzer.results.open_part import iterations_in
from analyzer.results.output_files import output_base

if TYPE_CHECKING:  # numpy takes as long to import as click: who asks for --help does not wait for it
    from analyzer.trace import Trace


@command(
    "Write a Paraver trace.",
    opens=Opens(remarks="ranks"),
    iterations=True,
    ranks=Chooses(),
    place=Refuses("a Paraver trace has all calls; with --callers, Paraver can choose among them"),
    repair=True,
    output="Name of the trace, without ending, or a folder for it.",
    alone=Alone("one process joins the parts of the file", 8),
)
@click.option("--waits", is_flag=True, help="Add wait states as events, and write NAME.waits.cfg, which shows them.")
@click.option(
    "--callers",
    type=click.IntRange(1, 100),
    metavar="N",
    help="Add this number of callers of each call as events, as Extrae does.",
)
@click.option("--iterations", is_flag=True, help="Add the iterations (analyze structure) as events.")
def prv(
    session: Session, trace: Trace, waits: bool, callers: int | None, iterations: bool, output: str | None, force: bool
) -> Result:
    """Write FILE as a Paraver trace: NAME.prv, NAME.pcf and NAME.row."""
    from analyzer.results.write_traces import with_callers, write_paraver, write_with_waits
    from analyzer.results.written_files import FilesResult
    from analyzer.structure.events import WithIterations

    write = write_with_waits if waits else write_paraver
    found = iterations_in(trace, session) if iterations else None
    shown = with_callers(trace, callers) if callers else trace
    shown = WithIterations(shown, found) if found else shown
    paths = write(shown, output_base(Path(session.file), output, (".prv",)), session, force)
    return FilesResult(paths, [str(path) for path in paths])
