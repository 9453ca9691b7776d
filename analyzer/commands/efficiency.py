"""`analyze efficiency`: the POP factors of one run or several, of their regions, and of each visit of a region."""

from __future__ import annotations

import click
from rich.console import Console

from analyzer.commands.common import Session, common_options, repair_option
from analyzer.errors import TracelibError
from analyzer.metrics.efficiency import efficiency
from analyzer.metrics.flushes import flushes
from analyzer.metrics.region_efficiency import region_efficiencies, visit_efficiencies
from analyzer.metrics.unrecorded import unrecorded
from analyzer.metrics.useful import useful
from analyzer.report.efficiencies import Efficiencies, efficiencies_json, efficiencies_tables
from analyzer.sources.opening import open_trace
from analyzer.trace import Trace

_MOST_NAMES = 12


@click.command("efficiency", short_help="Parallel efficiency and its factors.")
@click.argument("files", type=click.Path(), nargs=-1, required=True, metavar="FILE...")
@click.option("--by-region", is_flag=True, help="Those of each region of the program.")
@click.option("--region", metavar="NAME", help="Those of one region, and of each visit of it.")
@repair_option
@common_options(as_json=True)
@click.pass_obj
def efficiency_command(
    session: Session,
    files: tuple[str, ...],
    by_region: bool,
    region: str | None,
    repair_ns: int | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Print the efficiencies of each FILE.

    \b
    parallel efficiency       mean useful time / runtime
    load balance              mean useful time / largest useful time
    communication efficiency  largest useful time / runtime

    Of a region, useful time and runtime are those inside it, summed over all visits.
    """
    session.quiet = quiet
    results = [_of_file(file, repair_ns, by_region, region, session) for file in files]
    if as_json:
        data = [efficiencies_json(result) for result in results]
        session.print_json(data if len(data) > 1 else data[0])
    elif not quiet:
        session.print(lambda console: _print(results, console))


def _print(results: list[Efficiencies], console: Console) -> None:
    for number, table in enumerate(efficiencies_tables(results)):
        if number:
            console.print()
        console.print(table)


def _of_file(file: str, repair_ns: int | None, by_region: bool, region: str | None, session: Session) -> Efficiencies:
    trace = open_trace(file, session.team, repair_ns)
    try:
        if by_region or region is not None:
            _check_regions(trace, region)
        with session.step(f"Adding up {file}"):
            team = session.team
            factors = efficiency(trace, useful(trace, team), flushes(trace, team), unrecorded(trace, team))
            regions = region_efficiencies(trace, team) if by_region or region is not None else None
            if regions is not None and region is not None:
                regions = [one for one in regions if by_region or one.name == region]
            visits = visit_efficiencies(trace, region, team) if region is not None else None
            return Efficiencies(file, trace.size, trace.missing, factors, regions, visits)
    finally:
        trace.close()


def _check_regions(trace: Trace, region: str | None) -> None:
    """Raise TracelibError if the trace has no regions, or not this one."""
    names = trace.region_names
    if not names:
        raise TracelibError(f"{trace.path} has no regions", "name them in the program: docs/regions.md")
    if region is not None and region not in names:
        known = ", ".join(names[:_MOST_NAMES]) + (", ..." if len(names) > _MOST_NAMES else "")
        raise TracelibError(f"{trace.path} has no region {region!r}", f"it has {known}")
