"""Notes on modules whose places lack good names (no -g, another file, no file), and places at which time is lost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from analyzer.metrics.computing import UnevenComputing
from analyzer.metrics.lost_at import LostAt
from analyzer.report.words import units

MOST = 3
"""Largest number of notes that are printed, one for each program or library."""


def print_place_notes(notes: Sequence[str], console: Console, indent: int = 2) -> None:
    """Print the first MOST notes of `Places.notes`."""
    for note in notes[:MOST]:
        console.print(Padding(Text(note), (0, 0, 0, indent)))


def uneven_text(most: UnevenComputing) -> str:
    """Say where computing is most uneven, and how long the longest rank and the mean rank compute there."""
    return (
        f"{most.text}; rank {most.rank} computes {units.time(most.most_ns)} there, a rank on average "
        f"{units.time(most.mean_ns)}"
    )


def lost_at_json(found: LostAt) -> dict[str, Any]:
    """Return the places at which time is lost for JSON, in s, the largest loss first."""
    return {
        "uneven": [
            {"name": u.text, "rank": u.rank, "most_s": u.most_ns / 1e9, "mean_s": u.mean_ns / 1e9} for u in found.uneven
        ],
        "in_calls": [{"name": one.text, "time_s": one.ns / 1e9} for one in found.in_calls],
    }
