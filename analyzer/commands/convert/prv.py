"""`analyze prv`: a Paraver trace."""

from __future__ import annotations

from pathlib import Path

import click

from analyzer.commands.shared.options import common_options, file_argument, ranks_option, repair_option
from analyzer.commands.shared.outputs import output_base
from analyzer.commands.shared.session import Session
from analyzer.commands.shared.write import write_paraver, write_with_waits
from analyzer.opening import open_trace
from analyzer.trace.chosen import Choice


@click.command("prv")
@file_argument
@click.option("--waits", is_flag=True, help="Add wait states as events, and write NAME.waits.cfg, which shows them.")
@ranks_option
@repair_option
@common_options(output="Name of the trace, with or without .prv, or a folder for it.")
@click.pass_obj
def prv(
    session: Session, file: str, waits: bool, choice: Choice | None, repair_ns: int | None, output: str | None,
    force: bool, quiet: bool,
) -> None:  # fmt: skip
    """Write FILE as a Paraver trace: NAME.prv, NAME.pcf and NAME.row."""
    session.quiet = quiet
    trace = open_trace(file, session.team, repair_ns, choice=choice)
    session.mention_choice(trace)
    try:
        write = write_with_waits if waits else write_paraver
        for path in write(trace, output_base(Path(file), output, (".prv",)), session, force):
            session.say(str(path))
    finally:
        trace.close()
