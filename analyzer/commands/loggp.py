"""`analyze loggp`: latency and bandwidth."""

from __future__ import annotations

import click

from analyzer.commands.common import Session, common_options, file_argument
from analyzer.loggp.observed import observe
from analyzer.report.ways import print_ways, ways_json
from analyzer.sources.opening import open_trace


@click.command("loggp", short_help="Latency and bandwidth of the network.")
@file_argument
@common_options(as_json=True)
@click.pass_obj
def loggp(session: Session, file: str, as_json: bool, quiet: bool) -> None:
    """Estimate latency and bandwidth from the messages of a traced run.

    FILE is run.h5, a folder run.ranks, or a Paraver trace (.prv, .prv.gz).
    """
    session.quiet = quiet
    trace = open_trace(file, session.team)
    try:
        with session.step(f"Timing the messages of {file}"):
            ways = observe(trace, session.team)
        if as_json:
            session.print_json({"file": file, "messages": ways_json(ways)})
        elif not quiet:
            session.print(lambda console: print_ways(ways, console))
    finally:
        trace.close()
