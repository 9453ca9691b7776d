"""Measured and predicted times of processes under a plan, as text and for JSON.

Source: PEMPIs-Het, figures 4 to 6.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from rich.console import Console

from analyzer.balance.process_times import ProcessTimes
from analyzer.report.words import units
from analyzer.report.words.table import plain_table

_MOST_RANKS = 32


def print_process_times(found: ProcessTimes, console: Console) -> None:
    """Print the times of each process, and the processes that are done first, done last, and farthest from the plan."""
    console.print("\nTimes of processes for their shares, and their distance from what the plan expects")
    table = plain_table("rank", "predicted", "measured", "distance", "of it", "interval")
    distances = found.distances
    for rank in range(min(len(distances), _MOST_RANKS)):
        distance = found.measured_s[rank] - found.predicted_s[rank]
        sign = "-" if distance < 0 else "+"
        table.add_row(
            str(rank), _time(found.predicted_s[rank]), _time(found.measured_s[rank]), f"{sign}{_time(abs(distance))}",
            _percent(distances[rank]), "inside" if found.inside[rank] else "outside",
        )  # fmt: skip
    console.print(table)
    if len(distances) > _MOST_RANKS:
        console.print(f"... {len(distances) - _MOST_RANKS} more ranks (--json)")
    for name, of in (("first", np.min), ("last", np.max)):
        predicted, measured = _time(of(found.predicted_s)), _time(of(found.measured_s))
        console.print(f"The {name} to be done: predicted {predicted}, measured {measured}")
    if np.isfinite(distances).any():
        far = int(np.nanargmax(np.abs(distances)))
        inside = int(found.inside.sum())
        console.print(
            f"Farthest: rank {far}, {_percent(distances[far])}; mean {_percent(float(np.nanmean(distances)))}; "
            f"{inside} of {units.plural(len(distances), 'process', 'processes')} in the interval "
            f"({_percent(found.low - 1)} to {_percent(found.high - 1)})"
        )


def print_over_sizes(every: list[ProcessTimes], console: Console) -> None:
    """Print the least and the largest time of a process for each problem size, measured and predicted."""
    console.print("\nLeast and largest time of a process")
    table = plain_table("size", "least predicted", "measured", "largest predicted", "measured", "largest distance")
    for one in every:
        table.add_row(
            _size(one), _time(one.predicted_s.min()), _time(one.measured_s.min()), _time(one.predicted_s.max()),
            _time(one.measured_s.max()), _percent(one.distances[int(np.nanargmax(np.abs(one.distances)))]),
        )  # fmt: skip
    console.print(table)


def process_times_json(found: ProcessTimes) -> list[dict[str, object]]:
    """Return the times of the processes for JSON, by rank, in s."""
    return [
        {
            "rank": rank, "predicted_s": float(found.predicted_s[rank]), "measured_s": float(found.measured_s[rank]),
            "distance": None if np.isnan(distance) else float(distance), "inside": bool(found.inside[rank]),
        }
        for rank, distance in enumerate(found.distances)
    ]  # fmt: skip


def _size(one: ProcessTimes) -> str:
    return f"{one.size:g}" if one.size else Path(one.file).name


def _time(seconds: float) -> str:
    return units.time(float(seconds) * 1e9)


def _percent(share: float) -> str:
    return f"{100 * share:+.1f} %" if np.isfinite(share) else "-"
