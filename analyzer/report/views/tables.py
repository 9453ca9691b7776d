"""Views as printed tables.

Numbers have five significant digits, and all digits before the decimal point up to 10^10. NaN is an empty cell.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from rich.text import Text

from analyzer.report.words import units
from analyzer.report.words.table import plain_table, print_beside
from analyzer.views.constant import ViewBursts
from analyzer.views.measuring import Measures
from analyzer.views.over_time import ViewProfile
from analyzer.views.statistics import statistic_of
from analyzer.views.tabulated import Histogram

_FIVE_DIGITS, _LARGEST = 10**5, 10**10


def number(value: float) -> str:
    """Format a number, such as "12", "3.1416", "123457", "1.2346e+10". NaN: ""."""
    if np.isnan(value):
        return ""
    return f"{value:.0f}" if _FIVE_DIGITS <= abs(value) < _LARGEST else f"{value:.5g}"


def plain(values: np.ndarray) -> Any:
    """Return an array as nested lists for JSON. Whole numbers become int; NaN and infinity become None."""
    if values.ndim > 1:
        return [plain(row) for row in values]
    return [
        None if not np.isfinite(value) else int(value) if value.is_integer() and abs(value) < 2**53 else value
        for value in values.astype(np.float64).tolist()
    ]


MOST_ROWS = 24
"""Largest number of rows that are printed one by one. With more, only the mean and the extremes are printed."""
_MOST_BESIDE = 4
"""Largest number of rows that are printed as columns of a table."""
_SUMMED = ("mean", "lowest", "highest")
_NS = 1e9


def print_library(known: dict[str, str], console: Console) -> None:
    """Print the names of the library's views with their descriptions."""
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, show_header=False)
    table.add_column(no_wrap=True)
    table.add_column()
    for name, says in known.items():
        table.add_row(name, Text(says))
    console.print(table)


def print_title(name: str, unit: str, says: str, console: Console) -> None:
    """Print name, unit and description of a view."""
    console.print(f"{name}{f' ({unit})' if unit else ''}{f': {says}' if says else ''}", markup=False)


def print_rows(found: Measures, console: Console) -> None:
    """Print measures: a line for each row if there are few rows, and lines for mean, lowest and highest."""
    shown = found.rows if len(found.rows) <= MOST_ROWS else []
    summed = _SUMMED if len(found.rows) > 1 else ()
    columns = [
        (
            name.replace(" (", "\n("),
            [*map(number, column[: len(shown)]), *(_of_all(column, found.rows, what) for what in summed)],
        )
        for name, column in found.named().items()
    ]
    print_beside(found.level, [*shown, *summed], columns, console)


def _of_all(column: np.ndarray, rows: Sequence[str], what: str) -> str:
    if np.isnan(column).all():
        return ""
    if what == "mean":
        return number(float(np.nanmean(column)))
    at = int(np.nanargmin(column) if what == "lowest" else np.nanargmax(column))
    return f"{number(column[at])} ({rows[at]})"


def print_profile(found: ViewProfile, console: Console) -> None:
    """Print a profile: a line for each bin, with the means of few rows, or mean and extremes over many rows."""
    bins = range(found.mean.shape[1])
    columns = (
        [(row, list(map(number, values))) for row, values in zip(found.rows, found.mean, strict=True)]
        if len(found.rows) <= _MOST_BESIDE
        else [(what, [_of_all(found.mean[:, at], found.rows, what) for at in bins]) for what in _SUMMED]
    )
    print_beside("from", [units.time(int(found.edges[at])) for at in bins], columns, console)


def print_histogram(found: Histogram, console: Console) -> None:
    """Print a histogram: a line for each column that is not empty.

    Few rows are printed one by one; of many rows the total or average, the lowest and the highest.
    """
    unit = f" ({found.unit})" if found.unit else ""
    console.print(f"{found.statistic}{unit} of {found.data} by {found.control}", markup=False)
    filled = found.filled()
    for plane, name in enumerate(filled.planes):
        if name:
            console.print(f"\n{name}", markup=False)
        _print_plane(filled, plane, console)


def _print_plane(found: Histogram, plane: int, console: Console) -> None:
    few, one = len(found.rows) <= _MOST_BESIDE, len(found.rows) == 1
    heads = [f"{found.level} {row}" if row.isdigit() else row for row in found.rows]
    both = "total" if statistic_of(found.statistic).adds else "average"
    names = heads if one else [*heads, both] if few else [both, "lowest", "highest"]
    rows: list[str] = []
    lines: list[list[str]] = []
    summary = {name: values[plane] for name, values in found.summary().items()}
    for at, column in enumerate(found.columns):
        of_rows = found.values[plane, :, at]
        if not np.nan_to_num(of_rows).any():
            continue
        cells = [number(value) for value in of_rows]
        if not one:
            extremes = [_of_all(of_rows, found.rows, what) for what in ("lowest", "highest")]
            cells = [*(cells if few else []), number(summary[both][at]), *([] if few else extremes)]
        rows.append(column)
        lines.append(cells)
    columns = [(name, [line[at] for line in lines]) for at, name in enumerate(names)]
    print_beside(found.control, rows, columns, console)


def print_bursts(rows: Sequence[str], some: ViewBursts, more: int, console: Console) -> None:
    """Print the first bursts, and the number `more` of the bursts that are not printed."""
    table = plain_table("row", "from (s)", "lasts", "value")
    for row, begin, end, value in zip(*(column.tolist() for column in some[:4]), strict=True):
        table.add_row(Text(rows[row]), f"{begin / _NS:.9f}", units.time(end - begin), number(value))
    console.print(table)
    if more:
        console.print(f"{units.plural(more, 'more burst')}: --csv FILE writes all")
