"""`analyze efficiency`: the POP factors of one run or several, of their regions, and of each visit of a region."""

from __future__ import annotations

import click

from analyzer.commands.command import Chooses, Refuses, Result, command
from analyzer.commands.shared.iteration_option import opened
from analyzer.commands.shared.options import Option, SizeType, rare_option
from analyzer.commands.shared.session import Session


@command(
    "How much of the time is useful: POP's factors.",
    iterations=True,
    ranks=Chooses(),
    place=Refuses("an efficiency is of all that ranks compute, between whatever calls; name a --region"),
    repair=True,
    json=1,
)
@click.argument("files", type=click.Path(), nargs=-1, required=True, metavar="FILE...")
@click.option(
    "--by",
    "by_region",
    cls=Option,
    old=("--by-region region",),
    type=click.Choice(["region"]),
    help="Show the efficiencies of each region of the program.",
)
@click.option("--region", metavar="NAME", help="Show the efficiencies of this region and of each visit of it.")
@rare_option("--additive", is_flag=True, help="Show factors whose losses add up, as in PyPOP.")
@click.option(
    "--scaling",
    type=click.Choice(["strong", "weak"]),
    show_default="as the work of the runs shows",
    help="Kind of scaling.",
)
@rare_option(
    "--eager-limit",
    type=SizeType(),
    metavar="SIZE",
    show_default="32k, or as the run shows",
    help="Size from which sends wait for their receive, such as 32k.",
)
def efficiency_command(
    session: Session,
    files: tuple[str, ...],
    by_region: str | None,
    region: str | None,
    additive: bool,
    scaling: str | None,
    eager_limit: int | None,
) -> Result:
    """Print the efficiencies of each FILE, and how several runs scale.

    \b
    parallel efficiency       mean useful time / runtime
    = load balance            mean useful time / largest useful time
    x communication           largest useful time / runtime
      = serialization         the same, replayed on an ideal network
      x transfer              communication / serialization
    computation scalability   useful time of the smallest run / that of this one
    = IPC x instructions x frequency, where they were counted
    global efficiency         parallel efficiency x computation scalability

    For a region, useful time and runtime are the times inside it, summed over all visits.
    """
    from analyzer.results.efficiency import compare_runs, compute_run

    runs = []
    for file in files:
        with opened(session, file, region=region) as trace, session.step(f"Adding up and replaying {trace.path}"):
            runs.append(
                compute_run(trace, session.team, by_region=bool(by_region), region=region, eager_limit=eager_limit)
            )
    return compare_runs(runs, scaling=scaling, additive=additive)
