"""Imbalance of a run's iterations: in sentences, as a map of ranks over iterations, and for JSON."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from analyzer.imbalance.analysis import LEAST_COST, Drift, Imbalance, MovingImbalance, SlowIterations, UnevenIterations
from analyzer.imbalance.pipelines import Pipeline
from analyzer.report.words import units
from analyzer.trace.description import ranks_named, ranks_text

WIDEST, HIGHEST = 64, 16
"""Largest number of columns and lines of a map."""
_SHADES, _DIGITS = " ░▒▓█", "0123456789"
_FEW = 6


@dataclass(frozen=True)
class UnevennessSentence:
    """A sentence on one kind of imbalance. cost_ns: time by which the run would be shorter without it, at most."""

    text: str
    cost_ns: int


def unevenness_sentences(evenness: Imbalance, runtime_ns: int) -> list[UnevennessSentence]:
    """Return a sentence for each finding on imbalance, the most expensive first.

    Findings that cost less than LEAST_COST of the run time are left out.
    """
    found = evenness.uneven
    every = [*_all_of(found), *map(_pipeline, evenness.pipelines, evenness.place)]
    every = [one for one in every if one.cost_ns >= LEAST_COST * runtime_ns]
    return [
        UnevennessSentence(f"{one.text} {_cost(one.cost_ns, runtime_ns)}", one.cost_ns)
        for one in sorted(every, key=lambda one: -one.cost_ns)
    ]


def _cost(ns: int, runtime_ns: int) -> str:
    return f"It costs up to {units.time(ns)} of the run ({units.percent(ns / max(runtime_ns, 1))})."


def _all_of(found: UnevenIterations) -> Iterator[UnevennessSentence]:
    if found.moving:
        yield UnevennessSentence(_moving(found.moving), found.moving.cost_ns)
    for slow in found.slow:
        yield UnevennessSentence(_slow(slow), slow.cost_ns)
    if found.drift:
        yield UnevennessSentence(_drift(found.drift), found.drift.cost_ns)


def _moving(moving: MovingImbalance) -> str:
    how = "in turn, the next rank in each iteration" if moving.in_turn else "now one rank, now another"
    return (
        f"The imbalance moves: {how} computes longest. Load balance is {units.percent(moving.within)} within "
        f"iterations and {units.percent(moving.of_sums)} of the sums."
    )


def _slow(slow: SlowIterations) -> str:
    count = len(slow.numbers)
    if slow.every:
        which = f"One iteration in {slow.every} takes"
        named = f" ({slow.numbers[0]}, {slow.numbers[1]}, ... {slow.numbers[-1]})"
    elif count == 1:
        which, named = f"Iteration {slow.numbers[0]} takes", ""
    else:
        which, named = f"{units.count(count)} iterations take", f" ({ranks_text(slow.numbers)})"
    why = f"rank {slow.rank} computes longer then" if slow.rank >= 0 else "no rank computes longer then"
    mean = "on average " if count > 1 else ""
    return f"{which} {mean}{units.time(slow.mean_ns)} instead of {units.time(slow.typical_ns)}{named}: {why}."


def _drift(drift: Drift) -> str:
    longer = "longer" if drift.last_ns > drift.first_ns else "shorter"
    who = "all ranks compute" if drift.everybody else f"rank {drift.rank} computes"
    reason = f"{who} {longer} and {longer}" if drift.rank >= 0 else "but not because of computing"
    return (
        f"Iterations become {longer}: {units.time(drift.first_ns)} in the first fifth of them, "
        f"{units.time(drift.last_ns)} in the last; {reason}."
    )


def _pipeline(one: Pipeline, place: str) -> UnevennessSentence:
    where = f" at {place}" if place else ""
    few = " -> ".join(map(str, one.ranks)) if len(one.ranks) <= _FEW else ranks_named(sorted(one.ranks))
    text = (
        f"A pipeline: {few} wait one for the other in {one.procedure}{where}, the last the longest, "
        f"{units.time(one.last_ns)}."
    )
    return UnevennessSentence(text, one.last_ns)


def evenness_json(evenness: Imbalance) -> dict[str, Any]:
    """Return the imbalance for JSON. Times are in s, iterations are numbered from 1."""
    found = evenness.uneven
    return {
        "moving_imbalance": _plain(found.moving),
        "slow_iterations": [_plain(slow) for slow in found.slow],
        "drift": _plain(found.drift),
        "pipelines": [
            {**_plain(one), "place": place or None}
            for one, place in zip(evenness.pipelines, evenness.place, strict=True)
        ],
    }


def print_evenness(evenness: Imbalance, runtime_ns: int, next_command: str, console: Console) -> None:
    """Print the findings, the command to type next, and a map of ranks over iterations."""
    sentences = unevenness_sentences(evenness, runtime_ns)
    for one in sentences:
        console.print()
        console.print(Text(one.text))
    if sentences:
        console.print(Text.assemble("\nNext: ", (next_command, "bold")), soft_wrap=True)
    print_map(evenness.computing_ns, console)


def _plain(found: MovingImbalance | SlowIterations | Drift | Pipeline | None) -> Any:
    if found is None:
        return None
    plain = {}
    for name, value in asdict(found).items():
        if name.endswith("_ns"):
            plain[name.removesuffix("_ns") + "_s"] = value / 1e9
        else:
            plain[name] = list(value) if isinstance(value, tuple) else value
    if plain.get("rank") == -1:
        plain["rank"] = None
    return plain


def print_map(computing: np.ndarray, console: Console) -> None:
    """Print a map of ranks over iterations. The darker a cell, the longer the rank computes in the iteration.

    `computing` is the computing time in ns, int64 of shape (ranks, iterations).
    """
    ranks, count = computing.shape
    longest = float(np.percentile(computing, 99.9)) if computing.size else 0.0
    if not longest:
        return
    shades = _SHADES if console.encoding.startswith("utf") else _DIGITS
    some = computing[:, : min(count, WIDEST)]
    several = -(-ranks // HIGHEST)
    console.print()
    console.print(Text(f"Computing of ranks (down) in iterations (across); {_scale(longest, shades)}", style="bold"))
    _print_rows(some, several, longest, shades, f"iterations 1 to {some.shape[1]}", console)
    if count > WIDEST:
        columns = -(-count // WIDEST)
        firsts = np.arange(0, count, columns)
        title = f"all {units.count(count)}, {columns} in a column, of which the longest"
        _print_rows(np.maximum.reduceat(computing, firsts, axis=1), several, longest, shades, title, console)


def _scale(longest: float, shades: str) -> str:
    return f'"{shades[0]}" 0 s to "{shades[-1]}" {units.time(longest)}'


def _print_rows(values: np.ndarray, several: int, longest: float, shades: str, title: str, console: Console) -> None:
    firsts = np.arange(0, len(values), several)
    level = np.maximum.reduceat(values, firsts, axis=0) / longest * (len(shades) - 1)
    level = np.rint(level).astype(int).clip(0, len(shades) - 1)
    names = [ranks_text(range(f, min(f + several, len(values)))) for f in firsts.tolist()]
    width = max(map(len, names))
    console.print(Padding(Text(title, style="dim"), (0, 0, 0, 2), expand=False))
    for name, row in zip(names, level, strict=True):
        line = "".join(shades[k] for k in row)
        console.print(Padding(Text(f"{name:>{width}} |{line}|", no_wrap=True), (0, 0, 0, 2), expand=False))


def in_words(found: MovingImbalance | SlowIterations | Drift | Pipeline, place: str = "") -> str:
    """Describe one imbalance as `unevenness_sentences` does, without its cost. `place`: place of a pipeline."""
    if isinstance(found, MovingImbalance):
        return _moving(found)
    if isinstance(found, SlowIterations):
        return _slow(found)
    return _drift(found) if isinstance(found, Drift) else _pipeline(found, place).text
