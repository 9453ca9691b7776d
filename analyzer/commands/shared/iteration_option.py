"""--loop, --iteration and --region iteration: loops that were found, and their iterations, as windows of time and as a
region."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import click

from analyzer.commands.shared.wanted import NAME, Wanted
from analyzer.errors import TracelibError

if TYPE_CHECKING:  # numpy takes as long to import as click: who asks for --help does not wait for it
    import numpy as np

    from analyzer.commands.shared.session import Session
    from analyzer.structure.iterations import Iterations
    from analyzer.trace import Trace


_cut_by: WeakKeyDictionary[Trace, Iterations] = WeakKeyDictionary()
"""Of runs that are parts of others the iterations that are in them."""


class _Numbers(click.ParamType):
    """113, 10-20, or of loop 2 2:113, 2:10-20, as the loop (0: none is named), the first and the last."""

    name = "iterations"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, int, int]:
        found = re.fullmatch(r"(?:(\d{1,9}):)?(\d{1,9})(?:-(\d{1,9}))?", str(value))
        loop = int(found[1] or 0) if found else 0
        first = int(found[2]) if found else 0
        last = int(found[3] or first) if found else 0
        if not 0 < first <= last or (found and found[1] and not loop):
            wanted = "113, from 1 on, or several such as 10-20, or of loop 2 such as 2:113"
            self.fail(f"{value!r} is no iteration such as {wanted}", param, ctx)
        return loop, first, last


def iteration_option(command: Callable) -> Callable:
    """--loop and --iteration. What `open_wanted` opens is a run of these alone."""
    command = click.option(
        "--iteration", type=_Numbers(), metavar="N", expose_value=False, callback=_window,
        help="Only this iteration, or several such as 10-20, of the main loop; 2:14 is iteration 14 of loop 2.",
    )(command)  # fmt: skip
    return loop_option(command)


def loop_option(command: Callable) -> Callable:
    """--loop alone."""
    return click.option(
        "--loop", type=click.IntRange(1), metavar="N", expose_value=False, callback=_loop,
        help="Only this loop, by its number in analyze structure; 1 is the main one.",
    )(command)  # fmt: skip


def iteration_options(command: Callable) -> Callable:
    """--iteration, and --region iteration for a command that shows the regions of a run."""
    command = click.option(
        "--region", type=click.Choice([NAME]), expose_value=False, callback=_region,
        help="Count each iteration found as a visit of a region.",
    )(command)  # fmt: skip
    return iteration_option(command)


def _window(ctx: click.Context, _: click.Parameter, value: tuple[int, int, int] | None) -> None:
    if value:
        loop, first, last = value
        _of_loop(ctx, loop)
        ctx.obj.wanted = replace(ctx.obj.wanted or Wanted(), first=first, last=last)


def _loop(ctx: click.Context, _: click.Parameter, value: int | None) -> None:
    _of_loop(ctx, value or 0)


def _of_loop(ctx: click.Context, loop: int) -> None:
    """Note the loop that is wanted; 0: none is named."""
    known = ctx.obj.wanted or Wanted()
    if loop and known.loop not in (0, loop):
        told = "--iteration 2:14 is iteration 14 of loop 2; several are 2-14"
        raise click.UsageError(f"--loop and --iteration name two loops, {known.loop} and {loop}: {told}")
    if loop:
        ctx.obj.wanted = replace(known, loop=loop)


def _region(ctx: click.Context, _: click.Parameter, value: str | None) -> None:
    if value:
        ctx.obj.wanted = replace(ctx.obj.wanted or Wanted(), as_region=True)


def open_wanted(session: Session, file: str, *, region: str | None = None, **opening: Any) -> Trace:
    """`analyzer.opening.open_trace`; of the loop or the iterations that the command line names, if it does, as a run of
    their own, whose times begin with them. region: a region that the command looks at; if it is NAME, and the program
    has no such region, or if the command line asks for it, iterations are visits of it.

    Raises TracelibError where no iterations are found, or not so many.
    """
    from analyzer.opening import open_trace

    trace = open_trace(file, session.team, **opening)
    session.note_buffers(trace)
    wanted = session.wanted or Wanted()
    try:
        from analyzer.trace import Regions

        as_region = NAME in (region, wanted.as_region and NAME) and NAME not in trace.extra(Regions).names
        if not wanted.is_part and not as_region:
            return trace
        found = wanted_loop(trace, session, wanted)
        if wanted.is_part:
            session.mention_problems(trace)
        if as_region:
            from analyzer.structure.regions import WithRegion

            trace = WithRegion(trace, found)
        return _cut(trace, found, wanted, session, opening) if wanted.is_part else trace
    except BaseException:
        trace.close()
        raise


def iterations_in(trace: Trace, session: Session) -> Iterations:
    """The iterations in what `open_wanted` opened: of a part of a run those that it was cut out by; else those of the
    main loop. Raises TracelibError where there are none."""
    return _cut_by[trace] if trace in _cut_by else iterations_of(trace, session)


def wanted_windows(session: Session, trace: Trace, more: str = "") -> np.ndarray | None:
    """int64 (ranks, 2): when each rank of an opened run begins and ends the iterations that the command line names, ns,
    -1 where that is not known; None: it names none. For what a cut run does not have. more: what is said of it besides.

    Raises TracelibError where no iterations are found, or not so many. Collective.
    """
    wanted = session.wanted
    if not wanted or not wanted.is_part:
        return None
    from analyzer.structure.cut.choose import span_of

    found = wanted_loop(trace, session, wanted)
    windows = _windows(found, wanted)
    _say(session, trace, found, wanted, span_of(windows), more)
    return windows


def wanted_loop(trace: Trace, session: Session, wanted: Wanted) -> Iterations:
    """The loop that the command line names. Raises TracelibError where there is none, or too few iterations."""
    found = iterations_of(trace, session)
    if wanted.last > found.count:
        there = f"there are {found.count}" if found.count > 1 else "there is one"
        of = f" of loop {wanted.loop}" if wanted.loop else ""
        raise TracelibError(f"{trace.path} has no {NAME} {wanted.last}{of}", there)
    return found


def _windows(found: Iterations, wanted: Wanted) -> np.ndarray:
    from analyzer.structure.cut.choose import window

    return window(found, *wanted.numbers(found.count))


def _say(
    session: Session, trace: Trace, found: Iterations, wanted: Wanted, span: tuple[int, int], more: str
) -> None:  # fmt: skip
    if session.speaks and not session.quiet:
        length, at = (span[1] - span[0]) / 1e6, span[0] / 1e9
        said = f"only {wanted.text(found.count)}, {length:.6g} ms from {at:.6g} s on{more}"
        click.echo(f"{Path(trace.path).name}: {said}", err=True)


def iterations_of(trace: Trace, session: Session) -> Iterations:
    """Those of the loop that the command line names, else of the main one. Raises TracelibError where there is none."""
    from analyzer.structure.levels.find import iterations, numbered_loops

    if not trace.has_call_times:
        raise TracelibError(f"{trace.path}: a Dimemas trace has no times", "name the run that it was made of")
    number = session.wanted.loop if session.wanted else 0
    with session.step("Looking for iterations"):
        if number > 1:
            loops = numbered_loops(trace, session.team)
        else:
            main = iterations(trace, session.team, by_signals=True)
            loops = [main] if main else []
    if not loops:
        raise TracelibError(f"{trace.path}: no iterations were found", "analyze structure says what it is made of")
    if number > len(loops):
        there = f"there are {len(loops)}" if len(loops) > 1 else "there is one"
        raise TracelibError(f"{trace.path} has no loop {number}", f"{there}; analyze structure numbers them")
    return loops[max(number, 1) - 1]


def _cut(trace: Trace, found: Iterations, wanted: Wanted, session: Session, opening: dict[str, Any]) -> Trace:
    """The wanted iterations as a run, in a file that goes when the command ends."""
    from analyzer.opening import open_trace
    from analyzer.signals import discard, temporary
    from analyzer.structure.cut.choose import span_of
    from analyzer.structure.cut.cut import write_cut

    if (choice := opening.get("choice")) and choice.cluster:
        raise click.UsageError(f"--{NAME} and --cluster cannot be used together")
    part = temporary(Path(session.team.bcast(_place(Path(trace.path), alone=session.team.size == 1))))
    if session.speaks:
        click.get_current_context().call_on_close(lambda: discard(part))
    windows = _windows(found, wanted)
    with session.step(f"Cutting out {wanted.text(found.count)}"):
        write_cut(trace, session.team, windows, part)
    session.team.barrier()
    small = open_trace(part, session.team, choice=choice, matched=opening.get("matched", True))
    small.path = trace.path
    _cut_by[small] = found.part(*wanted.numbers(found.count))
    trace.close()
    _say(session, small, found, wanted, span_of(windows), "; times begin there")
    return small


def _place(path: Path, *, alone: bool) -> str:
    """Where all processes can read what one of them writes."""
    from analyzer.temporary import place_of_temporaries

    folder = place_of_temporaries() if alone else path.parent
    return os.fspath(folder / f".{path.name}.{os.getpid()}.{NAME}.h5")
