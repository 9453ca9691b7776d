"""`analyze hot`: the functions and lines in which a run computes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from analyzer.commands.command import Chooses, command
from analyzer.commands.shared.iteration_option import open_wanted, wanted_windows
from analyzer.commands.shared.options import Option, file_argument, rare_option
from analyzer.commands.shared.outputs import check_writable
from analyzer.commands.shared.session import Session
from analyzer.errors import TracelibError
from analyzer.report.words import units

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
) -> None:
    """Print the functions in which FILE computes, with their share, and how
    unevenly the ranks do.

    This needs samples: tracelib run --sample 10ms -- mpirun -n 4 ./app. Without
    them it prints between which calls the run computes. --iteration holds for
    --against OTHER, too.
    """
    from analyzer.opening import open_trace
    from analyzer.trace import CodeSamples

    if diff and not flame:
        raise click.UsageError("--against is for --flame: name a file")
    trace = open_trace(file, session.team, choice=session.choice)
    try:
        session.mention_problems(trace)
        if not trace.extra(CodeSamples).known:
            trace.close()
            trace = open_wanted(session, file, choice=session.choice)
            _without_samples(
                session, trace, file, session.as_json, wanted=bool(flame or collapsed or speedscope or place)
            )
            return
        result = _samples(session, trace, place, lines=lines)
        _write(
            session,
            trace,
            result._samples,
            result._places,
            {"flame": flame, "collapsed": collapsed, "speedscope": speedscope},
            force,
            diff,
            place,
        )
        if session.as_json:
            session.print_json(result.to_dict())
        elif not session.quiet:
            session.print(result.print)
    finally:
        trace.close()


def _samples(session: Session, trace: Trace, place: PlaceChoice | None, *, lines: bool = False) -> HotResult:
    """Add up the samples of the chosen iterations."""
    from analyzer.results.hot import compute

    windows = wanted_windows(session, trace)
    with session.step("Adding up samples"):
        return compute(trace, session.team, lines=lines, place=place, windows=windows)


def _without_samples(session: Session, trace: Trace, file: str, as_json: bool, *, wanted: bool) -> None:
    """Print the gaps between calls, for a run without samples.

    Raises:
        TracelibError: The user asked for samples (`wanted`).
    """
    from analyzer.report.hot import AGAIN
    from analyzer.results.hot import compute_gaps

    if wanted:
        raise TracelibError(f"{file} has {AGAIN.partition(',')[0]}", AGAIN.partition(", ")[2])
    result = compute_gaps(trace, session.team)
    if as_json:
        session.print_json(result.to_dict())
    elif not session.quiet:
        session.print(result.print)


def _write(
    session: Session, trace: Trace, found: HotRows, places: Places, names: dict[str, str | None], force: bool,
    diff: str | None, place: PlaceChoice | None,
) -> None:  # fmt: skip
    """Write the files that the command line asks for. Raises TracelibError."""
    from analyzer.opening import open_trace
    from analyzer.report.hot import AGAIN, stacks
    from analyzer.trace import CodeSamples
    from analyzer.trace.chosen import choice_named
    from analyzer.writers.flame import tree, write_collapsed, write_flame, write_speedscope

    wanted = {kind: Path(name) for kind, name in names.items() if name}
    for path in wanted.values():
        check_writable(path, trace, force)
    other = None
    if diff:
        second = open_trace(diff, session.team)
        try:
            if not second.extra(CodeSamples).known:
                raise TracelibError(f"{diff} has {AGAIN.partition(',')[0]}", AGAIN.partition(", ")[2])
            compared = _samples(session, second, place)
            other = compared._samples.rows, stacks(compared._samples, compared._places)
        finally:
            second.close()
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
