"""Iterations in the first look: sentences on them and on their imbalance, and the same for JSON.

Also calls by their places in the program, as a table and for JSON.
"""

from __future__ import annotations

from typing import Any

from rich.table import Table
from rich.text import Text

from analyzer.metrics.callers import CallsFromPlace
from analyzer.places import Places
from analyzer.report.imbalance import evenness_json, unevenness_sentences
from analyzer.report.look.summary import Summary
from analyzer.report.structure import structure_sentence
from analyzer.report.words import units
from analyzer.report.words.table import plain_table

_MOST = 3


def iterations_lines(summary: Summary) -> list[str]:
    """Describe the iterations of a run, and the most expensive findings on them.

    Empty: no iterations were found. If the run is too long to look for iterations, the only line says so.
    """
    if summary.structure is None and summary.is_long:
        calls = units.count(int(summary.profile.count.sum()))
        return [f"Not looked for in {calls} calls, nor what is uneven about them: analyze structure"]
    if not summary.structure or not summary.structure.main:
        return []
    lines = [f"{structure_sentence(summary.structure)}."]
    if summary.even:
        found = unevenness_sentences(summary.even, summary.efficiency.runtime_ns)
        lines += [one.text for one in found[:_MOST]]
    return [*lines, "analyze structure shows them, rank by rank"]


def iterations_json(summary: Summary) -> dict[str, Any] | None:
    """Return the iterations for JSON, in s. None: iterations were not looked for, or not found."""
    main = summary.structure.main if summary.structure else None
    if not summary.structure or not main or not main.iterations:
        return None
    return {
        "sentence": structure_sentence(summary.structure),
        "iterations": main.count,
        "period_s": main.iterations.period_ns / 1e9,
        "uneven": evenness_json(summary.even) if summary.even else None,
    }


MOST_PLACES = 10


def places_table(found: list[CallsFromPlace], places: Places, whole_ns: int) -> Table:
    """Make a table of the places with the most time in MPI. `whole_ns` is the time of all threads of the run."""
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


def places_json(found: list[CallsFromPlace], places: Places) -> list[dict[str, Any]]:
    """Return all places with their calls for JSON, the most expensive first."""
    return [
        {
            "place": places.location(f.place) or places.text(f.place),
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
