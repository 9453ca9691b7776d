"""Differences as printed text: the verdict, what changed, and tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from analyzer.differences.compare import RunDifference
from analyzer.differences.figures import EFFICIENCIES, FigureFamily, FigureUnit, RunFigures
from analyzer.differences.noise import DifferenceVerdict
from analyzer.differences.rows import DifferenceRow
from analyzer.report.differences.changes import changes, least
from analyzer.report.differences.phrases import (
    BASES,
    SHORT,
    by_how_much,
    more_or_less,
    signed,
    signed_share,
    sure,
    value,
)
from analyzer.report.words import units
from analyzer.report.words.left_out import ideal_note
from analyzer.report.words.table import plain_table

MOST_ROWS = 8
_SMALL_PART = 0.05
"""Share of the difference of the run time below which a part is not named in the first sentences."""
_TITLES = {
    FigureFamily.EFFICIENCY: "Efficiency (differences in points)",
    FigureFamily.RANK: "Computing, rank by rank",
    FigureFamily.COMPUTING: "Computing, by where (a thread on average)",
    FigureFamily.CALL: "MPI calls (a thread on average)",
    FigureFamily.PLACE: "MPI calls, by where (a thread on average)",
    FigureFamily.WAIT: "Waiting for others, by kind (a thread on average)",
    FigureFamily.CAUSE: "Who makes others wait (a thread on average)",
    FigureFamily.REGION: "Regions (a thread on average)",
    FigureFamily.COUNTER: "Counters",
    FigureFamily.TRAFFIC: "Calls, messages and bytes",
}


def headline(of: RunDifference) -> str:
    """Return the first sentence on two sides A and B.

    For example "B takes 9.12 s, A 7.89 s: 1.23 s (15.6 %) more. This is more than noise (p < 0.001)."
    """
    row = of.run_time
    times = f"B takes {value(row.figure, row.after)}, A {value(row.figure, row.before)}"
    if row.verdict is DifferenceVerdict.SAME:
        return f"{times}: the same."
    said = f"{times}: {by_how_much(row)} {more_or_less(row, 'more', 'less')}."
    if row.verdict is DifferenceVerdict.UNKNOWN:
        return f"{said} Whether this is more than noise {sure(row)}."
    return f"{said} This is {sure(row)}."


def explained(of: RunDifference) -> str:
    """Say which parts of the mean thread's time make the difference. "": none, or the difference is noise.

    For example "By what a thread does on average: 14.4 s waiting for others, 4.91 s computing."
    """
    whole = of.run_time.difference
    told = [
        row for row in of.family_rows(FigureFamily.PART) if whole and abs(row.difference) >= _SMALL_PART * abs(whole)
    ]
    told.sort(key=lambda row: -abs(row.difference))
    with_it = [f"{units.time(abs(row.difference))} {row.figure.name}" for row in told if row.difference * whole > 0]
    against = [f"{units.time(abs(row.difference))} {row.figure.name}" for row in told if row.difference * whole < 0]
    if not with_it or of.run_time.verdict is DifferenceVerdict.WITHIN:
        return ""
    but = f", against {', '.join(against)}" if against else ""
    return f"By what a thread does on average: {', '.join(with_it)}{but}."


def basis_line(of: RunDifference) -> str:
    """Say how noise is known: from repetitions, from iterations, or not at all."""
    batches = f"{of.before[0].batches} and {of.after[0].batches}"
    return BASES[of.basis].format(batches)


def print_difference(of: RunDifference, console: Console) -> None:
    """Print a difference with all sentences and tables."""
    for name, side in (("A", of.before), ("B", of.after)):
        console.print(Text(f"{name}  {_named(side)}"))
    console.print(Text(f"\n{headline(of)}", style="bold"))
    if text := explained(of):
        console.print(Text(text))
    console.print(Text(basis_line(of)))
    console.print(Text("\nWhat changed", style="bold"))
    found = changes(of)
    for number, change in enumerate(found, start=1):
        _listed(console, f"{number}.", change.text)
    if not found:
        _listed(console, "", "Nothing that is more than noise and 1 % of the run.")
    _section(console, "Where the difference of the run time comes from (a thread on average)", _parts(of))
    for family, title in _TITLES.items():
        rows = _shown(of, family)
        if rows:
            _section(console, title, _table(rows, of))
    if notes := notes_of(of):
        console.print()
        for note in notes:
            console.print(Text(note))


def notes_of(of: RunDifference) -> list[str]:
    """List what a reader must know of the runs, and of how they were compared."""
    runs = (*of.before, *of.after)
    left_out = (f"{run.file}: {note}" for run in runs if (note := ideal_note(run, "Transfer")))
    return [*of.notes, *dict.fromkeys(left_out)]


def _named(side: Sequence[RunFigures]) -> str:
    one = side[0]
    iterations = f", {units.plural(one.iterations, 'iteration')}" if one.iterations else ""
    files = ", ".join(run.file for run in side)
    return f"{files}: {one.command or 'command not known'}, {units.plural(one.ranks, 'rank')}{iterations}"


def _listed(console: Console, number: str, text: str) -> None:
    table = Table.grid(padding=(0, 1, 0, 0))
    table.add_row(number, Text(text))
    console.print(Padding(table, (0, 0, 0, 2)))


def _section(console: Console, title: str, table: Table) -> None:
    console.print(Text(f"\n{title}", style="bold"))
    console.print(Padding(table, (0, 0, 0, 2)))


def _parts(of: RunDifference) -> Table:
    """Make a table of the parts of the time. Their differences add up to the difference of the run time."""
    table = plain_table("", "A", "B", "difference", "of it", "")
    whole = of.run_time.difference
    rows = [row for row in of.family_rows(FigureFamily.PART) if row.before or row.after]
    for row in rows:
        share = signed_share(row.difference / whole) if whole else ""
        table.add_row(*_cells(row)[:4], share, SHORT[row.verdict])
    table.add_row("= run time", *_cells(of.run_time)[1:4], "", SHORT[of.run_time.verdict])
    return table


def _table(rows: Iterable[DifferenceRow], of: RunDifference) -> Table:
    table = plain_table("", "A", "B", "difference", "", "")
    for row in rows:
        table.add_row(*_cells(row))
    return table


def _cells(row: DifferenceRow) -> tuple[Text | str, ...]:
    sides = value(row.figure, row.before), value(row.figure, row.after)
    share = "" if row.figure.family is FigureFamily.EFFICIENCY else signed_share(row.relative)
    return Text(row.figure.name), *sides, signed(row), share, SHORT[row.verdict]


def _shown(of: RunDifference, family: FigureFamily) -> list[DifferenceRow]:
    """Return the rows of a family's table, at most MOST_ROWS.

    Times are shown if they change by at least half of `least`, other figures if they differ. Efficiencies are all
    shown.
    """
    rows = of.family_rows(family)
    if family is FigureFamily.EFFICIENCY:
        return [row for row in map(of.row, EFFICIENCIES) if row.before is not None or row.after is not None]
    if family is FigureFamily.CALL and of.family_rows(FigureFamily.PLACE):
        return []
    return list(_worth(rows, least(of) / 2))[:MOST_ROWS]


def _worth(rows: Iterable[DifferenceRow], smallest: float) -> Iterator[DifferenceRow]:
    for row in rows:
        is_time = row.figure.unit is FigureUnit.NS
        if abs(row.difference) >= smallest if is_time else row.verdict is not DifferenceVerdict.SAME:
            yield row
