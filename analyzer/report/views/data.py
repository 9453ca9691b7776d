"""Views for JSON, and as lines of CSV files."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from analyzer.atomic_file import whole_file
from analyzer.report.views.tables import plain
from analyzer.views.constant import ViewBursts
from analyzer.views.measuring import Measures
from analyzer.views.over_time import ViewProfile
from analyzer.views.tabulated import Histogram

NS = 1e9
_ROWS = 65536
"""Number of lines of a CSV file that are formatted at a time."""


def rows_json(found: Measures) -> dict[str, Any]:
    """Return measures for JSON: columns by name, and the unit of each."""
    return {
        "level": found.level, "rows": found.rows, "units": found.units,
        "columns": {name: plain(column) for name, column in found.columns.items()},
    }  # fmt: skip


def profile_json(found: ViewProfile) -> dict[str, Any]:
    """Return a profile for JSON: values by row and bin, and the begin of each bin in s."""
    values = {name: plain(getattr(found, name)) for name in ("mean", "minimum", "maximum", "longest")}
    return {"level": found.level, "rows": found.rows, "begin_s": plain(found.edges[:-1] / NS), **values}


def histogram_json(found: Histogram) -> dict[str, Any]:
    """Return a histogram for JSON: values by plane, row and column."""
    return {
        "statistic": found.statistic, "unit": found.unit, "control": found.control, "data": found.data,
        "level": found.level, "rows": found.rows, "columns": found.columns, "edges": plain(found.edges),
        "planes": found.planes, "values": plain(found.values),
        "summary": {name: plain(values) for name, values in found.summary().items()},
    }  # fmt: skip


def bursts_json(rows: Sequence[str], every: Iterable[ViewBursts]) -> list[dict[str, Any]]:
    """Return an object for each burst, for JSON. Times are in s."""
    return [
        {"row": rows[row], "begin_s": begin / NS, "end_s": end / NS, "value": value, "whole": whole}
        for some in every
        for row, begin, end, value, whole in zip(*(column.tolist() for column in some), strict=True)
    ]


def rows_csv(found: Measures) -> Iterator[Sequence[Any]]:
    """Yield the CSV lines of measures, the header first: one line for each row."""
    named = found.named()
    yield ("view", found.level, *named)
    for at, row in enumerate(found.rows):
        yield (found.view, row, *(_cell(column[at]) for column in named.values()))


def profile_csv(found: ViewProfile) -> Iterator[Sequence[Any]]:
    """Yield the CSV lines of a profile, the header first: one line for each row and bin."""
    yield ("view", found.level, "begin_s", "end_s", "mean", "minimum", "maximum")
    for at, row in enumerate(found.rows):
        for bin_, (begin, end) in enumerate(zip(found.edges[:-1].tolist(), found.edges[1:].tolist(), strict=True)):
            cells = (_cell(of[at, bin_]) for of in (found.mean, found.minimum, found.maximum))
            yield (found.view, row, begin / NS, end / NS, *cells)


def histogram_csv(found: Histogram) -> Iterator[Sequence[Any]]:
    """Yield the CSV lines of a histogram, the header first: one line for each cell that is neither 0 nor NaN."""
    yield ("view", "plane", found.level, found.control, f"{found.statistic}{f' ({found.unit})' if found.unit else ''}")
    for plane, row, column in np.argwhere(np.nan_to_num(found.values)).tolist():
        yield (
            found.data, found.planes[plane], found.rows[row], found.columns[column],
            _cell(found.values[plane, row, column]),
        )  # fmt: skip


def bursts_csv(name: str, rows: Sequence[str], every: Iterable[ViewBursts]) -> Iterator[Sequence[Any]]:
    """Yield the CSV lines of bursts, the header first: one line for each burst, in the order in which they end."""
    yield ("view", "row", "begin_s", "end_s", "value", "whole")
    for some in every:
        for row, begin, end, value, whole in zip(*(column.tolist() for column in some), strict=True):
            yield (name, rows[row], begin / NS, end / NS, _cell(value), int(whole))


def write_csv(lines: Iterable[Sequence[Any]], path: Path) -> None:
    """Write lines to a CSV file. It appears complete or not at all.

    Raises:
        TracelibError: The file cannot be written.
    """
    lines = iter(lines)
    with whole_file(path) as file:
        while some := list(islice(lines, _ROWS)):
            text = io.StringIO()
            csv.writer(text, lineterminator="\n").writerows(some)
            file.write(text.getvalue().encode())


def _cell(value: float) -> Any:
    if np.isnan(value):
        return ""
    return int(value) if float(value).is_integer() and abs(value) < 2**53 else float(value)
