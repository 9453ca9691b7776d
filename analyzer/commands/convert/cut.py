"""`analyze cut`: a small run of some iterations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from analyzer.commands.command import Alone, Refuses, Result, command
from analyzer.commands.shared.iteration_option import opened
from analyzer.commands.shared.options import file_argument, rare_option
from analyzer.commands.shared.session import Session
from analyzer.errors import TracelibError
from analyzer.results.open_part import chosen_loop

if TYPE_CHECKING:  # numpy takes as long to import as click: who asks for --help does not wait for it
    import numpy as np

    from analyzer.results.cut import CutResult
    from analyzer.structure.iterations import Iterations
    from analyzer.trace import Trace


@dataclass(frozen=True)
class _Asked:
    """The part of the run that a cut keeps."""

    count: int | None
    first: int | None
    level: int
    begin_s: float | None
    end_s: float | None
    every: bool
    is_live: bool

    @property
    def by_times(self) -> bool:
        return self.begin_s is not None or self.end_s is not None

    def check(self, session: Session) -> None:
        """Raise UsageError where options do not go together."""
        wanted = session.wanted
        if self.by_times and (wanted or self.every or self.level > 1 or self.first or self.count):
            raise click.UsageError("--from and --to name times, so leave out options of loops and iterations")
        if self.is_live and not self.every:
            raise click.UsageError("--follow cuts every loop as it is found: name --all, too")
        if self.every and (wanted or self.level > 1 or self.first):
            raise click.UsageError("--all cuts every loop, so leave out --loop, --level, --iteration and --first")
        if wanted and wanted.first and (self.first or self.count):
            raise click.UsageError("--iteration names all iterations, so leave out --first and --iterations")
        if wanted and self.level > 1:
            raise click.UsageError("--loop and --iteration name a loop, so leave out --level")


@command(
    "Make a small run of some iterations.",
    iterations=True,
    ranks=Refuses("a cut has all ranks, because they wait for each other"),
    place=Refuses("a cut has all calls of its time, because ranks wait for each other in them"),
    output="Name of the cut run (.h5, .prv or .dim).  [default: NAME-cut.h5]",
    json=1,
    alone=Alone("one process writes the file", 4),
)
@file_argument
@click.option(
    "--iterations",
    "count",
    type=click.IntRange(min=1),
    metavar="N",
    show_default="2, or more until they are like the whole loop",
    help="Number of iterations that are kept.",
)
@click.option(
    "--first",
    type=click.IntRange(min=1),
    metavar="N",
    show_default="the most typical ones",
    help="First iteration that is kept, from 1.",
)
@click.option("--all", "every", is_flag=True, help="Cut every loop, into NAME-cut-1.h5, NAME-cut-2.h5, ...")
@rare_option(
    "--follow",
    "is_live",
    is_flag=True,
    help="With --all: follow a run that is still being written, and cut each loop when it is certain.",
)
@rare_option(
    "--level",
    type=click.IntRange(1, 4),
    default=1,
    show_default=True,
    metavar="LEVEL",
    help="Cut the longest loop of this level (1: the level of the main loop).",
)
@click.option(
    "--from",
    "begin_s",
    type=click.FloatRange(min=0),
    metavar="SECONDS",
    help="Cut from this time on, in seconds, not by iterations.",
)
@click.option("--to", "end_s", type=click.FloatRange(min=0), metavar="SECONDS", help="Cut up to this time, in seconds.")
def cut(
    session: Session,
    file: str,
    count: int | None,
    first: int | None,
    every: bool,
    is_live: bool,
    level: int,
    begin_s: float | None,
    end_s: float | None,
    output: str | None,
    force: bool,
) -> Result | None:
    """Write some iterations of FILE as a small run of their own, which every command reads.

    Without --first or --iteration, the iterations are cut whose efficiencies and length are nearest to the whole
    loop's.
    """
    from analyzer.commands.convert._cut_all import cut_all, cut_followed
    from analyzer.report.words.left_out import applications_joined, arrows_left_out

    asked = _Asked(count, first, level, begin_s, end_s, every, is_live)
    asked.check(session)
    if is_live:
        return cut_followed(session, file, count, output, force=force)
    with opened(session, file, whole=True) as trace:
        session.mention([*arrows_left_out(trace), *applications_joined(trace)])
        if not trace.has_call_times:
            raise TracelibError(f"{trace.path}: a Dimemas trace has no times", "cut the run that it was made of")
        if every:
            return cut_all(trace, session, count, output, force=force)
        return _cut_one(trace, session, asked, output, force=force)


def _cut_one(trace: Trace, session: Session, asked: _Asked, output: str | None, *, force: bool) -> CutResult:
    from analyzer.results.cut import path_of_cut, write_part

    windows, content, first = _windows(trace, session, asked)
    path = path_of_cut(trace, output)
    return write_part(trace, windows, path, session, content=content, first=first, force=force)


def _windows(trace: Trace, session: Session, asked: _Asked) -> tuple[np.ndarray, str, int | None]:
    """Return the window of each rank, what it holds in words, the number of the first iteration."""
    from analyzer.results.cut import choose_iterations
    from analyzer.structure.cut.chosen_iterations import fixed_window, window

    if asked.by_times:
        begin = round((asked.begin_s or 0) * 1e9)
        end = trace.duration_ns if asked.end_s is None else round(asked.end_s * 1e9)
        if not begin < min(end, trace.duration_ns):
            raise TracelibError(
                f"{trace.path}: nothing lies between --from and --to", f"it lasts {trace.duration_ns / 1e9:.6g} s"
            )
        return fixed_window(trace, begin, min(end, trace.duration_ns)), "a stretch", None
    found, wanted = _loop(trace, session, asked.level), session.wanted
    if wanted and wanted.first:
        first, count = wanted.numbers(found.count)
    else:
        first, count = choose_iterations(trace, session, found, asked.count, asked.first)
    which = f"iteration {first + 1}" if count == 1 else f"iterations {first + 1} to {first + count}"
    of = f" of loop {wanted.loop}" if wanted and wanted.loop else ""
    return window(found, first, count), f"{which} of {found.count}{of}", first + 1


def _loop(trace: Trace, session: Session, level: int) -> Iterations:
    """Return the loop that is cut. Raises TracelibError where there is none, or fewer iterations than --iteration
    says."""
    from analyzer.structure.levels.run_structure import iterations

    if session.wanted:
        return chosen_loop(trace, session, session.wanted)
    with session.step("Looking for iterations"):
        found = iterations(trace, session.team, level, by_signals=True)
    if found is None:
        raise TracelibError(
            f"{trace.path}: no iterations of level {level} were found", "name a time with --from and --to"
        )
    return found
