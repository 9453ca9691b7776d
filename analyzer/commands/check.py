"""`analyze check`: is the file whole?"""

from __future__ import annotations

from typing import Any

import click

from analyzer.commands.common import Session, common_options, file_argument, is_imported, repair_option
from analyzer.metrics.consistency import findings
from analyzer.report.clocks import clock_lines, clocks_json, repair_json
from analyzer.report.units import plural
from analyzer.sources.counts import count_findings
from analyzer.sources.opening import open_trace
from analyzer.trace import Trace


@click.command("check")
@file_argument
@repair_option
@common_options(as_json=True)
@click.pass_context
def check(context: click.Context, file: str, repair_ns: int | None, as_json: bool, quiet: bool) -> None:
    """Verify that FILE is readable, ordered, matched, consistent in its counts, and that nothing was lost.

    Each finding is one line. The exit code is 0 if there is none, else 1.
    """
    session: Session = context.obj
    session.quiet = quiet
    trace = open_trace(file, session.team, repair_ns)
    try:
        with session.step(f"Checking {file}"):
            found = findings(trace, session.team)
            if not is_imported(trace):
                found += count_findings(file)
        if as_json:
            session.print_json(_json(trace, found))
        else:
            for line in [*found, *(f"clocks: {text}" for text in clock_lines(trace))]:
                session.say(line)
            if not found:
                session.say(f"{trace.path}: good, {plural(trace.size, 'rank')}")
    finally:
        trace.close()
    if found:
        context.exit(1)


def _json(trace: Trace, found: list[str]) -> dict[str, Any]:
    whole = {"file": str(trace.path), "good": not found, "findings": found}
    return whole | {"clocks": clocks_json(trace), "repair": repair_json(trace)}
