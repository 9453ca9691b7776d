"""`analyze critical-path`: what determines the run's length, and how much slack the rest has."""

from __future__ import annotations

from pathlib import Path

import click

from analyzer.commands.shared.iteration_option import iteration_options, open_wanted
from analyzer.commands.shared.options import (
    Latency,
    Size,
    common_options,
    file_argument,
    place_option,
    ranks_option,
    repair_option,
)
from analyzer.commands.shared.outputs import output_base
from analyzer.commands.shared.picture import Boxed, check_picture, draw_ranks, picture_option
from analyzer.commands.shared.session import Session
from analyzer.commands.shared.write import write_dimemas, write_paraver
from analyzer.critical.annotated import WithPath, path_events
from analyzer.critical.by_place import place_shares
from analyzer.critical.path import CriticalPath, critical_path
from analyzer.critical.priorities import path_priorities
from analyzer.critical.shares import shares
from analyzer.critical.stays import longest_stays
from analyzer.efficiency.cpu_use import Cpus, cpus
from analyzer.efficiency.ideal import lacking
from analyzer.errors import TracelibError
from analyzer.metrics.unrecorded import unrecorded
from analyzer.report.critical_path import Found, critical_path_json, print_critical_path
from analyzer.trace import Trace
from analyzer.trace.at_places import PlaceChoice
from analyzer.trace.chosen import Choice


@click.command("critical-path")
@file_argument
@click.option(
    "--top", type=click.IntRange(0), default=10, metavar="N", help="How many of the longest stays to show [10]."
)
@click.option(
    "--eager-limit",
    type=Size(),
    metavar="SIZE",
    help="Sends larger than this wait for their receive [as the run shows].",
)
@click.option(
    "--poll-gap",
    "poll_gap_ns",
    type=Latency(),
    metavar="TIME",
    default="10us",
    help="Time between failed polls is waiting, up to this for each poll in a row [10us].",
)
@iteration_options
@ranks_option
@place_option
@repair_option
@picture_option
@common_options(as_json=True, output="NAME.prv: the path as events of type 90; NAME.dim: the path as priorities.")
@click.pass_obj
def critical_path_command(
    session: Session,
    file: str,
    top: int,
    eager_limit: int | None,
    poll_gap_ns: int,
    choice: Choice | None,
    place: PlaceChoice | None,
    repair_ns: int | None,
    picture: str | None,
    output: str | None,
    force: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Print the critical path of FILE: the path through its ranks that determines how long the run takes.

    The path is followed back from the last event, through computation and calls. Where a call waited for another
    rank, the path goes on at that rank. Its parts add up to the length of the run. Computation that is not on the
    path has slack: it could take that much longer, and the run would not be longer. With --place the path is that of
    the whole run, and such calls, and the computing before and after them, are shown.
    """
    session.quiet = quiet
    if choice and output and output.endswith(".dim"):
        raise click.UsageError("--ranks cannot be used with a .dim, because a replay needs all ranks")
    trace = open_wanted(session, file, repair_ns=repair_ns, choice=choice)
    session.mention_problems(trace)
    try:
        check_picture(picture, trace)
        with session.step(f"Walking back through {file}"):
            if place:
                place.paths(trace)  # which says so if there is none
            lacks = lacking(trace, unrecorded(trace, session.team)) if trace.has_call_times else ""
            had = cpus(trace, session.team)
            found = (
                _find(file, trace, critical_path(trace, eager_limit, poll_gap_ns), top, lacks, had, place)
                if session.speaks
                else None
            )
        written = _write(trace, found, output, force, session) if output else []
        if found and as_json:
            session.print_json(critical_path_json(found) | {"files": [str(path) for path in written]})
        elif found and not quiet:
            session.print(lambda console: print_critical_path(found, console))
            for path in written:
                session.say(f"Written: {path}")
        draw_ranks(session, trace, picture, boxes=lambda: _boxes(found), boxed="the longest stays of the path")
    finally:
        trace.close()


def _find(
    file: str, trace: Trace, path: CriticalPath, top: int, lacks: str, had: Cpus, place: PlaceChoice | None
) -> Found:
    by_place = place_shares(trace, path, place.paths(trace) if place else None)
    stays = longest_stays(trace, path, 0 if place else top)
    return Found(file, trace, path, shares(trace, path), stays, lacks, had, by_place, place.text if place else "")


def _boxes(found: Found | None) -> list[Boxed]:
    """The longest stays of the path on one thread."""
    return [(stay.rank, stay.begin_ns, stay.end_ns) for stay in found.stays] if found else []


def _write(trace: Trace, found: Found | None, output: str, force: bool, session: Session) -> list[Path]:
    """Write the trace with its path, for Paraver or Dimemas. Collective over the team; only one member has the path."""
    if output.endswith(".dim"):
        return [_write_priorities(trace, found, output, force, session)]
    added = session.team.bcast(path_events(trace, found.path) if found else None)
    return write_paraver(WithPath(trace, added), output_base(Path(trace.path), output, (".prv",)), session, force)


def _write_priorities(trace: Trace, found: Found | None, output: str, force: bool, session: Session) -> Path:
    if not trace.has_call_times:
        raise TracelibError(
            f"{trace.path} has no times of its own", "write the priorities from the run that it was made of"
        )
    added = session.team.bcast(path_priorities(found.path) if found else None)
    return write_dimemas(trace, output_base(Path(trace.path), output, (".dim",)), session, force, added).path
