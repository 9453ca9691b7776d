"""`analyze loggp` of a traced run."""

from __future__ import annotations

from analyzer.commands.common import Session
from analyzer.loggp.observed import observe
from analyzer.report.ways import print_ways, ways_json
from analyzer.sources.opening import open_trace


def time_messages(session: Session, file: str, as_json: bool) -> None:
    """Print what the messages of the trace in `file` say of latency and bandwidth."""
    trace = open_trace(file, session.team)
    try:
        with session.step(f"Timing the messages of {file}"):
            ways = observe(trace, session.team)
        if as_json:
            session.print_json({"file": file, "messages": ways_json(ways)})
        elif not session.quiet:
            session.print(lambda console: print_ways(ways, console))
    finally:
        trace.close()
