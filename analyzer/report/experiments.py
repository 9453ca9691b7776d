"""A table of experiments in a few lines, and the settings to measure next, as text and for JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.console import Console
from rich.table import Table
from rich.text import Text

from analyzer.experiments.columns import KIND, NAME, REGION
from analyzer.experiments.table import ExperimentTable
from analyzer.models.next_points import FARTHER, NextPoint
from analyzer.report.words.table import plain_table

if TYPE_CHECKING:
    import pandas


_MOST_ROWS = 40
_MOST_VALUES = 8


def print_table(found: ExperimentTable, observable: str, console: Console) -> None:
    """Print a row for each region or kind of time, and the values of each factor."""
    frame = found.frame
    console.print(f"{len(frame)} rows, {len(frame.columns)} columns: {', '.join(map(str, frame.columns))}")
    if len(frame):
        console.print()
        console.print(_groups(frame, observable))
        if found.factors:
            console.print()
            console.print(_factors(frame, found.factors))
    if found.outliers:
        console.print(f"\n{found.outliers} outliers were removed.")
    if found.left_out:
        console.print(f"\nNot in all inputs, and left out: {', '.join(found.left_out)}.")


def table_json(found: ExperimentTable) -> dict[str, Any]:
    """Return the table for JSON as columns. None: a value is missing."""
    return {
        "rows": len(found.frame),
        "factors": list(found.factors),
        "left_out": list(found.left_out),
        "outliers": found.outliers,
        "columns": {str(name): _plain(found.frame[name]) for name in found.frame.columns},
    }


def _plain(column: pandas.Series) -> list[Any]:
    return [None if isinstance(value, float) and not np.isfinite(value) else value for value in column.tolist()]


def _empty_table(*columns: str) -> Table:
    table = Table(box=None, padding=(0, 1, 0, 0), pad_edge=False, header_style="dim", expand=False)
    for number, column in enumerate(columns):
        table.add_column(column, justify="left" if number == 0 else "right", overflow="fold")
    return table


def _groups(frame: pandas.DataFrame, observable: str) -> Table:
    """Make a table of number of rows, median, least and most of the observable, for each region or kind."""
    keys = [name for name in (REGION, KIND, NAME) if name in frame.columns]
    table = _empty_table(" ".join(keys) or "table", "rows", f"{observable}: median", "least", "most")
    groups = [("", frame)] if not keys else frame.groupby(keys, sort=False)
    rows = []
    for name, part in groups:
        values = part[observable].to_numpy(float)
        values = values[np.isfinite(values)]
        numbers = (np.median(values), values.min(), values.max()) if len(values) else (np.nan,) * 3
        rows.append((" ".join(map(str, name)) if isinstance(name, tuple) else str(name), len(part), numbers))
    for name, count, numbers in sorted(rows, key=lambda row: -np.nan_to_num(row[2][0]))[:_MOST_ROWS]:
        table.add_row(name, str(count), *(f"{number:.4g}" for number in numbers))
    if len(rows) > _MOST_ROWS:
        table.add_row(f"and {len(rows) - _MOST_ROWS} more")
    return table


def _factors(frame: pandas.DataFrame, factors: tuple[str, ...]) -> Table:
    table = _empty_table("factor", "values")
    table.columns[1].justify = "left"
    for name in factors:
        if name not in (REGION, KIND, NAME):
            table.add_row(name, _values(frame[name]))
    return table


def _values(column: pandas.Series) -> str:
    values = sorted(column.dropna().unique().tolist(), key=lambda value: (isinstance(value, str), value))
    texts = [f"{value:.6g}" if isinstance(value, int | float) else str(value) for value in values]
    if len(texts) > _MOST_VALUES:
        return f"{', '.join(texts[: _MOST_VALUES - 1])}, ... {texts[-1]} ({len(texts)} values)"
    return ", ".join(texts)


def print_next(found: Sequence[NextPoint], targets: Sequence[Mapping[str, float]], console: Console) -> None:
    """Print the settings to measure next, the expected time of each, and how much narrower intervals become."""
    table = plain_table("Measure next", "expected", "intervals then")
    for one in found:
        at = ", ".join(f"{name} = {value:g}" for name, value in one.at.items())
        table.add_row(at, f"{one.expected:.5g}", f"{100 * one.narrower:.0f} % as wide")
    console.print()
    console.print(table)
    where = "the predicted points" if targets else f"{FARTHER:g} times the largest values"
    console.print(Text(f"Each is measured once, with all before it. The intervals are those at {where}."))


def next_json(found: Sequence[NextPoint]) -> dict[str, Any]:
    """Return the settings to measure next for JSON. Empty: none were asked for."""
    rows = [{"at": one.at, "expected": one.expected, "narrower": one.narrower} for one in found]
    return {"next": rows} if rows else {}
