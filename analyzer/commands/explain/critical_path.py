"""`analyze critical-path`: what determines the run's length, and how much slack the rest has."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from analyzer.commands.command import Alone, Chooses, Opens, Output, command
from analyzer.commands.shared.options import LatencyType, SizeType, rare_option
from analyzer.commands.shared.picture import Boxed, Drawing
from analyzer.commands.shared.session import Session
from analyzer.errors import TracelibError
from analyzer.results.output_files import output_base

if TYPE_CHECKING:  # numpy takes as long to import as click: who asks for --help does not wait for it
    from analyzer.report.critical_path import CriticalPathReport
    from analyzer.trace import Trace
    from analyzer.trace.at_places import PlaceChoice


def _check(session: Session, output: str | None, **_: object) -> None:
    if session.choice and output and output.endswith(".dim"):
        raise click.UsageError("--ranks cannot be used with a .dim, because a replay needs all ranks")


@command(
    "What determines the run's length, and which ranks have slack.",
    opens=Opens(check=_check),
    iterations="region",
    ranks=Chooses(),
    place=Chooses(
        "the table by place: these calls, and the computing before and after them. The path is that of the run"
    ),
    repair=True,
    picture=True,
    output="Write the path as events of type 90 (.prv) or as priorities (.dim).",
    json=1,
    alone=Alone("one process follows the path"),
)
@click.option(
    "--top",
    type=click.IntRange(0),
    default=10,
    metavar="N",
    show_default=True,
    help="Number of longest parts of the path to show.",
)
@rare_option(
    "--eager-limit",
    type=SizeType(),
    metavar="SIZE",
    show_default="as the run shows",
    help="Size above which sends wait for their receive, such as 32k.",
)
@rare_option(
    "--poll-gap",
    "poll_gap_ns",
    type=LatencyType(),
    metavar="TIME",
    default="10us",
    show_default=True,
    help="Time between failed polls counts as waiting, up to this for each poll.",
)
def critical_path_command(
    session: Session,
    trace: Trace,
    top: int,
    eager_limit: int | None,
    poll_gap_ns: int,
    place: PlaceChoice | None,
    output: str | None,
    force: bool,
) -> Output:
    """Print the critical path of FILE: the path through its ranks that determines how long the run takes.

    The path is followed back from the last event, through computation and calls. Where a call waited for another
    rank, the path goes on at that rank. Its parts add up to the length of the run. Computation that is not on the
    path has slack: it could take that much longer, and the run would not be longer. With --place the path is that of
    the whole run, and such calls, and the computing before and after them, are shown.
    """
    from analyzer.results.critical_path import compute

    with session.step(f"Walking back through {session.file}"):
        result = compute(trace, session.team, top=top, eager_limit=eager_limit, poll_gap_ns=poll_gap_ns, place=place)
    found = result._found if result else None
    written = _write(trace, found, output, force, session) if output else []
    drawing = Drawing(boxes=_boxes(found), boxed="the longest stays of the path")
    if result is None:
        return Output(dict, lambda console: None, drawing)
    numbers = {"files": [str(path) for path in written]}
    return Output.of(result, drawing, numbers=numbers, lines=[f"Written: {path}" for path in written])


def _boxes(found: CriticalPathReport | None) -> list[Boxed]:
    """Return the longest stays of the path on one thread."""
    return [(stay.rank, stay.begin_ns, stay.end_ns) for stay in found.stays] if found else []


def _write(trace: Trace, found: CriticalPathReport | None, output: str, force: bool, session: Session) -> list[Path]:
    """Write the trace with its path, for Paraver or Dimemas. Collective over the team; only one member has the path."""
    from analyzer.critical.exports import WithPath, path_events
    from analyzer.results.write_traces import write_paraver

    if output.endswith(".dim"):
        return [_write_priorities(trace, found, output, force, session)]
    added = session.team.bcast(path_events(trace, found.path) if found else None)
    return write_paraver(WithPath(trace, added), output_base(Path(trace.path), output, (".prv",)), session, force)


def _write_priorities(
    trace: Trace, found: CriticalPathReport | None, output: str, force: bool, session: Session
) -> Path:
    from analyzer.critical.exports import path_priorities
    from analyzer.results.write_traces import write_dimemas

    if not trace.has_call_times:
        raise TracelibError(
            f"{trace.path} has no times of its own", "write the priorities from the run that it was made of"
        )
    added = session.team.bcast(path_priorities(found.path) if found else None)
    return write_dimemas(trace, output_base(Path(trace.path), output, (".dim",)), session, force, added).path
