"""The structure of a run as a table: parts by level, with what they cost."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console
from rich.table import Table

from analyzer.report.structure.sentence import sentence
from analyzer.report.words import units
from analyzer.report.words.table import plain_table
from analyzer.structure.levels.parts import Kind, Part, Structure, agreement, off_by, ranked
from analyzer.structure.signals import NAMES


def print_structure(structure: Structure, console: Console) -> None:
    """The sentence, the table, what a reader should know."""
    console.print(
        f"{Path(structure.file).name}: {units.plural(structure.ranks, 'rank')}, {units.time(structure.duration_ns)}",
        markup=False,
    )
    console.print(f"{sentence(structure)}.", markup=False)
    console.print()
    console.print(_table(structure))
    if structure.metrics:
        console.print()
        console.print(_metrics(structure))
        console.print(_agreement(structure), markup=False)
    for one in structure.perturbed:
        span = units.time(one.end_ns - one.begin_ns)
        console.print(f"Perturbed: {one.cause.value} at {units.time(one.begin_ns)} for {span}", markup=False)


def _metrics(structure: Structure) -> Table:
    """What each signal says of the main loop, those that agree best first; "-": it has no period."""
    main = structure.main
    table = plain_table("signal", "period", "#", "off")
    for metric in ranked(structure):
        off = off_by(metric, main)
        said = [NAMES.get(metric.name, metric.name)]
        if metric.period_ns is None:
            table.add_row(*said, "-", "", "")
        else:
            table.add_row(*said, units.time(metric.period_ns), str(metric.iterations), _percent(off))
    return table


def _agreement(structure: Structure) -> str:
    """How many signals have a period and how far they are off, and how densely they were sampled."""
    signal, agree = structure.signals[0], agreement(structure)
    said = f"{len(signal.values)} samples, {units.time(signal.width_ns)} each"
    if agree is None:
        return f"None has a period that can be compared. {said}."
    return (
        f"{agree.found} of {agree.of} have a period, off by {_percent(agree.median)} in the median and "
        f"{_percent(agree.most)} at most. {said}."
    )


def _table(structure: Structure) -> Table:
    numbered = ["loop"] if len(structure.loops) > 1 else []
    table = plain_table("part", *numbered, "from", "span", "#", "period", "in MPI", "efficient", "flushing")
    for top in structure.parts:
        for part in top.walk():
            name, *cells = _row(part)
            number = str(structure.number(part) or "")
            table.add_row(name, *([number] if numbered else []), *cells)
    return table


def _row(part: Part) -> list[str]:
    """A line without the number of the loop; `span/#/period` as in Casas 2009, tables 3.1 to 3.5: "-" is no period."""
    name = f"{'  ' * (part.level - 1)}{part.level} {part.kind.value if part.kind is not Kind.LOOP else _body(part)}"
    period = units.time(part.iterations.period_ns) if part.iterations else "-"
    cost = part.cost
    return [
        name,
        units.time(part.begin_ns),
        units.time(part.span_ns),
        str(part.count),
        period,
        _percent(cost.mpi),
        _percent(cost.efficiency),
        units.time(cost.flushed_ns) if cost.flushed_ns else "",
    ]


def _body(part: Part) -> str:
    return part.iterations.body if part.iterations else ""


def _percent(share: float | None) -> str:
    return "" if share is None else units.percent(share)
