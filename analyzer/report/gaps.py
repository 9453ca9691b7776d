"""Computing time by the calls before and after it, as a table and for JSON."""

from __future__ import annotations

from typing import Any

import numpy as np
from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from analyzer.metrics.gaps import Gaps
from analyzer.places import Places
from analyzer.report.words import units
from analyzer.report.words.place_notes import print_place_notes
from analyzer.report.words.table import plain_table
from analyzer.trace import Trace

MOST_ROWS = 10


def print_gaps(found: Gaps, trace: Trace, places: Places, console: Console) -> None:
    """Print the pairs of calls between which the run computes most."""
    whole = float(found.rows["ns"].sum())
    if not whole:
        return
    table = plain_table("between", "and", "time", "share", "times")
    for row in found.rows[:MOST_ROWS]:
        before, after = (_call(trace, places, int(row[f"{n}_call"]), int(row[n]), n) for n in ("before", "after"))
        table.add_row(
            Text(before), Text(after), units.time(int(row["ns"]), ""),
            units.percent(int(row["ns"]) / whole).replace(" ", ""), units.count(int(row["count"])),
        )  # fmt: skip
    console.print(Text("\nWhat is known instead: between which calls the run computes", style="bold"))
    console.print(Padding(table, (0, 0, 0, 2)))
    shown = found.rows[:MOST_ROWS]
    print_place_notes(places.notes(np.union1d(shown["before"], shown["after"])), console)


def _call(trace: Trace, places: Places, call: int, path: int, side: str) -> str:
    if call < 0:
        return "its begin" if side == "before" else "its end"
    place = places.text(int(places.place[path])) if path else ""
    return f"{trace.procedures[call].removeprefix('MPI_')} {place}".rstrip()


def gaps_json(found: Gaps | None, trace: Trace, places: Places) -> dict[str, Any]:
    """Return all pairs of calls for JSON, with computing times in s. Empty: `found` is None."""
    if found is None:
        return {}
    return {
        "between": [
            {
                "before": _call(trace, places, int(row["before_call"]), int(row["before"]), "before"),
                "after": _call(trace, places, int(row["after_call"]), int(row["after"]), "after"),
                "count": int(row["count"]),
                "time_s": int(row["ns"]) / 1e9,
            }
            for row in found.rows
        ]
    }
