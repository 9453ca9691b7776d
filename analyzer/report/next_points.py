"""Which settings to measure next, as text and JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.text import Text

from analyzer.models.next_points import FARTHER, NextPoint
from analyzer.report.words.table import plain_table


def print_next(found: Sequence[NextPoint], targets: Sequence[Mapping[str, float]], console: Console) -> None:
    """The settings, what each takes, and how much surer predictions are then."""
    table = plain_table("Measure next", "expected", "intervals then")
    for one in found:
        at = ", ".join(f"{name} = {value:g}" for name, value in one.at.items())
        table.add_row(at, f"{one.expected:.5g}", f"{100 * one.narrower:.0f} % as wide")
    console.print()
    console.print(table)
    where = "the predicted points" if targets else f"{FARTHER:g} times the largest values"
    console.print(Text(f"Each is measured once, with all before it. The intervals are those at {where}."))


def next_json(found: Sequence[NextPoint]) -> dict[str, Any]:
    """The same numbers; nothing where none were asked for."""
    rows = [{"at": one.at, "expected": one.expected, "narrower": one.narrower} for one in found]
    return {"next": rows} if rows else {}
