"""The ways to find the sizes at which a network changes its behaviour, under one roof."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from analyzer.loggp import neighbourhood
from analyzer.loggp.intervals.changepoint import changepoints
from analyzer.loggp.intervals.checking import checked
from analyzer.loggp.intervals.clustering import Clusters, clustered
from analyzer.loggp.intervals.fracture import fractures
from analyzer.loggp.intervals.netgauge import netgauge
from analyzer.loggp.options import Options
from analyzer.loggp.sample import Curves, Sample


def _changepoint(of: Curves, rows: Sample, options: Options) -> list[int]:
    return changepoints(of, options.tolerance)


def _netgauge(of: Curves, rows: Sample, options: Options) -> list[int]:
    return netgauge(of, options.factor)


def _counted(of: Curves, rows: Sample) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Size, overhead and gap of the rows that count."""
    counts = rows.overhead_counts & rows.gap_counts & np.isin(rows.size, of.size)
    return rows.size[counts], rows.overhead_s[counts], rows.gap_s[counts]


def clusters(of: Curves, rows: Sample, options: Options) -> Clusters | None:
    """The clusters whose borders `thesis` takes; None where all rows have one size."""
    size, overhead_s, gap_s = _counted(of, rows)
    how = options.window, options.neighbours, options.method, options.metric, options.threshold
    return clustered(size, (overhead_s, gap_s), *how)


def thesis(of: Curves, rows: Sample, options: Options) -> list[int]:
    """Fractures and borders of clusters together, without those that leave too few rows between them."""
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


DETECTORS: dict[str, Callable[[Curves, Sample, Options], list[int]]] = {
    "changepoint": _changepoint,
    "thesis": thesis,
    "netgauge": _netgauge,
}
"""Each gives the places of the first size of each interval, 0 first."""
