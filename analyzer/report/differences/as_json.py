"""Differences between runs as data: for `--json`, `--csv` and `--fail-if`."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from typing import Any

from analyzer.differences.compare import RunDifference
from analyzer.differences.figures import PARALLEL, PARTS, RUN_TIME, FigureUnit, RunFigures
from analyzer.differences.noise import DifferenceVerdict
from analyzer.differences.rows import DifferenceRow
from analyzer.report.differences.changes import changes
from analyzer.report.differences.tables import basis_line, explained, headline, notes_of

COLUMNS = (
    "family", "name", "unit", "before", "after", "difference", "relative", "verdict", "p", "low", "high",
)  # fmt: skip


def difference_json(of: RunDifference) -> dict[str, Any]:
    """Return a difference as `analyze diff --json` prints it. Times are in s, sizes in bytes, shares are fractions."""
    row = of.run_time
    return {
        "before": _side(of.before),
        "after": _side(of.after),
        "text": headline(of),
        "explained": explained(of) or None,
        "basis": of.basis.value,
        "basis_text": basis_line(of),
        "changes": [
            {"text": one.text, "time_s": one.ns / 1e9 if one.ns else None, "verdict": one.verdict.value}
            for one in changes(of)
        ],
        "run_time": row_json(row),
        "parts": {figure.name: row_json(of.row(figure)) for figure in PARTS},
        "rows": [row_json(one) for one in of.rows],
        "notes": notes_of(of),
    }


def row_json(row: DifferenceRow) -> dict[str, Any]:
    """Return one figure by the names in COLUMNS, and `why`: the reason if noise could not be judged."""
    scale = 1e9 if row.figure.unit is FigureUnit.NS else 1.0

    def scaled(value: float | None) -> float | None:
        return None if value is None else value / scale

    known = row.before is not None and row.after is not None
    values = (
        row.figure.family.value, row.figure.name, row.figure.unit.value, scaled(row.before), scaled(row.after),
        scaled(row.difference) if known else None, row.relative, row.verdict.value, row.p, scaled(row.low),
        scaled(row.high),
    )  # fmt: skip
    return dict(zip(COLUMNS, values, strict=True)) | {"why": row.why or None}


def difference_csv(of: RunDifference) -> str:
    """Return a difference as text of a CSV file, with a line for each figure."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for row in of.rows:
        found = row_json(row)
        writer.writerow(["" if found[name] is None else found[name] for name in COLUMNS])
    return text.getvalue()


def condition_names(of: RunDifference) -> dict[str, Any]:
    """Return the names that a condition of `--fail-if` may use in addition to `difference_json`.

    These are the short names that docs/analyze-diff.md lists, and each figure as family.name.column.
    """
    row, parallel = of.run_time, of.row(PARALLEL)
    slower, sure = row.relative or 0.0, row.verdict is DifferenceVerdict.MORE
    found = {
        f"{one.figure.family.value}.{_word(one.figure.name)}.{column}": value
        for one in of.rows
        for column, value in row_json(one).items()
    }
    return found | {
        "slower": slower,
        "faster": -slower,
        "surely_slower": max(slower, 0.0) if sure else 0.0,
        "surely_faster": max(-slower, 0.0) if sure else 0.0,
        "efficiency": parallel.after,
        "efficiency_before": parallel.before,
        "efficiency_lost": -parallel.difference,
        "runtime_s": _seconds(row.after),
        "runtime_before_s": _seconds(row.before),
    }


def _word(name: str) -> str:
    """Replace everything that is not a letter or digit by "_", for a part of a dotted name."""
    return re.sub(r"\W+", "_", name)


def _seconds(ns: float | None) -> float | None:
    return None if ns is None else ns / 1e9


def _side(side: Sequence[RunFigures]) -> dict[str, Any]:
    one = side[0]
    return {
        "files": [run.file for run in side],
        "command": one.command,
        "ranks": one.ranks,
        "threads": one.threads,
        "iterations": one.iterations or None,
        "runtimes_s": [run.values[RUN_TIME] / 1e9 for run in side],
    }
