"""`analyze hot`: the functions and lines in which a run computes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from analyzer.commands.command import Chooses, Result, command
from analyzer.commands.shared.iteration_option import opened
from analyzer.commands.shared.options import Option, file_argument, rare_option
from analyzer.commands.shared.session import Session
from analyzer.errors import TracelibError
from analyzer.report.words import units
from analyzer.results.open_part import chosen_windows
from analyzer.results.output_files import check_writable

if TYPE_CHECKING:  # numpy takes as long to import as click: who asks for --help does not wait for it
    from analyzer.metrics.hot import HotRows
    from analyzer.places import Places
    from analyzer.results.hot import HotResult
    from analyzer.trace import Trace
    from analyzer.trace.at_places import PlaceChoice


@command(
    "Which functions and lines take the time of computing.",
    iterations=True,
    ranks=Chooses(),
    place=Chooses("the samples in such functions, lines and libraries, and in what these call"),
    json=1,
)
@file_argument
@click.option("--lines", is_flag=True, help="Show lines, too, not only functions.")
@click.option("--flame", type=click.Path(), metavar="FILE", help="Write a flame graph into this .svg file.")
@click.option(
    "--against",
    "diff",
    cls=Option,
    old=("--diff",),
    type=click.Path(),
    metavar="RUN",
    help="Colour the flame graph by the difference from this run.",
)
@rare_option("--collapsed", type=click.Path(), metavar="FILE", help="Write collapsed stacks into this .txt file.")
@rare_option("--speedscope", type=click.Path(), metavar="FILE", help="Write a .json file for speedscope.app.")
@click.option("-f", "--force", is_flag=True, help="Replace existing files that analyze did not write.")
def hot_command(
    session: Session,
    file: str,
    lines: bool,
    place: PlaceChoice | None,
    flame: str | None,
    diff: str | None,
    collapsed: str | None,
    speedscope: str | None,
    force: bool,
) -> Result:
    """Print the functions in which FILE computes, the share of the computing time that each takes, and how unevenly
    it is spread over the ranks.

    This needs samples: tracelib run --sample 10ms -- mpirun -n 4 ./app. Without
    them it prints between which calls the run computes. --iteration holds for
    --against OTHER, too.
    """
    from analyzer.report.hot import AGAIN
    from analyzer.results.hot import compute_gaps
    from analyzer.trace import CodeSamples

    if diff and not flame:
        raise click.UsageError("--against is for --flame: name a file")
    names = {"flame": flame, "collapsed": collapsed, "speedscope": speedscope}
    with opened(session, file, whole=True) as trace:
        if trace.extra(CodeSamples).known:
            result = _samples(session, trace, place, lines=lines)
            _write(session, trace, result._samples, result._places, names, force, diff, place)
            return result
    if place or any(names.values()):
        raise TracelibError(f"{file} has {AGAIN.partition(',')[0]}", AGAIN.partition(", ")[2])
    with opened(session, file, remarks="") as trace:
        return compute_gaps(trace, session.team)


def _samples(session: Session, trace: Trace, place: PlaceChoice | None, *, lines: bool = False) -> HotResult:
    """Add up the samples of the chosen iterations."""
    from analyzer.results.hot import compute

    windows = chosen_windows(session, trace)
    with session.step("Adding up samples"):
        return compute(trace, session.team, lines=lines, place=place, windows=windows)


def _write(
    session: Session, trace: Trace, found: HotRows, places: Places, names: dict[str, str | None], force: bool,
    diff: str | None, place: PlaceChoice | None,
) -> None:  # fmt: skip
    """The files that were asked for. Raises TracelibError."""
    from analyzer.report.hot import AGAIN, stacks
    from analyzer.trace import CodeSamples
    from analyzer.trace.chosen import choice_named
    from analyzer.writers.flame import tree, write_collapsed, write_flame, write_speedscope

    wanted = {kind: Path(name) for kind, name in names.items() if name}
    for path in wanted.values():
        check_writable(path, trace, force)
    other = None
    if diff:
        with opened(session, diff, remarks="", whole=True, choice=None) as second:
            if not second.extra(CodeSamples).known:
                raise TracelibError(f"{diff} has {AGAIN.partition(',')[0]}", AGAIN.partition(", ")[2])
            compared = _samples(session, second, place)
            other = compared._samples.rows, stacks(compared._samples, compared._places)
    if not wanted or not session.speaks:
        return
    frames = stacks(found, places)
    if "flame" in wanted:
        root = tree(found.rows, frames, other[0] if other else None, other[1] if other else {})
        ranks = choice_named(trace) or units.plural(len(found.ranks), "rank")
        subtitle = f"{units.time(root.ns)} of computing on {ranks}; click: zoom"
        subtitle += f"; red: more than {Path(diff).name}, blue: less" if diff else ""
        write_flame(wanted["flame"], root, f"{Path(trace.path).name}: where it computes", subtitle, compared=bool(diff))
    if "collapsed" in wanted:
        write_collapsed(wanted["collapsed"], found.rows, frames)
    if "speedscope" in wanted:
        write_speedscope(wanted["speedscope"], trace.path, found.rows, frames)
