"""Sentences on the changes between two sides of a comparison, the most important for the run time first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import log

from analyzer.differences.compare import RunDifference
from analyzer.differences.figures import (
    BALANCE,
    COMMUNICATION,
    COMPUTING,
    IPC,
    NO_CPU,
    PARALLEL,
    REST,
    SERIALIZATION,
    STARTING,
    TRACER,
    TRANSFER_FACTOR,
    Figure,
    FigureFamily,
    FigureUnit,
)
from analyzer.differences.noise import DifferenceVerdict
from analyzer.differences.rows import DifferenceRow
from analyzer.report.differences.phrases import by_how_much, more_or_less, sure
from analyzer.report.words import units
from tracelib.schema.procedures import FINALIZE, INIT

LEAST = 0.01
"""Share of the longer run time below which a change is not mentioned."""
MOST = 5
_MAINLY = 0.5
"""Share of a change from which on it is attributed to one place or cause."""
_NAMED = 3
"""Largest number of ranks that are named one by one."""


@dataclass(frozen=True)
class TimeChange:
    """A change in one sentence.

    Attributes:
        ns: Time that the change adds to the run time, as a mean over the threads; negative: it saves time; 0: it is no
            time.
    """

    text: str
    ns: float
    verdict: DifferenceVerdict


def changes(of: RunDifference) -> list[TimeChange]:
    """Return at most MOST changes of times, the largest first, and then possible explanations."""
    times = sorted((*_computing(of), *_calls(of), *_parts(of)), key=lambda change: -abs(change.ns))
    return [*times[:MOST], *_efficiency(of), *_counters(of), *_traffic(of)]


def least(of: RunDifference) -> float:
    """Return the smallest change of a time that is reported, in ns (share LEAST of the run time)."""
    return LEAST * max(of.run_time.before or 0.0, of.run_time.after or 0.0)


def _computing(of: RunDifference) -> Iterator[TimeChange]:
    """Yield changes of computing: by rank if the change of a rank is more than noise, otherwise of the mean."""
    part, threads = of.row(COMPUTING), max(of.after[0].threads, 1)
    ranks = [
        row
        for row in of.family_rows(FigureFamily.RANK)
        if row.verdict is DifferenceVerdict.MORE and abs(row.difference) >= least(of)
    ]
    for sign in (1, -1):
        moved = sorted((row for row in ranks if row.difference * sign > 0), key=lambda row: -abs(row.difference))
        if moved:
            ns = sum(row.difference for row in moved) / threads
            text = f"{_who(moved, of.after[0].ranks)}{_where(of, ns)}{_blame(of, moved)}"
            yield TimeChange(f"{text}: {sure(moved[0])}", ns, DifferenceVerdict.MORE)
    if not ranks and part.verdict is not DifferenceVerdict.WITHIN and abs(part.difference) >= least(of):
        text = f"A thread computes {by_how_much(part)} {more_or_less(part, 'longer', 'shorter')} on average"
        yield TimeChange(f"{text}{_where(of, part.difference)}: {sure(part)}", part.difference, part.verdict)


def _who(moved: Sequence[DifferenceRow], ranks: int) -> str:
    """Say which ranks compute longer or less, such as "Rank 3 computes 1.10 s (10.0 %) longer".

    More than _NAMED ranks are summarized: "7 of 8 ranks compute 1.10 s (10.0 %) longer on average".
    """
    how = more_or_less(moved[0], "longer", "shorter")
    if len(moved) <= _NAMED and len(moved) <= max(1, ranks // 2):
        first = moved[0].figure.name.capitalize()
        others = (f"{row.figure.name} {by_how_much(row)}" for row in moved[1:])
        return ", ".join([f"{first} computes {by_how_much(moved[0])} {how}", *others])
    who = "All ranks" if len(moved) == ranks else f"{len(moved)} of {ranks} ranks"
    mean = sum(abs(row.difference) for row in moved) / len(moved)
    before = sum(row.before or 0.0 for row in moved) / len(moved)
    share = f" ({units.percent(mean / before)})" if before else ""
    most = f"{moved[0].figure.name} most, {units.time(abs(moved[0].difference))}"
    return f"{who} compute {units.time(mean)}{share} {how} on average, {most}"


def _where(of: RunDifference, ns: float) -> str:
    """Say at which place most of a change of computing is; "": not at one place. ns: change of the mean thread."""
    rows = [row for row in of.family_rows(FigureFamily.COMPUTING) if row.difference * ns > 0]
    if not rows or abs(rows[0].difference) < _MAINLY * abs(ns):
        return ""
    return f", most of it {rows[0].figure.name.removeprefix('computing ')}"


def _blame(of: RunDifference, moved: Sequence[DifferenceRow]) -> str:
    """Say how much longer or less the other ranks wait for these ranks. "": not noticeably."""
    names = {f"{row.figure.name}, computing" for row in moved}
    waiting = sum(
        row.difference
        for row in of.family_rows(FigureFamily.CAUSE)
        if row.figure.name.partition(" in region")[0] in names
    )
    if abs(waiting) < least(of) or waiting * moved[0].difference < 0:
        return ""
    how = "longer" if waiting > 0 else "less"
    whom = "it" if len(moved) == 1 else "them"
    return f"; for {whom} the others wait {units.time(abs(waiting))} {how}, a thread on average"


def _calls(of: RunDifference) -> Iterator[TimeChange]:
    """Yield changes of MPI calls, by place if places are known."""
    for row in of.family_rows(FigureFamily.PLACE) or of.family_rows(FigureFamily.CALL):
        name = row.figure.name
        procedure = name.partition(" at ")[0]
        starts = procedure in INIT or procedure in FINALIZE
        if starts or row.verdict is DifferenceVerdict.WITHIN or abs(row.difference) < least(of):
            continue
        text = f"{name} takes {by_how_much(row)} {more_or_less(row, 'longer', 'less')} a thread"
        waited = of.after[0].waiting_at.get(name, 0.0) - of.before[0].waiting_at.get(name, 0.0)
        if waited * row.difference > 0 and abs(waited) >= _MAINLY * abs(row.difference):
            share = units.percent(min(abs(waited / row.difference), 1.0))
            text += f", {share} of this is waiting for others"
        yield TimeChange(f"{text}{_called(of, procedure)}: {sure(row)}", row.difference, row.verdict)


def _called(of: RunDifference, procedure: str) -> str:
    """Say whether a procedure is called more or less often, or moves more or less data. "": neither."""
    calls = of.row(Figure(FigureFamily.TRAFFIC, f"calls of {procedure}", FigureUnit.NUMBER))
    moved = of.row(Figure(FigureFamily.TRAFFIC, f"bytes of {procedure}", FigureUnit.BYTES))
    if calls.difference:
        return f"; it is called {units.count(calls.after or 0)} times instead of {units.count(calls.before or 0)}"
    if moved.difference:
        return f"; it moves {units.size(moved.after or 0)} instead of {units.size(moved.before or 0)}"
    return ""


def _parts(of: RunDifference) -> Iterator[TimeChange]:
    """Yield changes of the parts of the time that are neither computing nor calls."""
    texts = {
        STARTING: "Starting and ending MPI takes {} {}",
        NO_CPU: "A thread waits {} {} for a CPU",
        TRACER: "The tracer takes {} {} a thread",
        REST: "A thread neither computes nor is in MPI for {} {}",
    }
    for figure, text in texts.items():
        row = of.row(figure)
        if row.verdict is not DifferenceVerdict.WITHIN and abs(row.difference) >= least(of):
            said = text.format(by_how_much(row), more_or_less(row, "longer", "less"))
            yield TimeChange(f"{said}: {sure(row)}", row.difference, row.verdict)


def _efficiency(of: RunDifference) -> Iterator[TimeChange]:
    row = of.row(PARALLEL)
    if row.verdict is DifferenceVerdict.WITHIN or abs(row.difference) < LEAST:
        return
    factors = [of.row(figure) for figure in (BALANCE, SERIALIZATION, TRANSFER_FACTOR)]
    if any(not (one.before and one.after) for one in factors):
        factors = [of.row(figure) for figure in (BALANCE, COMMUNICATION)]
    known = [one for one in factors if one.before and one.after]
    text = f"Parallel efficiency {more_or_less(row, 'rises', 'falls')} {_from_to(row)}"
    if known:
        most = max(known, key=lambda one: abs(log((one.after or 1.0) / (one.before or 1.0))))
        text += f", mostly by {most.figure.name} ({_from_to(most)})"
    yield TimeChange(f"{text}: {sure(row)}", 0.0, row.verdict)


def _from_to(row: DifferenceRow) -> str:
    return f"from {units.percent(row.before or 0.0)} to {units.percent(row.after or 0.0)}"


def _counters(of: RunDifference) -> Iterator[TimeChange]:
    """Yield changes of instructions and of instructions per cycle."""
    for row in of.family_rows(FigureFamily.COUNTER):
        counts = row.figure == IPC or ("INS" in row.figure.name and row.figure.name.endswith("in computing"))
        if counts and row.verdict is not DifferenceVerdict.WITHIN and abs(row.relative or 0.0) >= LEAST:
            name = row.figure.name[0].upper() + row.figure.name[1:]
            change = f"{units.percent(abs(row.relative or 0.0))} {more_or_less(row, 'more', 'less')}"
            yield TimeChange(f"{name}: {change}: {sure(row)}", 0.0, row.verdict)


def _traffic(of: RunDifference) -> Iterator[TimeChange]:
    for name, unit, text in (
        ("messages", FigureUnit.NUMBER, units.count),
        ("bytes in messages", FigureUnit.BYTES, units.size),
    ):
        row = of.row(Figure(FigureFamily.TRAFFIC, name, unit))
        largest = max(row.before or 0.0, row.after or 0.0)
        if row.verdict is not DifferenceVerdict.WITHIN and largest and abs(row.difference) >= LEAST * largest:
            said = f"{name[0].upper()}{name[1:]}: {text(row.after or 0)} instead of {text(row.before or 0)}"
            yield TimeChange(f"{said}: {sure(row)}", 0.0, row.verdict)
    before, after = of.before[0].iterations, of.after[0].iterations
    if before and after and before != after:
        yield TimeChange(
            f"Iterations: {after} instead of {before}: {DifferenceVerdict.EXACT.value}", 0.0, DifferenceVerdict.EXACT
        )
