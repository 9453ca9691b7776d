"""Timed collectives and broadcasts, as tables and for JSON."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from analyzer.network_measurement.collectives import CollectiveComparison, MeasuredCollective
from analyzer.report.words import units
from analyzer.report.words.table import plain_table

_TITLES = {"collectives": "MPI's own collectives", "broadcasts": "Broadcasts along trees of messages"}


def print_collectives(found: Mapping[str, CollectiveComparison], console: Console) -> None:
    """Print the tables of a measurement, as `read_compared` returns them."""
    for table, compared in found.items():
        print_compared(_TITLES[table], compared, console)
        console.print()


def collectives_json(found: Mapping[str, CollectiveComparison]) -> dict[str, Any]:
    """Return the tables of a measurement for JSON."""
    return {table: compared_json(compared) for table, compared in found.items()}


def print_compared(title: str, compared: CollectiveComparison, console: Console) -> None:
    """Print times by collective and number of ranks, and the errors of models. Nothing is printed without times."""
    if not compared.settings:
        return
    console.print(title, style="bold")
    console.print(_overview(compared))
    wrong = [m for m in compared.settings if not m.right]
    if wrong:
        console.print(f"  In {units.plural(len(wrong), 'setting')} not every rank received what was sent")
    if compared.models:
        console.print("  Models of the LogGP family (bias < 0: their times are too short)")
        console.print(_models(compared))


def _overview(compared: CollectiveComparison) -> Table:
    """Make a row for each collective and number of ranks.

    It has the number of settings, times, their spread over repetitions, the naive loop, and the rank that is last most
    often.
    """
    table = plain_table("", "ranks", "settings", "shortest", "longest", "spread", "naive", "its spread", "last")
    groups: dict[tuple[str, int], list[MeasuredCollective]] = {}
    for m in compared.settings:
        groups.setdefault((m.name, m.ranks), []).append(m)
    for (name, ranks), group in groups.items():
        times = [m.time_s for m in group]
        table.add_row(
            f"  {name}",
            str(ranks),
            str(len(group)),
            _time(min(times)),
            _time(max(times)),
            _percent(m.spread for m in group),
            _percent(m.naive_s / m.time_s for m in group if m.time_s > 0),
            _percent(m.naive_spread for m in group),
            _last(group),
        )
    return table


def _last(group: list[MeasuredCollective]) -> str:
    """Return the rank that is last most often, with its share, such as "3 (90.0 %)"."""
    number: dict[int, int] = {}
    for m in group:
        for rank, count in m.responders.items():
            number[rank] = number.get(rank, 0) + count
    rank = max(number, key=lambda r: (number[r], -r))
    return f"{rank} ({units.percent(number[rank] / sum(number.values()))})"


def _models(compared: CollectiveComparison) -> Table:
    table = plain_table("", "settings", "bias", "dispersion", "RMS", "mean error")
    for algorithm, a in compared.models.items():
        errors = (f"{100 * a.bias:+.1f} %", *(units.percent(e) for e in (a.dispersion, a.rms, a.mape)))
        table.add_row(f"  {algorithm}", str(a.settings), *errors)
    return table


def _time(time_s: float) -> str:
    return units.time(time_s * 1e9, "")


def _percent(values: Iterable[float]) -> str:
    """Return the median of finite fractions as a percentage; "-": there are none."""
    known = np.array([v for v in values if np.isfinite(v)])
    return f"{100 * float(np.median(known)):.0f} %" if len(known) else "-"


def compared_json(compared: CollectiveComparison) -> dict[str, Any]:
    """Return a comparison for JSON. Times are in s, sizes in bytes; None: unknown."""
    return {
        "settings": [_plain(asdict(m)) for m in compared.settings],
        "models": {algorithm: _plain(asdict(a)) for algorithm, a in compared.models.items()},
    }


def _plain(values: dict[str, Any]) -> dict[str, Any]:
    return {name: None if isinstance(v, float) and not np.isfinite(v) else v for name, v in values.items()}
