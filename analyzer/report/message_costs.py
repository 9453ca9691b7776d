"""Latency and bandwidth estimated from a run's messages: as a table, in sentences, and for JSON."""

from __future__ import annotations

import math
from typing import Any

from rich.console import Console
from rich.table import Table

from analyzer.loggp.observed import ENOUGH, BoundedEstimate, MessageWay, SizeClass
from analyzer.report.words import units

_PLACES = {"intra": "Messages within nodes", "inter": "Messages between nodes"}


def print_ways(ways: tuple[MessageWay, ...], console: Console) -> None:
    """Print a table and conclusions for messages within nodes, and for messages between nodes."""
    if not ways:
        console.print("There are no messages, so latency and bandwidth are not known.")
    for number, way in enumerate(ways):
        if number:
            console.print()
        console.print(f"{_PLACES[way.where]}: {'; '.join(_counts(way))}", style="bold")
        console.print(_table(way))
        for line in _conclusions(way):
            console.print(f"  {line}")


def _counts(way: MessageWay) -> list[str]:
    parts = [f"{units.count(way.messages)}, {units.count(way.used)} used"]
    if way.backwards:
        parts.append(f"{units.count(way.backwards)} received before they were sent")
    return parts


def _table(way: MessageWay) -> Table:
    table = Table(box=None, padding=(0, 1, 0, 0), pad_edge=False, header_style="dim")
    table.add_column("  bytes", no_wrap=True)
    for column in ("used", "way", "at least", "at most", "bandwidth", "MPI_Send"):
        table.add_column(column, justify="right", no_wrap=True)
    table.add_column("trust", overflow="fold")
    for c in way.classes:
        way_texts = [_time(c.time.value), _time(c.time.low), _time(c.time.high)] if c.time else ["-"] * 3
        table.add_row(
            f"  {_sizes(c)}",
            units.count(c.used),
            *way_texts,
            f"{units.size(c.bandwidth.value, '')}B/s" if c.bandwidth else "-",
            _time(c.overhead.value) if c.overhead else "-",
            f"{c.trust}: {c.reason}" if c.reason else c.trust,
        )
    return table


def _sizes(c: SizeClass) -> str:
    if c.from_bytes == c.to_bytes:
        return units.size(c.from_bytes, "")
    return f"{units.size(c.from_bytes, '')} to {units.size(c.to_bytes + 1, '')}"


def _time(time_s: float) -> str:
    return units.time(time_s * 1e9, "") if math.isfinite(time_s) else "?"


def _conclusions(way: MessageWay) -> list[str]:
    smallest = way.smallest
    if smallest is None or smallest.time is None:
        enough = any(c.used >= ENOUGH for c in way.classes)
        why = "no size can be trusted" if enough else f"too few messages of a size ({ENOUGH} needed)"
        return [f"Latency and bandwidth are not known: {why}."]
    time = smallest.time
    lines = [f"Latency {_time(time.value)} ({_time(time.low)} to {_time(time.high)}), from messages of "
             f"{units.size(smallest.size_bytes)}."]  # fmt: skip
    fastest = [c for c in way.trusted if c.bandwidth]
    if fastest and (last := fastest[-1]).bandwidth:
        lines.append(f"Bandwidth {units.size(last.bandwidth.value)}/s, from messages of {units.size(last.size_bytes)}.")
    if way.clock_error_s:
        lines.append(f"The clocks may differ by {_time(way.clock_error_s)}: no time is more exact than that.")
    return lines


def ways_json(ways: tuple[MessageWay, ...]) -> list[dict[str, Any]]:
    """Return the estimates for JSON. Units are s, bytes and bytes per second; None: unknown."""
    return [
        {
            "where": way.where,
            "messages": way.messages,
            "waited": way.waited,
            "used": way.used,
            "backwards": way.backwards,
            "clock_error_s": way.clock_error_s,
            "sizes": [_class_json(c) for c in way.classes],
        }
        for way in ways
    ]


def _class_json(c: SizeClass) -> dict[str, Any]:
    return {
        "from_bytes": c.from_bytes,
        "to_bytes": c.to_bytes,
        "messages": c.messages,
        "used": c.used,
        "size_bytes": c.size_bytes,
        "time_s": _range(c.time),
        "bandwidth_bytes_per_s": _range(c.bandwidth),
        "send_s": _range(c.overhead),
        "trust": c.trust,
        "reason": c.reason,
    }


def _range(r: BoundedEstimate | None) -> dict[str, float | None] | None:
    if r is None:
        return None
    return {name: value if math.isfinite(value) else None for name, value in vars(r).items()}
