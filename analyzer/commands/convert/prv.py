"""`analyze prv`: a Paraver trace."""

from __future__ import annotations

from pathlib import Path

import click

from analyzer.commands.shared.iteration_option import iteration_option, iterations_in, open_wanted
from analyzer.commands.shared.options import (
    all_calls_needed,
    common_options,
    file_argument,
    ranks_option,
    repair_option,
)
from analyzer.commands.shared.outputs import output_base
from analyzer.commands.shared.session import Session
from analyzer.commands.shared.write import write_paraver, write_with_waits
from analyzer.errors import TracelibError
from analyzer.structure.events import WithIterations
from analyzer.trace import CallPaths, Trace
from analyzer.trace.chosen import Choice
from analyzer.trace.paraver import MOST_LEVELS
from analyzer.writers.callers import WithCallers


@click.command("prv")
@file_argument
@click.option("--waits", is_flag=True, help="Add wait states as events, and write NAME.waits.cfg, which shows them.")
@click.option(
    "--callers", type=click.IntRange(1, MOST_LEVELS), metavar="LEVELS",
    help="Add the callers of each call as events: functions and lines, so many levels, as Extrae does.",
)  # fmt: skip
@click.option("--iterations", is_flag=True, help="Add the iterations found as events (analyze structure).")
@iteration_option
@ranks_option
@all_calls_needed("a Paraver trace has all calls; with --callers, Paraver can choose among them")
@repair_option
@common_options(output="Name of the trace, with or without .prv, or a folder for it.")
@click.pass_obj
def prv(
    session: Session, file: str, waits: bool, callers: int | None, iterations: bool, choice: Choice | None,
    repair_ns: int | None, output: str | None, force: bool, quiet: bool,
) -> None:  # fmt: skip
    """Write FILE as a Paraver trace: NAME.prv, NAME.pcf and NAME.row."""
    session.quiet = quiet
    trace = open_wanted(session, file, repair_ns=repair_ns, choice=choice)
    session.mention_choice(trace)
    try:
        write = write_with_waits if waits else write_paraver
        found = iterations_in(trace, session) if iterations else None
        shown = with_callers(trace, callers) if callers else trace
        shown = WithIterations(shown, found) if found else shown
        for path in write(shown, output_base(Path(file), output, (".prv",)), session, force):
            session.say(str(path))
    finally:
        trace.close()


def with_callers(trace: Trace, levels: int) -> Trace:
    """The trace with so many levels of callers; refused where it does not know them."""
    if not trace.extra(CallPaths).known:
        raise TracelibError(
            f"{trace.path}: it does not say where its calls come from", "record it without TRACELIB_STACK=0"
        )
    return WithCallers(trace, levels)
