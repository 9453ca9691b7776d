"""Views as tables of text."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from rich.console import Console
from rich.table import Table
from rich.text import Text

from analyzer.report.views.numbers import number
from analyzer.report.words import units
from analyzer.report.words.table import plain_table
from analyzer.views.constant import Bursts
from analyzer.views.measuring import Measures
from analyzer.views.over_time import Profile
from analyzer.views.statistics import statistic_of
from analyzer.views.tabulated import Histogram

MOST_ROWS = 24
"""Of more rows only the mean and the extremes are said."""
_MOST_BESIDE = 4
"""Rows that stand beside each other where columns are lines."""
_NS = 1e9


def print_library(known: dict[str, str], console: Console) -> None:
    """Names of views, and what each shows."""
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, show_header=False)
    table.add_column(no_wrap=True)
    table.add_column()
    for name, says in known.items():
        table.add_row(name, Text(says))
    console.print(table)


def print_title(name: str, unit: str, says: str, console: Console) -> None:
    """What a view is."""
    console.print(f"{name}{f' ({unit})' if unit else ''}{f': {says}' if says else ''}", markup=False)


def print_rows(found: Measures, console: Console) -> None:
    """A line for each row, or for what all have in common, and the extremes."""
    named = found.named()
    table = plain_table(found.level, *(name.replace(" (", "\n(") for name in named))
    if len(found.rows) <= MOST_ROWS:
        for at, row in enumerate(found.rows):
            table.add_row(Text(row), *(number(column[at]) for column in named.values()))
    if len(found.rows) > 1:
        for what in ("mean", "lowest", "highest"):
            table.add_row(what, *(_of_all(column, found.rows, what) for column in named.values()))
    console.print(table)


def _of_all(column: np.ndarray, rows: Sequence[str], what: str) -> str:
    if np.isnan(column).all():
        return ""
    if what == "mean":
        return number(float(np.nanmean(column)))
    at = int(np.nanargmin(column) if what == "lowest" else np.nanargmax(column))
    return f"{number(column[at])} ({rows[at]})"


def print_profile(found: Profile, console: Console) -> None:
    """A line for each bin: the mean of each row, or of all rows."""
    few = len(found.rows) <= _MOST_BESIDE
    table = plain_table("from", *(found.rows if few else ("mean", "lowest", "highest")))
    for bin_ in range(found.mean.shape[1]):
        column = found.mean[:, bin_]
        cells = (
            [number(value) for value in column] if few
            else [_of_all(column, found.rows, what) for what in ("mean", "lowest", "highest")]
        )  # fmt: skip
        table.add_row(units.time(int(found.edges[bin_])), *cells)
    console.print(table)


def print_histogram(found: Histogram, console: Console) -> None:
    """A line for each column of the histogram that has something, with what Paraver says below it; the rows themselves
    where there are few."""
    unit = f" ({found.unit})" if found.unit else ""
    console.print(f"{found.statistic}{unit} of {found.data} by {found.control}", markup=False)
    filled = found.filled()
    for plane, name in enumerate(filled.planes):
        if name:
            console.print(f"\n{name}", markup=False)
        console.print(_histogram_table(filled, plane))


def _histogram_table(found: Histogram, plane: int) -> Table:
    few, one = len(found.rows) <= _MOST_BESIDE, len(found.rows) == 1
    heads = [f"{found.level} {row}" if row.isdigit() else row for row in found.rows]
    both = "total" if statistic_of(found.statistic).adds else "average"
    names = heads if one else [*heads, both] if few else [both, "lowest", "highest"]
    table = plain_table(found.control, *names)
    summary = {name: values[plane] for name, values in found.summary().items()}
    for at, column in enumerate(found.columns):
        of_rows = found.values[plane, :, at]
        if not np.nan_to_num(of_rows).any():
            continue
        cells = [number(value) for value in of_rows]
        if not one:
            extremes = [_of_all(of_rows, found.rows, what) for what in ("lowest", "highest")]
            cells = [*(cells if few else []), number(summary[both][at]), *([] if few else extremes)]
        table.add_row(Text(column), *cells)
    return table


def print_bursts(rows: Sequence[str], some: Bursts, more: int, console: Console) -> None:
    """The first bursts, and how many more there are."""
    table = plain_table("row", "from (s)", "lasts", "value")
    for row, begin, end, value in zip(*(column.tolist() for column in some[:4]), strict=True):
        table.add_row(Text(rows[row]), f"{begin / _NS:.9f}", units.time(end - begin), number(value))
    console.print(table)
    if more:
        console.print(f"{units.plural(more, 'more burst')}: --csv FILE writes all")
