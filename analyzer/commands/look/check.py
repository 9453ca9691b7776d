"""`analyze check`: is the file sound and complete?"""

from __future__ import annotations

from typing import Any

import click

from analyzer.commands.shared.options import common_options, file_argument, place_option, ranks_option, repair_option
from analyzer.commands.shared.picture import check_picture, draw_ranks, picture_option
from analyzer.commands.shared.session import Session
from analyzer.metrics.checks import findings, findings_at, notes
from analyzer.opening import open_trace
from analyzer.parallel import Team
from analyzer.recording.run.file_findings import count_findings, stamp_findings
from analyzer.recording.run.trace import RunTrace
from analyzer.report.words.clocks import clock_lines, clocks_json, repair_json
from analyzer.report.words.groups import FEW, few_lines
from analyzer.report.words.units import plural
from analyzer.trace import Chosen, Losses, Trace
from analyzer.trace.at_places import PlaceChoice
from analyzer.trace.chosen import Choice, choice_named

_MOST_LINES = 24
_END = 0.1
"""What part of a run that did not end in order is drawn."""


@click.command("check")
@file_argument
@ranks_option
@place_option
@repair_option
@picture_option
@common_options(as_json=True)
@click.pass_context
def check(
    context: click.Context, file: str, choice: Choice | None, place: PlaceChoice | None, repair_ns: int | None,
    picture: str | None, as_json: bool, quiet: bool,
) -> None:  # fmt: skip
    """Check FILE: can it be read, are its records in order, its messages matched and its counts consistent, and was
    nothing lost?

    Each finding is one line. The exit code is 0 if there are no findings, else 1. Notes are not findings. With --place
    only what is wrong with such calls is looked for. --picture draws the whole run, or, of one that was killed, the
    last tenth.
    """
    session: Session = context.obj
    session.quiet = quiet
    trace = open_trace(file, session.team, repair_ns, impossible=True, choice=choice)
    try:
        check_picture(picture, trace)
        with session.step(f"Checking {file}"):
            found = findings_at(trace, session.team, place) if place else findings(trace, session.team)
            if isinstance(trace, RunTrace) and not place:
                found += _of_files(trace, session.team)
        if as_json:
            session.print_json(_json(trace, found))
        else:
            said = few_lines(found, _MOST_LINES, "; --json lists all")
            for line in [*said, *(f"clocks: {text}" for text in clock_lines(trace))]:
                session.say(line)
            if not found:
                session.say(f"{trace.path}: good, {_looked_at(trace, place)}")
            for line in few_lines(notes(trace), FEW, "; --json lists all"):
                session.say(f"note: {line}")
        whole = trace.duration_ns
        end = (round(whole * (1 - _END)), whole) if trace.extra(Losses).ending else None
        draw_ranks(session, trace, picture, shown=end)
    finally:
        trace.close()
    if found:
        context.exit(1)


def _looked_at(trace: Trace, place: PlaceChoice | None) -> str:
    of = f", of calls through {place.text}" if place else ""
    return f"{choice_named(trace) or plural(trace.size, 'rank')}{of}"


def _of_files(trace: RunTrace, team: Team) -> list[str]:
    """What the rank files say that cannot be, first of counts, then of stamps. The team shares them."""
    files = trace.files_of(trace.share(team))
    kinds = zip(*team.allgather((count_findings(files), stamp_findings(files))), strict=True)
    return [line for parts in kinds for part in parts for line in part]


def _json(trace: Trace, found: list[str]) -> dict[str, Any]:
    whole = {"file": str(trace.path), "good": not found, "findings": found, "notes": notes(trace)}
    whole |= {"chosen": trace.extra(Chosen).ranks}
    return whole | {"clocks": clocks_json(trace), "repair": repair_json(trace)}
