"""Draw machines until the mean of each run's time is known well enough.

Source: "Dimemas specification", section 1.17 (Promenvir stops when the averages of the outputs are stable; how stable
is not said there: here by Student's confidence interval, looked at after numbers of machines that are fixed
beforehand, so that who does the jobs, and how often the study was interrupted, does not matter; Law and Kelton 1982,
sequential procedures with a relative precision).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from analyzer.montecarlo.distribution import Varied
from analyzer.montecarlo.samples import Samples, replayed
from analyzer.montecarlo.spread import mean_within
from analyzer.montecarlo.workers import Workers

FIRST = 30
"""Machines before the first check: with fewer, a deviation that is small by chance would end the study too often."""
_GROWTH = 1.1


def looks(most: int) -> Iterator[int]:
    """The numbers of machines after which the means are checked; the last one is `most`."""
    count = FIRST
    while count < most:
        yield count
        count = int(np.ceil(count * _GROWTH))
    yield most


def is_stable(samples: Samples, share: float) -> bool:
    """Whether the mean of each run's time is known to this share of it."""
    return are_known(samples.times_ns, share)


def are_known(results: np.ndarray, share: float) -> bool:
    """Whether half the 95 % confidence interval of the mean of each column is at most this share of the mean."""
    return all(mean_within(column) <= share * abs(float(column.mean())) for column in results.T)


def replayed_until(
    workers: Workers, varied: Sequence[Varied], cube: np.ndarray, seeds: Sequence[int], share: float
) -> Samples:
    """As `replayed`, but it stops as soon as `is_stable` holds."""
    for count in looks(len(cube)):
        samples = replayed(workers, varied, cube[:count], seeds[:count])  # what is known is not done again
        if is_stable(samples, share):
            break
    return samples
