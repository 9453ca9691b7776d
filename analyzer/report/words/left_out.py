"""What a replay leaves out of a run, in words."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from analyzer.program.program import LeftOut, Program
from analyzer.report.words import units
from analyzer.trace import Arrows, Trace, TracerTime

_NAMED = 3


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


def left_out_text(found: Sequence[LeftOut], ranks: int) -> str:
    """Say which calls of the traced run take no time in its replay though they move data; "": none.

    The time is that in the calls in the traced run, the mean of all ranks.
    """
    if not found:
        return ""
    calls, time_ns = sum(row.calls for row in found), sum(row.time_ns for row in found) / ranks
    names = [f"{row.procedure} ({row.calls})" for row in found[:_NAMED]]
    if len(found) > _NAMED:
        names.append(f"{len(found) - _NAMED} more")
    spent = f"a rank spent {units.time(time_ns)} in them on average"
    return f"{units.plural(calls, 'call')} without a model took no time; {spent}: {', '.join(names)}"


def left_out_lines(programs: Sequence[Program]) -> list[str]:
    """A line for each program that leaves something out, with its name."""
    return [f"{p.name}: {text}" for p in programs if (text := left_out_text(p.left_out, p.ranks))]


def not_replayed(lacking: str, programs: Sequence[Program]) -> str:
    """All reasons why replays are not of the whole run, in one line: what the traces lack, and what is left out of
    them; "": none is known."""
    texts = (left_out_text(program.left_out, program.ranks) for program in programs)
    return "; ".join(dict.fromkeys(filter(None, (lacking, *texts))))
