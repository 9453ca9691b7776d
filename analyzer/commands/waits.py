"""`analyze waits`: where ranks wait for others, and who makes them wait."""

from __future__ import annotations

import click

from analyzer.commands.common import Session, common_options, file_argument, repair_option
from analyzer.metrics.ideal import lacking
from analyzer.metrics.profile import profile
from analyzer.metrics.unrecorded import unrecorded
from analyzer.report.waits import print_waits, waits_json
from analyzer.sources.opening import open_trace
from analyzer.waits.waits import MOST_SINGLE, waits


@click.command("waits")
@file_argument
@click.option(
    "--longest", type=click.IntRange(0), default=MOST_SINGLE, metavar="N", help="Name the N longest waits [10]."
)
@repair_option
@common_options(as_json=True)
@click.pass_obj
def waits_command(session: Session, file: str, longest: int, repair_ns: int | None, as_json: bool, quiet: bool) -> None:
    """Print the wait states of FILE, as Scalasca names them, and what delays cause them.

    \b
    late sender       a receive waits for the send; wrong order: while another
                      message was there that is received only later
    late receiver     a send waits for the receive
    wait at barrier, N x N, fence   for the last member
    early reduce      the root waits for those that send
    late broadcast    the others wait for the root
    early scan        for the ranks before this one
    late post, early wait           one-sided: an origin for the target's
                      MPI_Win_post, the target for MPI_Win_complete
    lock contention   for who has the lock of a window

    A delay costs directly what others waited for it, indirectly what those made
    others wait; the costs of all delays are all waiting.
    """
    session.quiet = quiet
    trace = open_trace(file, session.team, repair_ns)
    session.mention_problems(trace)
    try:
        with session.step("Finding wait states"):
            calls = profile(trace, session.team)
            found = waits(trace, session.team, calls, longest=longest)
            lacks = "" if trace.program else lacking(trace, unrecorded(trace, session.team))
        if as_json:
            session.print_json({"file": str(trace.path)} | waits_json(found) | {"lacking": lacks or None})
        elif not quiet:
            session.print(lambda console: print_waits(found, console, lacks))
    finally:
        trace.close()
