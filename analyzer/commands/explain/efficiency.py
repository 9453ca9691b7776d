"""`analyze efficiency`: the POP factors of one run or several, of their regions, and of each visit of a region."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import click

from analyzer.commands.shared.iteration_option import iteration_option, open_wanted
from analyzer.commands.shared.options import Size, all_calls_needed, common_options, ranks_option, repair_option
from analyzer.commands.shared.session import Session
from analyzer.efficiency.efficiencies import Efficiencies, compare, efficiencies
from analyzer.efficiency.scaling import STRONG, WEAK
from analyzer.errors import TracelibError
from analyzer.report.efficiencies import efficiencies_json, efficiencies_tables
from analyzer.trace import Regions, Trace
from analyzer.trace.chosen import Choice

_MOST_NAMES = 12


@click.command("efficiency")
@click.argument("files", type=click.Path(), nargs=-1, required=True, metavar="FILE...")
@click.option("--by-region", is_flag=True, help="Efficiencies of each region of the program.")
@click.option("--region", metavar="NAME", help="Efficiencies of one region and of each visit of it.")
@click.option("--additive", is_flag=True, help="Factors whose losses add up, as in PyPOP.")
@click.option("--scaling", type=click.Choice([STRONG, WEAK]), help="Kind of scaling [as the work of the runs shows].")
@click.option(
    "--eager-limit",
    type=Size(),
    metavar="SIZE",
    help="Sends from this size on wait for their receive on the ideal network [32K, or as the run shows].",
)
@iteration_option
@ranks_option
@all_calls_needed("an efficiency is of all that ranks compute, between whatever calls; name a --region")
@repair_option
@common_options(as_json=True)
@click.pass_obj
def efficiency_command(
    session: Session,
    files: tuple[str, ...],
    by_region: bool,
    region: str | None,
    additive: bool,
    scaling: str | None,
    eager_limit: int | None,
    choice: Choice | None,
    repair_ns: int | None,
    as_json: bool,
    quiet: bool,
) -> None:
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
    session.quiet = quiet

    def found(file: str) -> Efficiencies:
        with _opened(file, repair_ns, region, choice, session) as trace:
            return _of_trace(trace, eager_limit, by_region, region, session)

    compared = compare([found(file) for file in files], scaling)
    if as_json:
        data = [efficiencies_json(compared, number, additive=additive) for number in range(len(files))]
        session.print_json(data if len(data) > 1 else data[0])
    elif not quiet:
        session.print_tables(efficiencies_tables(compared, additive=additive))


@contextmanager
def _opened(
    file: str, repair_ns: int | None, region: str | None, choice: Choice | None, session: Session
) -> Iterator[Trace]:
    trace = open_wanted(session, file, region=region, repair_ns=repair_ns, choice=choice)
    session.mention_problems(trace)
    try:
        yield trace
    finally:
        trace.close()


def _of_trace(
    trace: Trace, eager_limit: int | None, by_region: bool, region: str | None, session: Session
) -> Efficiencies:
    if by_region or region is not None:
        _check_regions(trace, region)
    with session.step(f"Adding up and replaying {trace.path}"):
        return efficiencies(trace, session.team, eager_limit=eager_limit, by_region=by_region, region=region)


def _check_regions(trace: Trace, region: str | None) -> None:
    """Raise TracelibError if the trace has no regions, or not this one."""
    names = trace.extra(Regions).names
    if not names:
        raise TracelibError(f"{trace.path} has no regions", "name them in the program: docs/regions.md")
    if region is not None and region not in names:
        known = ", ".join(names[:_MOST_NAMES]) + (", ..." if len(names) > _MOST_NAMES else "")
        raise TracelibError(f"{trace.path} has no region {region!r}", f"it has {known}")
