"""`analyze speedup`: how several runs scale, and the factor that takes the speedup away."""

from __future__ import annotations

import click

from analyzer.commands.command import Refuses, Result, command
from analyzer.commands.shared.session import Session
from analyzer.commands.shared.several import scaling_options


@command(
    "Several runs: what more ranks gained, and what took it away.",
    ranks=Refuses("a speedup is that of all ranks"),
    place=Refuses("efficiencies are of all that ranks compute, between whatever calls"),
    json=1,
)
@click.argument("files", type=click.Path(), nargs=-1, required=True, metavar="FILE FILE...")
@click.option(
    "--against", type=click.Path(), multiple=True, metavar="RUN", help="Run of another variant of the program."
)
@scaling_options
def speedup_command(
    session: Session,
    files: tuple[str, ...],
    against: tuple[str, ...],
    region: str | None,
    whole: bool,
    scaling: str | None,
    eager_limit: int | None,
) -> Result:
    """Say how the runs FILE scale and why, relative to the one with the fewest ranks.

    \b
    speedup = ranks x real communication x micro load balance x load balance
                    x instructions per cycle x instructions

    Each is the quotient of a factor of the run and that of the smallest run.
    Compared are the times of an iteration, if all runs are loops of the same
    calls and have no regions, else those between MPI_Init and MPI_Finalize, or
    the times of a visit of --region. Two runs at the same rank count are compared as one
    before and one after a change; with --against, two variants of a program at
    several rank counts are.
    """
    from analyzer.results.speedup import compare_runs, measure_runs

    runs = measure_runs(session, [*files, *against], region=region, eager_limit=eager_limit, whole=whole)
    return compare_runs(runs[: len(files)], runs[len(files) :], scaling=scaling)
