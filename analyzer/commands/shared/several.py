"""What `speedup` and `predict` share: options, and measuring several runs one after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing
from itertools import chain
from typing import TYPE_CHECKING

import click

from analyzer.commands.shared.iteration_option import iterations_of, loop_option, open_wanted
from analyzer.commands.shared.options import Size
from analyzer.commands.shared.session import Session

if TYPE_CHECKING:  # numpy takes as long to import as click: who asks for --help does not wait for it
    from analyzer.speedup_model.parameters import Parameters
    from analyzer.structure.iterations import Iterations
    from analyzer.trace import Trace


def scaling_options(command: Callable) -> Callable:
    """--region, --loop, --whole, --scaling and --eager-limit."""
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
    command = loop_option(command)
    return click.option("--region", metavar="NAME", help="Compare the visits of a region.")(command)


def measured(
    session: Session, files: Sequence[str], region: str | None, eager_limit: int | None, *, whole: bool = False
) -> list[Parameters]:
    """The parameters of the speedup model of each run: without a region those of its iterations, where all runs are
    loops of the same and none has regions. Raises TracelibError."""
    from analyzer.speedup_model.parameters import parameters

    with ExitStack() as opened:
        loops: Sequence[Iterations | None] = [None] * len(files)
        traces: Iterator[Trace] = (
            opened.enter_context(closing(open_wanted(session, file, region=region))) for file in files
        )
        if region is None and not whole:
            loops, traces = _loops(session, files, opened)
        found = []
        for file, loop, trace in zip(files, loops, traces, strict=True):
            session.mention_problems(trace)
            trace.match()
            with session.step(f"Adding up and replaying {file}"):
                found.append(parameters(trace, session.team, region, eager_limit, loop))
            trace.close()
        return found


def _loops(
    session: Session, files: Sequence[str], opened: ExitStack
) -> tuple[Sequence[Iterations | None], Iterator[Trace]]:
    """The iterations of each run, and the runs, which were opened for that. Where the command line names no loop: no
    iterations, if one run has regions or no loop, or loops are not alike: neither passed equally often nor of the same
    calls."""
    from analyzer.opening import open_trace
    from analyzer.structure.levels.run_structure import iterations
    from analyzer.trace import Regions

    def opening(file: str) -> Trace:
        return opened.enter_context(closing(open_trace(file, session.team, matched=False)))

    if session.wanted:
        opened_runs = [opening(file) for file in files]
        return [iterations_of(trace, session) for trace in opened_runs], iter(opened_runs)
    none: Sequence[Iterations | None] = [None] * len(files)
    found: list[Iterations | None] = []
    traces: list[Trace] = []
    for file in files:
        traces.append(opening(file))
        loop = None
        if traces[-1].has_call_times and not traces[-1].extra(Regions).names:
            with session.step(f"Looking for iterations in {file}"):
                loop = iterations(traces[-1], session.team)
        if loop is None:
            return none, chain(traces, map(opening, files[len(traces) :]))
        found.append(loop)
    counts, bodies = ({one.count for one in found if one}, {one.body for one in found if one})
    return found if len(counts) == 1 or len(bodies) == 1 else none, iter(traces)
