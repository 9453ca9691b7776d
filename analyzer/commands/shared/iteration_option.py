"""Options --loop, --iteration and --region iteration, by which loops and their iterations are chosen."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from analyzer.results.open_part import ITERATION_REGION, IterationChoice, open_part

if TYPE_CHECKING:  # numpy takes as long to import as click: who asks for --help does not wait for it
    from analyzer.commands.shared.session import Session
    from analyzer.trace import Trace


class _Numbers(click.ParamType):
    """Type of an option: iterations such as 113, 10-20, or 2:10-20 of loop 2.

    The command gets loop (0: none is named), first and last iteration.
    """

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
    """Add --loop and --iteration to a command. `open_wanted` opens a run of these iterations."""
    command = click.option(
        "--iteration",
        type=_Numbers(),
        metavar="N",
        expose_value=False,
        callback=_window,
        help="Use only these iterations: 3, 10-20, or 2:14 (iteration 14 of loop 2).",
    )(command)
    return loop_option(command)


def loop_option(command: Callable) -> Callable:
    """Add --loop to a command, without --iteration."""
    return click.option(
        "--loop",
        type=click.IntRange(1),
        metavar="N",
        expose_value=False,
        callback=_loop,
        help="Use only this loop, by its number in analyze structure (1: the main loop).",
    )(command)


def iteration_options(command: Callable) -> Callable:
    """Add --loop, --iteration and --region iteration to a command that shows the regions of a run."""
    command = click.option(
        "--region",
        type=click.Choice([ITERATION_REGION]),
        expose_value=False,
        callback=_region,
        help="Show the iterations as visits of a region.",
    )(command)
    return iteration_option(command)


def _window(ctx: click.Context, _: click.Parameter, value: tuple[int, int, int] | None) -> None:
    if value:
        loop, first, last = value
        _of_loop(ctx, loop)
        ctx.obj.wanted = replace(ctx.obj.wanted or IterationChoice(), first=first, last=last)


def _loop(ctx: click.Context, _: click.Parameter, value: int | None) -> None:
    _of_loop(ctx, value or 0)


def _of_loop(ctx: click.Context, loop: int) -> None:
    """Remember the loop that the user chose. 0: none was named."""
    known = ctx.obj.wanted or IterationChoice()
    if loop and known.loop not in (0, loop):
        told = "--iteration 2:14 is iteration 14 of loop 2; several are 2-14"
        raise click.UsageError(f"--loop and --iteration name two loops, {known.loop} and {loop}: {told}")
    if loop:
        ctx.obj.wanted = replace(known, loop=loop)


def _region(ctx: click.Context, _: click.Parameter, value: str | None) -> None:
    if value:
        ctx.obj.wanted = replace(ctx.obj.wanted or IterationChoice(), as_region=True)


def open_wanted(session: Session, file: str, **opening: Any) -> Trace:
    """Open a run, or the iterations of it that the options choose, with `open_part`.

    Raises:
        UsageError: Iterations and a cluster are chosen together.
    """
    choice, wanted = opening.get("choice"), session.wanted
    if choice and choice.cluster and wanted and wanted.is_part:
        raise click.UsageError(f"--{ITERATION_REGION} and --cluster cannot be used together")
    return open_part(session, file, **opening)


@contextmanager
def opened(
    session: Session,
    file: str,
    *,
    region: str | None = None,
    remarks: str = "problems",
    whole: bool = False,
    **opening: Any,
) -> Iterator[Trace]:
    """Open a run as the options say (--ranks, --cluster, --repair-clocks, --loop, --iteration), and close it.

    Args:
        session: Session of the command.
        file: Path of the run.
        region: Region that is analyzed, as in `open_part`. None: no region.
        remarks: Remarks on standard error: "problems" for all, "ranks" for the choice of ranks, "" for none.
        whole: Whether to open the whole run, even if --loop or --iteration is given.
        opening: Further arguments of `analyzer.opening.open_trace`.

    Raises:
        TracelibError: The run cannot be read, or has no such iterations.
    """
    from analyzer.opening import open_trace

    asked = {"choice": session.choice, "repair_ns": session.repair_ns} | opening
    trace = open_trace(file, session.team, **asked) if whole else open_wanted(session, file, region=region, **asked)
    try:
        if remarks == "problems":
            session.mention_problems(trace)
        elif remarks == "ranks":
            session.mention_choice(trace)
        yield trace
    finally:
        trace.close()
