"""--iteration and --region iteration: the iterations that were found, as a window of time and as a region."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from analyzer.commands.shared.wanted import NAME, Wanted
from analyzer.errors import TracelibError

if TYPE_CHECKING:  # numpy takes as long to import as click: who asks for --help does not wait for it
    import numpy as np

    from analyzer.commands.shared.session import Session
    from analyzer.structure.iterations import Iterations
    from analyzer.trace import Trace


class _Numbers(click.ParamType):
    """113, or 10-20, as the first and the last."""

    name = "iterations"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, int]:
        found = re.fullmatch(r"(\d{1,9})(?:-(\d{1,9}))?", str(value))
        first = int(found[1]) if found else 0
        last = int(found[2] or first) if found else 0
        if not 0 < first <= last:
            self.fail(f"{value!r} is no iteration such as 113, from 1 on, or several such as 10-20", param, ctx)
        return first, last


def iteration_option(command: Callable) -> Callable:
    """--iteration. What `open_wanted` opens is a run of these alone."""
    return click.option(
        "--iteration", type=_Numbers(), metavar="N", expose_value=False, callback=_window,
        help="Only this iteration, or several such as 10-20 (analyze structure).",
    )(command)  # fmt: skip


def iteration_options(command: Callable) -> Callable:
    """--iteration, and --region iteration for a command that shows the regions of a run."""
    command = click.option(
        "--region", type=click.Choice([NAME]), expose_value=False, callback=_region,
        help="Count each iteration found as a visit of a region.",
    )(command)  # fmt: skip
    return iteration_option(command)


def _window(ctx: click.Context, _: click.Parameter, value: tuple[int, int] | None) -> None:
    if value:
        as_region = ctx.obj.wanted.as_region if ctx.obj.wanted else False
        ctx.obj.wanted = Wanted(*value, as_region=as_region)


def _region(ctx: click.Context, _: click.Parameter, value: str | None) -> None:
    if value:
        window = ctx.obj.wanted or Wanted()
        ctx.obj.wanted = Wanted(window.first, window.last, as_region=True)


def open_wanted(session: Session, file: str, *, region: str | None = None, **opening: Any) -> Trace:
    """`analyzer.opening.open_trace`; of the iterations that the command line names, if it does, as a run of their own,
    whose times begin with them. region: a region that the command looks at; if it is NAME, and the program has no such
    region, or if the command line asks for it, iterations are visits of it.

    Raises TracelibError where no iterations are found, or not so many.
    """
    from analyzer.opening import open_trace

    trace = open_trace(file, session.team, **opening)
    session.note_buffers(trace)
    wanted = session.wanted or Wanted()
    try:
        from analyzer.trace import Regions

        as_region = NAME in (region, wanted.as_region and NAME) and NAME not in trace.extra(Regions).names
        if not wanted.first and not as_region:
            return trace
        found = _wanted_of(trace, session, wanted)
        if wanted.first:
            session.mention_problems(trace)
        if as_region:
            from analyzer.structure.regions import WithRegion

            trace = WithRegion(trace, found)
        return _cut(trace, found, wanted, session, opening) if wanted.first else trace
    except BaseException:
        trace.close()
        raise


def wanted_windows(session: Session, trace: Trace, more: str = "") -> np.ndarray | None:
    """int64 (ranks, 2): when each rank of an opened run begins and ends the iterations that the command line names, ns,
    -1 where that is not known; None: it names none. For what a cut run does not have. more: what is said of it besides.

    Raises TracelibError where no iterations are found, or not so many. Collective.
    """
    wanted = session.wanted
    if not wanted or not wanted.first:
        return None
    from analyzer.structure.cut.choose import span_of

    found = _wanted_of(trace, session, wanted)
    windows = _windows(found, wanted)
    _say(session, trace, found, wanted, span_of(windows), more)
    return windows


def _wanted_of(trace: Trace, session: Session, wanted: Wanted) -> Iterations:
    found = iterations_of(trace, session)
    if wanted.last > found.count:
        there = f"there are {found.count}" if found.count > 1 else "there is one"
        raise TracelibError(f"{trace.path} has no {NAME} {wanted.last}", there)
    return found


def _windows(found: Iterations, wanted: Wanted) -> np.ndarray:
    from analyzer.structure.cut.choose import window

    return window(found, wanted.first - 1, wanted.last - wanted.first + 1)


def _say(
    session: Session, trace: Trace, found: Iterations, wanted: Wanted, span: tuple[int, int], more: str
) -> None:  # fmt: skip
    if session.speaks and not session.quiet:
        length, at = (span[1] - span[0]) / 1e6, span[0] / 1e9
        said = f"only {wanted.text} of {found.count}, {length:.6g} ms from {at:.6g} s on{more}"
        click.echo(f"{Path(trace.path).name}: {said}", err=True)


def iterations_of(trace: Trace, session: Session) -> Iterations:
    """Those of the main loop. Raises TracelibError where none are found."""
    from analyzer.structure.levels.find import iterations

    if not trace.has_call_times:
        raise TracelibError(f"{trace.path}: a Dimemas trace has no times", "name the run that it was made of")
    with session.step("Looking for iterations"):
        found = iterations(trace, session.team)
    if found is None:
        raise TracelibError(f"{trace.path}: no iterations were found", "analyze structure says what it is made of")
    return found


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
    with session.step(f"Cutting out {wanted.text}"):
        write_cut(trace, session.team, windows, part)
    session.team.barrier()
    small = open_trace(part, session.team, choice=choice, matched=opening.get("matched", True))
    small.path = trace.path
    trace.close()
    _say(session, small, found, wanted, span_of(windows), "; times begin there")
    return small


def _place(path: Path, *, alone: bool) -> str:
    """Where all processes can read what one of them writes."""
    from analyzer.temporary import place_of_temporaries

    folder = place_of_temporaries() if alone else path.parent
    return os.fspath(folder / f".{path.name}.{os.getpid()}.{NAME}.h5")
