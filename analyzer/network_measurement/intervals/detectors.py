"""Detectors: ways to find the sizes at which a network changes its behaviour, by name."""

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
"""Number of further sizes whose residuals must all have grown at a change."""
FEWEST_SIZES = 3
LEAST_S = 0.15e-6
"""Smallest residual in s that counts; the threshold of netgauge itself."""


def netgauge(of: SizeCurves, factor: float) -> list[int]:
    """Find changes as netgauge does: where the residual of the gap's line grows for four sizes in a row.

    Args:
        of: Curves over the sizes.
        factor: Factor by which the residual grows at a change.

    Returns:
        Index of the first size of each piece, 0 first.
    """
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
    """Return the sizes (bytes) after which `time_s` jumps up. The largest size is never among them.

    A fracture is a size that is the largest in the neighbourhood of one of its rows.

    Args:
        size: Size of each row, bytes.
        time_s: Time of each row.
        window: Share of all rows that are in a neighbourhood.
        kind: Distance by which rows are neighbours, see `NEIGHBOURS`.
        guard: Standard deviations by which the times must rise, as noise on flat pieces also gives fractures. 0: no
            condition.
    """
    near = neighbours(size, time_s, window, kind)
    largest = np.unique(size[size == size[near].max(axis=1)])
    found = set(largest[largest < size.max()].tolist())
    return {s for s in found if not guard or _rises(size, time_s, s, guard)}


def _rises(size: np.ndarray, time_s: np.ndarray, before: int, guard: float) -> bool:
    """Check whether the median time rises to the next size by more than `guard` times the scatter of both sizes."""
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
    """Return size, overhead and gap of the rows that count for both."""
    counts = rows.overhead_counts & rows.gap_counts & np.isin(rows.size, of.size)
    return rows.size[counts], rows.overhead_s[counts], rows.gap_s[counts]


def clusters(of: SizeCurves, rows: PairSample, options: EstimateOptions) -> SizeClusters | None:
    """Cluster the rows that count, for the detector `thesis`. None: all rows have one size."""
    size, overhead_s, gap_s = _counted(of, rows)
    how = options.window, options.neighbours, options.method, options.metric, options.threshold
    return clustered(size, (overhead_s, gap_s), *how)


def thesis(of: SizeCurves, rows: PairSample, options: EstimateOptions) -> list[int]:
    """Find changes as the thesis does: fractures and borders of clusters. Short intervals are joined.

    Returns:
        Index of the first size of each interval, 0 first.
    """
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
"""Detectors by name. Each returns the index of the first size of each interval, 0 first."""
