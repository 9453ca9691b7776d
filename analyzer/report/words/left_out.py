"""What a replay leaves out of a run, in words."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from analyzer.program.program import LeftOut, Program
from analyzer.report.words import units
from analyzer.trace import Arrows, Trace, TracerTime

_NAMED = 3


class Replayed(Protocol):
    """A run as it is replayed."""

    @property
    def ranks(self) -> int:
        """How many it has."""

    @property
    def left_out(self) -> Sequence[LeftOut]:
        """The calls that take no time in the replay though they move data."""


def arrows_left_out(trace: Trace) -> list[str]:
    """Say, in one line, that a command leaves out the arrows inside tasks; none where the trace has none."""
    arrows = len(trace.extra(Arrows).read())
    inside = f"{units.plural(arrows, 'arrow')} inside a task {units.verb(arrows, 'is', 'are')} left out"
    return [f"{Path(trace.path).name}: {inside} (analyze prv keeps them)"] if arrows else []


def tracer_left_out(trace: Trace) -> list[str]:
    """Say, in one line, that what is written does not tell the tracer's time from computing; none where it took none
    that it noted. The time is that of its buffers, clocks and callers, summed over the ranks."""
    tracer = trace.extra(TracerTime)
    spent = (rows["end"] - rows["begin"] for rows in map(tracer.flushes, range(trace.size)))
    time_ns = sum(int(of_rank.sum()) for of_rank in spent)
    counts = "is not told from the program's there: outside calls it counts as computing"
    return [f"{Path(trace.path).name}: the tracer's own time ({units.time(time_ns)}) {counts}"] if time_ns else []


def applications_joined(trace: Trace) -> list[str]:
    """Say, in one line, that several applications are written as one; none where the trace has one."""
    count = len(trace.origin.applications)
    return [f"{Path(trace.path).name}: its {count} applications are written as one"] if count > 1 else []


def left_out_text(replayed: Replayed) -> str:
    """Say which calls of the traced run take no time in its replay though they move data; "": none.

    The time is that in the calls in the traced run, the mean of all ranks.
    """
    found = replayed.left_out
    if not found:
        return ""
    calls, time_ns = sum(row.calls for row in found), sum(row.time_ns for row in found) / replayed.ranks
    names = [f"{row.procedure} ({row.calls})" for row in found[:_NAMED]]
    if len(found) > _NAMED:
        names.append(f"{len(found) - _NAMED} more")
    spent = f"a rank spent {units.time(time_ns)} in them on average"
    return f"{units.plural(calls, 'call')} without a model took no time; {spent}: {', '.join(names)}"


def left_out_lines(programs: Sequence[Program]) -> list[str]:
    """A line for each program that leaves something out, with its name."""
    return [f"{program.name}: {text}" for program in programs if (text := left_out_text(program))]


def not_replayed(lacking: str, replays: Sequence[Replayed]) -> str:
    """All reasons why replays are not of the whole run, in one line: what the traces lack, and what is left out of
    them; "": none is known."""
    return "; ".join(dict.fromkeys(filter(None, (lacking, *map(left_out_text, replays)))))


def ideal_note(replayed: Replayed, factor: str) -> str:
    """The sentence on what the replay on an ideal network leaves out; "": nothing.

    factor: which one is the ideal time over the time that the run took.
    """
    text = left_out_text(replayed)
    return f"On the ideal network {text}. {factor} counts this time." if text else ""


def incomplete_line(why: str, what: str = "replay") -> str:
    """The sentence for `not_replayed`."""
    return f"This is not a {what} of the whole run: {why}."
