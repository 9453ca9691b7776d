"""Efficiencies of runs, regions and visits as tables and as plain data."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.table import Table
from rich.text import Text

from analyzer.metrics.efficiency import Efficiency
from analyzer.metrics.region_efficiency import RegionEfficiency, VisitEfficiency
from analyzer.report import units
from analyzer.report.as_json import efficiency_json

MOST_VISITS = 40


@dataclass(frozen=True)
class Efficiencies:
    """What was found in one file."""

    file: str
    ranks: int
    missing: tuple[int, ...]
    efficiency: Efficiency
    regions: list[RegionEfficiency] | None  # None: not asked for
    visits: list[VisitEfficiency] | None


def efficiencies_tables(results: list[Efficiencies]) -> Iterator[Table]:
    """One of all files, then those of each file's regions and visits where they were asked for."""
    yield _table(results)
    for result in results:
        if result.regions is not None:
            yield _regions_table(result.regions)
        if result.visits is not None:
            yield _visits_table(result.visits)


def _new_table(*columns: str) -> Table:
    table = Table(box=None, padding=(0, 1, 0, 0), pad_edge=False, header_style="dim")
    table.add_column(columns[0], overflow="fold")
    for column in (*columns[1:], "parallel", "load balance", "communication"):
        table.add_column(column, justify="right", no_wrap=True)
    return table


def _factors(e: Efficiency) -> list[str]:
    factors = (e.parallel_efficiency, e.load_balance, e.communication_efficiency)
    return ["-" if f is None else units.percent(f) for f in factors]


def _table(results: list[Efficiencies]) -> Table:
    table = _new_table("file", "ranks", "runtime")
    for result in results:
        number = f"{result.ranks - len(result.missing)} of {result.ranks}" if result.missing else str(result.ranks)
        runtime = units.time(result.efficiency.runtime_ns)
        table.add_row(Path(result.file).name, number, runtime, *_factors(result.efficiency))
    return table


def _regions_table(regions: list[RegionEfficiency]) -> Table:
    table = _new_table("region", "visits", "threads", "runtime")
    for one in regions:
        runtime = units.time(one.efficiency.runtime_ns)
        table.add_row(Text(one.name), units.count(one.visits), str(one.threads), runtime, *_factors(one.efficiency))
    return table


def _visits_table(visits: list[VisitEfficiency]) -> Table:
    """Of many the least efficient, in order of time."""
    table = _new_table("visit", "begin", "threads", "runtime")
    worst = sorted(visits, key=lambda one: one.efficiency.parallel_efficiency or 0.0)[:MOST_VISITS]
    for one in sorted(worst, key=lambda one: one.number):
        begin, runtime = units.time(one.begin_ns), units.time(one.efficiency.runtime_ns)
        table.add_row(str(one.number), begin, str(one.threads), runtime, *_factors(one.efficiency))
    if len(visits) > len(worst):
        table.add_row(f"and {len(visits) - len(worst)} that are more efficient")
    return table


def efficiencies_json(result: Efficiencies) -> dict[str, Any]:
    """Fractions and seconds under stable names."""
    data: dict[str, Any] = {"file": result.file, "ranks": result.ranks, "missing": list(result.missing)}
    data |= efficiency_json(result.efficiency)
    if result.regions is not None:
        data["regions"] = [
            {"name": one.name, "visits": one.visits, "threads": one.threads, **efficiency_json(one.efficiency)}
            for one in result.regions
        ]
    if result.visits is not None:
        data["visits"] = [
            {
                "visit": one.number,
                "begin_s": one.begin_ns / 1e9,
                "end_s": one.end_ns / 1e9,
                "threads": one.threads,
                **efficiency_json(one.efficiency),
            }
            for one in result.visits
        ]
    return data
