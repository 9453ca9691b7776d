"""`analyze info`: the first look without writing anything."""

from __future__ import annotations

import click

from analyzer.commands.shared.conditions import Conditions, condition_options
from analyzer.commands.shared.iteration_option import iteration_options, open_wanted
from analyzer.commands.shared.options import common_options, file_argument, place_option, ranks_option, repair_option
from analyzer.commands.shared.outputs import files_read
from analyzer.commands.shared.picture import check_picture, draw_look, picture_option
from analyzer.commands.shared.session import Session
from analyzer.report.badge import of_efficiency
from analyzer.report.look.as_json import summary_json
from analyzer.report.look.look import print_look
from analyzer.report.look.summary import Summary, summarize
from analyzer.trace.at_places import PlaceChoice
from analyzer.trace.chosen import Choice


@click.command("info")
@file_argument
@iteration_options
@ranks_option
@place_option
@repair_option
@picture_option
@condition_options
@common_options(as_json=True)
@click.pass_obj
def info(
    session: Session, file: str, choice: Choice | None, place: PlaceChoice | None, repair_ns: int | None,
    picture: str | None, conditions: Conditions, as_json: bool, quiet: bool,
) -> None:  # fmt: skip
    """Print what `analyze FILE` prints, and write nothing."""
    session.quiet = quiet
    trace = open_wanted(session, file, repair_ns=repair_ns, choice=choice)
    try:
        check_picture(picture, trace)
        conditions.check_files(files_read(trace))
        summary = summarize(trace, session.team, session.step, place)
        if as_json:
            session.print_json(summary_json(summary))
        elif not quiet:
            session.print(lambda console: print_look(summary, console))
        draw_look(session, summary, picture)
        _judge(session, summary, conditions)
    finally:
        trace.close()


def _judge(session: Session, summary: Summary, conditions: Conditions) -> None:
    if not conditions.asked:
        return
    data, parallel = summary_json(summary), summary.efficiency.parallel_efficiency
    conditions.judge(session, data, data["efficiency"] | {"efficiency": parallel}, lambda: of_efficiency(parallel))
