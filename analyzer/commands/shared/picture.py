"""--picture: ranks over time as a file, from any command that speaks of a moment of a run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from analyzer.commands.shared.session import Session
from analyzer.errors import TracelibError
from analyzer.results.output_files import check_writable

if TYPE_CHECKING:  # numpy takes as long to import as click
    from analyzer.metrics.profile import Profile
    from analyzer.metrics.useful import UsefulTime
    from analyzer.structure.iterations import Iterations
    from analyzer.trace import Trace
    from analyzer.waits.analysis import Waits

Boxed = tuple[int, int, int]
"""A rank, and when something begins and ends (ns)."""

_ENDINGS = (".png", ".svg")
_BINS = 1600

picture_option = click.option(
    "--picture",
    type=click.Path(dir_okay=False),
    metavar="FILE",
    help="Draw ranks over time into this .png or .svg file.",
)


def check_picture(picture: str | None, trace: Trace) -> None:
    """Raise TracelibError where the picture could not be drawn, before anything is computed."""
    if picture is None:
        return
    path = Path(picture)
    if path.suffix not in _ENDINGS:
        raise TracelibError(f"{path}: no kind of picture that is known", "its name ends in .png or .svg")
    if not trace.has_call_times:
        raise TracelibError(f"{trace.path}: a Dimemas trace has no times", "draw the run that it was made of")
    check_writable(path, trace, force=False)


@dataclass(frozen=True)
class Drawing:
    """Contents of a picture of a run, and results that are known already and need not be computed again.

    Attributes:
        calls, computed, waited, iterations: What is known.
        boxes: Boxes that are drawn around something, and `boxed`, what is in them.
        shown: Begin and end of what is drawn, ns; None: all of the run.
        moment_ns: A time that is marked.
    """

    calls: Profile | None = None
    computed: UsefulTime | None = None
    waited: Waits | None = None
    iterations: Iterations | None = None
    boxes: Sequence[Boxed] = ()
    boxed: str = ""
    shown: tuple[int, int] | None = None
    moment_ns: int | None = None


def draw_ranks(session: Session, trace: Trace, picture: str | None, drawing: Drawing) -> None:
    """Draw a run if a picture was asked for. Collective over the team."""
    if picture is None:
        return
    from analyzer.metrics.profile import profile
    from analyzer.metrics.useful import useful
    from analyzer.timeline import lines_of, timeline
    from analyzer.waits.analysis import analyze_waits

    team = session.team
    with session.step("Drawing ranks over time"):
        calls = drawing.calls or profile(trace, team)
        computed = drawing.computed or useful(trace, team)
        waited = drawing.waited or analyze_waits(trace, team, calls, causes=False)
        lines = lines_of(trace, calls, computed, waited)
        begin, end = drawing.shown or (0, trace.duration_ns)
        found = timeline(trace, team, calls, lines, _BINS, begin_ns=begin, end_ns=end)
    if not session.speaks:
        return
    from analyzer.report.pictures.timeline import TimelineNote, draw_timeline
    from analyzer.report.words import units
    from analyzer.timeline import marks_of

    rank = int(lines.typical[0]) if len(lines.typical) else 0
    marks = marks_of(trace, lines.of_rank, rank, drawing.iterations)
    notes = [TimelineNote(int(lines.of_rank[rank]), begin, end) for rank, begin, end in drawing.boxes]
    part = (
        f", {_part(begin, end, trace.duration_ns)}" if drawing.shown and drawing.shown != (0, trace.duration_ns) else ""
    )
    title = f"{Path(trace.path).name}: {units.plural(trace.size, 'rank')}, {units.time(trace.duration_ns)}{part}"
    notes = [note for note in notes if note.line >= 0]
    draw_timeline(found, marks, title, Path(picture), notes, drawing.boxed, drawing.moment_ns)


def _part(begin_ns: int, end_ns: int, duration_ns: int) -> str:
    """Say which part of a run is drawn."""
    from analyzer.report.words import units

    if end_ns == duration_ns:
        return f"the last {units.time(end_ns - begin_ns)}"
    return f"{units.time(end_ns - begin_ns)} from {begin_ns / 1e9:.6f} s"
