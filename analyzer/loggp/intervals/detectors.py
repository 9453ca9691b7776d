"""The ways to find the sizes at which a network changes its behaviour, under one roof."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from analyzer.loggp import neighbourhood
from analyzer.loggp.intervals.changepoint import changepoints
from analyzer.loggp.intervals.checking import checked
from analyzer.loggp.intervals.clustering import clustered
from analyzer.loggp.intervals.fracture import fractures
from analyzer.loggp.intervals.netgauge import netgauge
from analyzer.loggp.options import Options
from analyzer.loggp.sample import Curves, Sample


def _changepoint(of: Curves, rows: Sample, options: Options) -> list[int]:
    return changepoints(of, options.tolerance)


def _netgauge(of: Curves, rows: Sample, options: Options) -> list[int]:
    return netgauge(of, options.factor)


def thesis(of: Curves, rows: Sample, options: Options) -> list[int]:
    """Fractures and borders of clusters together, without those that leave too few rows between them."""
    counts = rows.overhead_counts & rows.gap_counts & np.isin(rows.size, of.size)
    size, overhead_s, gap_s = rows.size[counts], rows.overhead_s[counts], rows.gap_s[counts]
    before: set[int] = set()
    for time_s in (overhead_s, gap_s):
        before |= fractures(size, time_s, options.window, options.neighbours, options.guard)
    how = options.window, options.neighbours, options.method, options.metric, options.threshold
    before |= clustered(size, (overhead_s, gap_s), *how)
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
