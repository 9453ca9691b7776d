"""What `speedup` and `predict` share: options, and measuring several runs one after the other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import click

from analyzer.commands.shared.options import Size
from analyzer.commands.shared.session import Session

if TYPE_CHECKING:  # numpy takes as long to import as click: who asks for --help does not wait for it
    from analyzer.speedup.parameters import Parameters
    from analyzer.structure.iterations import Iterations


def scaling_options(command: Callable) -> Callable:
    """--region, --whole, --scaling and --eager-limit."""
    command = click.option(
        "--eager-limit",
        type=Size(),
        metavar="SIZE",
        help="Sends from this size on wait for their receive on the ideal network [32K, or as the run shows].",
    )(command)
    command = click.option(
        "--scaling", type=click.Choice(["strong", "weak"]), help="Kind of scaling [as the work of the runs shows]."
    )(command)
    command = click.option(
        "--whole", is_flag=True, help="Compare from MPI_Init to MPI_Finalize, even if iterations are found."
    )(command)
    return click.option("--region", metavar="NAME", help="Compare the visits of a region.")(command)


def measured(
    session: Session, files: Sequence[str], region: str | None, eager_limit: int | None, *, whole: bool = False
) -> list[Parameters]:
    """The parameters of the speedup model of each run: without a region those of its iterations, where all runs are
    loops of the same and none has regions. Raises TracelibError."""
    from analyzer.commands.shared.iteration_option import open_wanted
    from analyzer.speedup.parameters import parameters

    loops = _loops(session, files) if region is None and not whole else [None] * len(files)
    found = []
    for file, loop in zip(files, loops, strict=True):
        trace = open_wanted(session, file, region=region)
        try:
            session.mention_problems(trace)
            with session.step(f"Adding up and replaying {file}"):
                found.append(parameters(trace, session.team, region, eager_limit, loop))
        finally:
            trace.close()
    return found


def _loops(session: Session, files: Sequence[str]) -> list[Iterations | None]:
    """The iterations of each run; none, where one run has regions or no loop, or loops are not alike: neither passed
    equally often nor of the same calls."""
    from analyzer.opening import open_trace
    from analyzer.structure.levels.find import iterations
    from analyzer.trace import Regions

    none: list[Iterations | None] = [None] * len(files)
    found: list[Iterations | None] = []
    for file in files:
        trace = open_trace(file, session.team, matched=False)
        try:
            if not trace.has_call_times or trace.extra(Regions).names:
                return none
            with session.step(f"Looking for iterations in {file}"):
                loop = iterations(trace, session.team)
        finally:
            trace.close()
        if loop is None:
            return none
        found.append(loop)
    counts, bodies = ({one.count for one in found if one}, {one.body for one in found if one})
    return found if len(counts) == 1 or len(bodies) == 1 else none
