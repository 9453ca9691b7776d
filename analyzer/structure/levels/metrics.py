"""How well signals agree on the period of the main loop (Casas 2009, section 3.7.2)."""

from __future__ import annotations

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
