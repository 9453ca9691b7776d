"""A stored model applied to the rows of a table, as text, for JSON, and as columns."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.console import Console
from rich.text import Text

from analyzer.errors import TracelibError
from analyzer.models.applied_models import ModelValues
from analyzer.models.model import Model
from analyzer.report.words.table import plain_table

if TYPE_CHECKING:
    import pandas

_ROWS = 20


def with_expected(frame: pandas.DataFrame, model: Model, found: ModelValues) -> pandas.DataFrame:
    """Return the table with the columns NAME_expected, NAME_low and NAME_high, where NAME is the observable.

    Raises:
        TracelibError: The table already has one of these columns.
    """
    new = {"expected": found.expected, "low": found.low, "high": found.high}
    columns = {f"{model.observable}_{ending}": values for ending, values in new.items()}
    if there := [name for name in columns if name in frame.columns]:
        raise TracelibError(f"the table has a column {there[0]} already", "apply the model to the table as measured")
    return frame.assign(**columns)


def print_applied(file: str, table: str, model: Model, found: ModelValues, console: Console) -> None:
    """Print the model, the first rows, and how far measured values are from expected values."""
    rows = len(found.expected)
    console.print(Text(f"{Path(file).name}: {model.observable} = {model}"))
    console.print(Text(f"\n{Path(table).name}: {rows} rows\n"))
    measured = found.measured
    headings = [*found.values, *([model.observable] if measured is not None else []), "expected", "95 % interval"]
    shown = plain_table(*headings, *(["measured / expected"] if measured is not None else []))
    differences = found.differences
    for row in range(min(rows, _ROWS)):
        cells = [f"{column[row]:g}" for column in found.values.values()]
        cells += [f"{measured[row]:.5g}"] if measured is not None else []
        cells += [_number(found.expected[row]), f"{_number(found.low[row])} to {_number(found.high[row])}"]
        shown.add_row(*cells, *([_percent(differences[row])] if measured is not None else []))
    console.print(shown)
    if rows > _ROWS:
        console.print(f"... and {rows - _ROWS} more rows; -o TABLE.csv writes all")
    for line in _summary(found, model):
        console.print(Text(f"\n{line}"))


def _summary(found: ModelValues, model: Model) -> list[str]:
    lines, away = [], found.differences[np.isfinite(found.differences)]
    if len(away):
        lines.append(
            f"Measured beside expected: {100 * away.mean():+.1f} % on average, {100 * np.median(np.abs(away)):.1f} % "
            f"typical (median), {100 * np.sqrt(np.mean(away**2)):.1f} % root mean square, "
            f"{100 * np.abs(away).max():.1f} % at most"
        )
    if none := int((~np.isfinite(found.expected)).sum()):
        lines.append(f"{none} of {len(found.expected)} rows have no expected value: they lack a parameter, or a term.")
    if found.beyond.any():
        ranges = "; ".join(f"{name} from {low:g} to {high:g}" for name, (low, high) in model.ranges.items())
        lines.append(
            f"Beyond the data of the model ({ranges}): {int(found.beyond.sum())} of {len(found.expected)} rows."
        )
    return lines


def _number(value: float) -> str:
    return f"{value:.5g}" if math.isfinite(value) else "-"


def _percent(share: float) -> str:
    return f"{100 * share:+.1f} %" if math.isfinite(share) else "-"


def applied_json(file: str, table: str, model: Model, found: ModelValues) -> dict[str, Any]:
    """Return all rows, and the distances of measured from expected values, for JSON."""
    away = found.differences[np.isfinite(found.differences)]
    return {
        "file": file,
        "table": table,
        "observable": model.observable,
        "model": str(model),
        "rows": [
            {
                "at": {name: _finite(column[row]) for name, column in found.values.items()},
                "measured": None if found.measured is None else _finite(found.measured[row]),
                "expected": _finite(found.expected[row]),
                "interval": [_finite(found.low[row]), _finite(found.high[row])],
                "beyond": bool(found.beyond[row]),
            }
            for row in range(len(found.expected))
        ],
        "difference": {
            "mean": _finite(away.mean()) if len(away) else None,
            "median": _finite(np.median(np.abs(away))) if len(away) else None,
            "rms": _finite(np.sqrt(np.mean(away**2))) if len(away) else None,
        },
    }


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
