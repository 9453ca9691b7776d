"""Parts of a run that a replay or an export leaves out, in words."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from analyzer.machine.description import Machine
from analyzer.program.model import LeftOut, Program
from analyzer.report.words import units
from analyzer.trace import Arrows, Trace, TracerTime
from tracelib.schema.procedures import is_of_files

_NAMED = 3
IDEAL = Machine.ideal()


class ReplayedRun(Protocol):
    """Interface of a run that is replayed."""

    @property
    def ranks(self) -> int:
        """Number of ranks."""

    @property
    def left_out(self) -> Sequence[LeftOut]:
        """Calls that move data which the replay does not send through the network."""


def arrows_left_out(trace: Trace) -> list[str]:
    """Say in one line how many arrows inside tasks a command leaves out. Empty: the trace has none."""
    arrows = len(trace.extra(Arrows).read())
    inside = f"{units.plural(arrows, 'arrow')} inside a task {units.verb(arrows, 'is', 'are')} left out"
    return [f"{Path(trace.path).name}: {inside} (analyze prv keeps them)"] if arrows else []


def tracer_left_out(trace: Trace) -> list[str]:
    """Say in one line how much of the tracer's own time an output counts as computing. Empty: no such time is recorded.

    It is the time for buffers, clocks and callers, summed over the ranks.
    """
    tracer = trace.extra(TracerTime)
    spent = (rows["end"] - rows["begin"] for rows in map(tracer.flushes, range(trace.size)))
    time_ns = sum(int(of_rank.sum()) for of_rank in spent)
    counts = "is not told from the program's there: outside calls it counts as computing"
    return [f"{Path(trace.path).name}: the tracer's own time ({units.time(time_ns)}) {counts}"] if time_ns else []


def applications_joined(trace: Trace) -> list[str]:
    """Say in one line that several applications are written as one. Empty: the trace has one application."""
    count = len(trace.origin.applications)
    return [f"{Path(trace.path).name}: its {count} applications are written as one"] if count > 1 else []


def left_out_text(replayed: ReplayedRun, machine: Machine = IDEAL) -> str:
    """Say which calls a replay does not model; "": none.

    Calls that move data but have no model take no time. If the machine has no model of files, calls on files take as
    long as in the traced run. Times are those in the traced run, as a mean over the ranks.
    """
    parts = [_without_time(replayed), "" if machine.files else _as_they_were(replayed)]
    return "; ".join(filter(None, parts))


def _without_time(replayed: ReplayedRun) -> str:
    said = _calls_text([row for row in replayed.left_out if not is_of_files(row.procedure)], replayed.ranks)
    return said and f"{said[0]} without a model took no time; {said[1]}"


def _as_they_were(replayed: ReplayedRun) -> str:
    said = _calls_text([row for row in replayed.left_out if is_of_files(row.procedure)], replayed.ranks)
    return said and f"{said[0]} on files took as long as in the run; {said[1]}"


def _calls_text(found: Sequence[LeftOut], ranks: int) -> tuple[str, str] | str:
    """Return the number of calls, and the mean time of a rank in them, as texts. "": there are no calls."""
    if not found:
        return ""
    calls, time_ns = sum(row.calls for row in found), sum(row.time_ns for row in found) / ranks
    names = [f"{row.procedure} ({row.calls})" for row in found[:_NAMED]]
    if len(found) > _NAMED:
        names.append(f"{len(found) - _NAMED} more")
    spent = f"a rank spent {units.time(time_ns)} in them on average: {', '.join(names)}"
    return units.plural(calls, "call"), spent


def left_out_lines(programs: Sequence[Program], machine: Machine) -> list[str]:
    """Return a line with its name for each program that has calls which the machine does not model."""
    return [f"{program.name}: {text}" for program in programs if (text := left_out_text(program, machine))]


def not_replayed(lacking: str, replays: Sequence[ReplayedRun], machine: Machine) -> str:
    """Say in one line all reasons why replays do not cover the whole run; "": none is known.

    Args:
        lacking: Data that the traces lack; "": none.
        replays: The replayed runs.
        machine: The machine, which may lack models.
    """
    texts = (left_out_text(replayed, machine) for replayed in replays)
    return "; ".join(dict.fromkeys(filter(None, (lacking, *texts))))


def ideal_note(replayed: ReplayedRun, factor: str, rest: str = "Serialization") -> str:
    """Say which calls the ideal network does not model, and in which factor their time counts; "": there are none.

    Args:
        replayed: The replayed run.
        factor: Name of the factor "ideal time / measured time".
        rest: Name of the factor "longest computation / ideal time".
    """
    parts = ((_without_time(replayed), factor), (_as_they_were(replayed), rest))
    return " ".join(f"On the ideal network {text}. {counts} counts this time." for text, counts in parts if text)


def incomplete_line(why: str, what: str = "replay") -> str:
    """Return the sentence that a replay is incomplete, with the reasons from `not_replayed`."""
    return f"This is not a {what} of the whole run: {why}."
