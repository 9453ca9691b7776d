"""The ways to find the sizes at which a network changes its behaviour, under one roof."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from analyzer.loggp.line_fit import misfits
from analyzer.network_measurement import neighbourhood
from analyzer.network_measurement.intervals.changepoint import changepoints
from analyzer.network_measurement.intervals.clustering import SizeClusters, clustered
from analyzer.network_measurement.intervals.joined_intervals import checked
from analyzer.network_measurement.neighbourhood import neighbours
from analyzer.network_measurement.options import EstimateOptions
from analyzer.network_measurement.sample import PairSample, SizeCurves

AHEAD = 4
"""Sizes that must all agree."""
FEWEST_SIZES = 3
LEAST_S = 0.15e-6
"""A residual below does not count: netgauge's own threshold."""


def netgauge(of: SizeCurves, factor: float) -> list[int]:
    """Return the places of the first size of each piece, 0 first."""
    n = len(of.size)
    squares = misfits(of.size, of.gap.time_s, np.ones(n))
    begins = [0]
    last = FEWEST_SIZES - 1
    while last + AHEAD < n:
        begin = begins[-1]
        ends = np.arange(last, last + AHEAD + 1)
        residual = np.sqrt(squares[begin, ends] / (ends - begin - 1))
        if residual[0] >= LEAST_S and (residual[1:] >= factor * residual[0]).all():
            begins.append(last + 1)
            last += FEWEST_SIZES
        else:
            last += 1
    return begins


def fractures(size: np.ndarray, time_s: np.ndarray, window: float, kind: str, guard: float) -> set[int]:
    """Return the sizes after which `time_s` jumps up; the largest of all is never among them.

    On flat pieces with noise a row may be the largest of its neighbourhood by chance: so the times must rise by `guard`
    standard deviations of theirs, unless that is 0.
    """
    near = neighbours(size, time_s, window, kind)
    largest = np.unique(size[size == size[near].max(axis=1)])
    found = set(largest[largest < size.max()].tolist())
    return {s for s in found if not guard or _rises(size, time_s, s, guard)}


def _rises(size: np.ndarray, time_s: np.ndarray, before: int, guard: float) -> bool:
    """Check whether the next size takes longer by far more than the rows of both scatter."""
    after = size[size > before].min()
    low, high = time_s[size == before], time_s[size == after]
    scatter = np.hypot(_deviation(low), _deviation(high))
    return bool(np.median(high) - np.median(low) > guard * scatter)


def _deviation(values: np.ndarray) -> float:
    return float(1.4826 * np.median(np.abs(values - np.median(values))))


def _changepoint(of: SizeCurves, rows: PairSample, options: EstimateOptions) -> list[int]:
    return changepoints(of, options.tolerance)


def _netgauge(of: SizeCurves, rows: PairSample, options: EstimateOptions) -> list[int]:
    return netgauge(of, options.factor)


def _counted(of: SizeCurves, rows: PairSample) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return size, overhead and gap of the rows that count."""
    counts = rows.overhead_counts & rows.gap_counts & np.isin(rows.size, of.size)
    return rows.size[counts], rows.overhead_s[counts], rows.gap_s[counts]


def clusters(of: SizeCurves, rows: PairSample, options: EstimateOptions) -> SizeClusters | None:
    """Return the clusters whose borders `thesis` takes; None if all rows have one size."""
    size, overhead_s, gap_s = _counted(of, rows)
    how = options.window, options.neighbours, options.method, options.metric, options.threshold
    return clustered(size, (overhead_s, gap_s), *how)


def thesis(of: SizeCurves, rows: PairSample, options: EstimateOptions) -> list[int]:
    """Return fractures and borders of clusters together, without those that leave too few rows between them."""
    size, *times_s = _counted(of, rows)
    before: set[int] = set()
    for time_s in times_s:
        before |= fractures(size, time_s, options.window, options.neighbours, options.guard)
    found = clusters(of, rows, options)
    before |= found.ends if found else set()
    begins = np.searchsorted(of.size, sorted(before), side="right")
    number = np.bincount(np.searchsorted(of.size, size), minlength=len(of.size))
    fewest = neighbourhood.count(options.window, len(size))
    return checked(of, [0, *begins.tolist()], number, fewest)


DETECTORS: dict[str, Callable[[SizeCurves, PairSample, EstimateOptions], list[int]]] = {
    "changepoint": _changepoint,
    "thesis": thesis,
    "netgauge": _netgauge,
}
"""Detectors by name; each gives the places of the first size of each interval, 0 first."""
