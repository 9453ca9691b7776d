"""`analyze waits`: where ranks wait for others, and who makes them wait."""

from __future__ import annotations

import click

from analyzer.commands.shared.iteration_option import iteration_options, open_wanted
from analyzer.commands.shared.options import common_options, file_argument, place_option, ranks_option, repair_option
from analyzer.commands.shared.picture import check_picture, draw_ranks, picture_option
from analyzer.commands.shared.session import Session
from analyzer.efficiency.cpu_use import cpus
from analyzer.efficiency.ideal import lacking
from analyzer.metrics.profile import profile
from analyzer.metrics.unrecorded import unrecorded
from analyzer.report.waits import print_waits, waits_json
from analyzer.trace.at_places import PlaceChoice
from analyzer.trace.chosen import Choice
from analyzer.waits.waits import MOST_SINGLE, waits


@click.command("waits")
@file_argument
@click.option(
    "--longest", type=click.IntRange(0), default=MOST_SINGLE, metavar="N", help="Show the N longest waits [10]."
)
@iteration_options
@ranks_option
@place_option
@repair_option
@picture_option
@common_options(as_json=True)
@click.pass_obj
def waits_command(
    session: Session,
    file: str,
    longest: int,
    choice: Choice | None,
    place: PlaceChoice | None,
    repair_ns: int | None,
    picture: str | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Print the wait states of FILE, named as in Scalasca, and the delays that cause them.

    \b
    late sender       a receive waits for its send (wrong order: another message,
                      which is received later, was already there)
    late receiver     a send waits for its receive
    wait at barrier, N x N, fence   a rank waits for the last member
    early reduce      the root waits for the ranks that send
    late broadcast    a rank waits for the root
    early scan        a rank waits for the ranks before it
    late post, early wait           one-sided: the origin waits for MPI_Win_post
                      of the target, the target for MPI_Win_complete
    lock contention   a rank waits for the rank that has the lock of a window

    The direct cost of a delay is how long others wait for it. The indirect cost
    is how long others, in turn, wait for these. All costs add up to all waiting.
    """
    session.quiet = quiet
    trace = open_wanted(session, file, repair_ns=repair_ns, choice=choice)
    session.mention_problems(trace)
    try:
        check_picture(picture, trace)
        with session.step("Finding wait states"):
            calls = profile(trace, session.team)
            found = waits(trace, session.team, calls, longest=longest, place=place)
            had = cpus(trace, session.team)
            lacks = lacking(trace, unrecorded(trace, session.team)) if trace.has_call_times else ""
        if as_json:
            session.print_json({"file": str(trace.path)} | waits_json(found, had) | {"lacking": lacks or None})
        elif not quiet:
            session.print(lambda console: print_waits(found, console, lacks, had))
        boxes = [(one.rank, one.begin_ns, one.begin_ns + one.time_ns) for one in found.longest]
        draw_ranks(
            session,
            trace,
            picture,
            calls=calls,
            waited=None if place else found,
            boxes=lambda: boxes,
            boxed="the longest waits",
        )
    finally:
        trace.close()
