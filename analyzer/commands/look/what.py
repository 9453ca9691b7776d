"""`analyze what`: a rank at a moment."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from analyzer.commands.command import Alone, Opens, Output, Refuses, command
from analyzer.commands.shared.picture import Drawing
from analyzer.commands.shared.session import Session
from analyzer.results.open_part import chosen_windows
from tracelib.units import NS, split_quantity

if TYPE_CHECKING:
    from analyzer.snapshot import Snapshot
    from analyzer.trace import Trace

_UNITS = {"": NS["s"], **{unit: NS[unit] for unit in ("s", "ms", "us", "ns")}}


class At(click.ParamType):
    """Parameter type of a moment such as 1.25, 1.25s, 20ms, 300us or 5ns: nanoseconds of the trace."""

    name = "time"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        quantity = split_quantity(str(value), _UNITS, r"\d{1,15}(?:\.\d{1,15})?\s*")
        if quantity is None:
            self.fail(f"{value!r} is not a time such as 1.25, 20ms or 300us", param, ctx)
        whole, _, part = quantity[0].strip().partition(".")
        return (int(whole + part) * int(quantity[1])) // 10 ** len(part)


@command(
    "One moment: what each rank does, and what is on its way.",
    opens=Opens(whole=True),
    iterations=True,
    ranks=Refuses("a moment is that of one rank (--rank) or of all"),
    place=Refuses("a moment has few calls; see --around"),
    picture=True,
    json=1,
    alone=Alone("one process looks"),
)
@click.option(
    "--rank",
    type=click.IntRange(0),
    metavar="RANK",
    show_default="a line for each rank",
    help="Show all that is known of this rank.",
)
@click.option(
    "--at", type=At(), required=True, metavar="TIME", help="Time to look at, such as 1.25 (seconds), 20ms or 300us."
)
@click.option(
    "--around",
    type=click.IntRange(0, 1000),
    default=3,
    metavar="N",
    show_default=True,
    help="Number of calls to show before and after.",
)
def what_command(session: Session, trace: Trace, rank: int | None, at: int, around: int) -> Output:
    """Say what a rank of FILE does at a moment: the state of each thread, the call
    it is in and from where, the calls before and after, its regions, and the
    messages and requests that are on their way.

    Without --rank it prints a line for each rank. With --iteration, --at counts from the time when the first rank
    begins this iteration (of several, the first). --picture draws all ranks for as long as the calls in the table
    last; without --rank, for a twentieth of the run.
    """
    from analyzer.results.moment import check_moment, compute

    check_moment(trace, rank=rank)
    at += _origin(session, trace)
    with session.step(f"Reading {session.file}"):
        result = compute(trace, at_ns=at, rank=rank, around=around)
    drawing = Drawing(shown=_around(trace, result._moments, at), moment_ns=at)
    return Output(result.to_dict, result.print, drawing)


def _around(trace: Trace, found: Sequence[Snapshot], at: int) -> tuple[int, int]:
    """Return begin and end of the drawing, ns: the calls around the moment; for all ranks, a twentieth of the run."""
    half = max(trace.duration_ns // 40, 1)
    begin, end = at - half, at + half
    if len(found) == 1:
        rows = [part.rows for one in found[0].threads for part in (one.before, one.after) if len(part.rows)]
        begin = min([int(some["enter"].min()) for some in rows], default=begin)
        end = max([int(some["exit"].max()) for some in rows], default=end)
    return max(min(begin, at - 1), 0), min(max(end, at + 1), trace.duration_ns)


def _origin(session: Session, trace: Trace) -> int:
    """Return the time of the trace, in ns, from which --at counts."""
    from analyzer.structure.cut.chosen_iterations import span_of

    windows = chosen_windows(session, trace, "; --at counts from there")
    return 0 if windows is None else span_of(windows)[0]
