"""How well signals agree on the period of the main loop (Casas 2009, section 3.7.2)."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median

from analyzer.structure.levels.parts import Metric, Part, Structure


def off_by(metric: Metric, main: Part | None) -> float | None:
    """By what share of it the period of a signal differs from that of the main loop; None: one of them has none."""
    if main is None or main.iterations is None or metric.period_ns is None or not main.iterations.period_ns:
        return None
    return abs(metric.period_ns / main.iterations.period_ns - 1)


def ranked(structure: Structure) -> list[Metric]:
    """The signals, those that agree best first; last those without a period."""
    off = [(off_by(metric, structure.main), metric) for metric in structure.metrics]
    return [metric for by, metric in sorted(off, key=lambda one: (one[0] is None, one[0] or 0.0))]


@dataclass(frozen=True)
class Agreement:
    """Of all signals: how many have a period, and by what share these are off."""

    found: int
    of: int
    median: float
    most: float


def agreement(structure: Structure) -> Agreement | None:
    """None: no signal was looked at, or none has a period beside a main loop."""
    off = [by for metric in structure.metrics if (by := off_by(metric, structure.main)) is not None]
    return Agreement(len(off), len(structure.metrics), median(off), max(off)) if off else None
