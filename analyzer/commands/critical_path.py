"""`analyze critical-path`: what determines the run's length, and how much slack the rest has."""

from __future__ import annotations

import click

from analyzer.commands.common import Session, Size, common_options, file_argument, repair_option
from analyzer.critical.path import critical_path
from analyzer.critical.shares import shares
from analyzer.critical.stays import longest_stays
from analyzer.report.critical_path import Found, critical_path_json, print_critical_path
from analyzer.sources.opening import open_trace


@click.command("critical-path", short_help="What determines the run's length, and who has slack.")
@file_argument
@click.option(
    "--top", type=click.IntRange(0), default=10, metavar="N", help="How many of the longest stays to show [10]."
)
@click.option(
    "--eager-limit", type=Size(), metavar="SIZE", help="Larger messages wait for their receive [as the run shows]."
)
@repair_option
@common_options(as_json=True)
@click.pass_obj
def critical_path_command(
    session: Session,
    file: str,
    top: int,
    eager_limit: int | None,
    repair_ns: int | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Print the path through the ranks of FILE that determines how long it takes.

    From the last event back: through computation and calls, and where a call waited for another rank, on to that
    rank. Its parts add up to the run's length. Whatever is not on it has slack: it could be that much slower without
    making the run longer.
    """
    session.quiet = quiet
    trace = open_trace(file, session.team, repair_ns)
    try:
        if not session.speaks:
            return
        with session.step(f"Walking back through {file}"):
            path = critical_path(trace, eager_limit)
            found = Found(file, trace, path, shares(trace, path), longest_stays(trace, path, top))
        if as_json:
            session.print_json(critical_path_json(found))
        elif not quiet:
            session.print(lambda console: print_critical_path(found, console))
    finally:
        trace.close()
