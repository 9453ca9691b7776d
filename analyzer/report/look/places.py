"""Calls by the places in the program that they come from, as a table and as data."""

from __future__ import annotations

from typing import Any

from rich.table import Table
from rich.text import Text

from analyzer.metrics.callers import FromPlace
from analyzer.places import Places
from analyzer.report.words import units
from analyzer.report.words.table import plain_table

MOST_PLACES = 10


def places_table(found: list[FromPlace], places: Places, whole_ns: int) -> Table:
    """The places with the most time in MPI. whole_ns: of the run, all threads together."""
    table = plain_table("place", "MPI_", "time", "of run", "calls", "bytes", "mean", "varies")
    for f in found[:MOST_PLACES]:
        table.add_row(
            Text(places.text(f.place)),
            f.procedure.removeprefix("MPI_"),
            units.time(f.inside_ns, ""),
            units.percent(f.inside_ns / whole_ns).replace(" ", "") if whole_ns else "",
            units.count(f.count),
            *((units.size(f.bytes, ""), units.size(f.bytes / f.count, "")) if f.bytes else ("-", "-")),
            "-" if f.variation is None else units.percent(f.variation).replace(" ", ""),
        )
    if len(found) > MOST_PLACES:
        rest = sum(f.inside_ns for f in found[MOST_PLACES:])
        table.add_row(f"{len(found) - MOST_PLACES} more", "", units.time(rest, ""))
    return table


def places_json(found: list[FromPlace], places: Places) -> list[dict[str, Any]]:
    """All places, the most expensive first."""
    return [
        {
            "place": places.where(f.place) or places.text(f.place),
            "function": places.function(f.place),
            "file": places.file(f.place) or None,
            "line": places.line(f.place) or None,
            "call": f.procedure,
            "count": f.count,
            "time_s": f.inside_ns / 1e9,
            "sent_bytes": f.sent,
            "received_bytes": f.received,
            "ranks": len(f.by_rank_ns),
            "variation": f.variation,
        }
        for f in found
    ]
