"""Spread of the time of runs, or of other results of a program, where parameters are random; draws until means are
known.

Source: "Dimemas specification", sections 1.14 and 1.17.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from analyzer.montecarlo.distribution import VariedParameter
from analyzer.montecarlo.region import correlations
from analyzer.montecarlo.samples import MachineSamples, replayed
from analyzer.montecarlo.workers import JobWorkers

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


@dataclass(frozen=True)
class ResultSpread:
    """Spread of results over samples: predicted times of one run in ns, or an output of any program."""

    mean: float
    deviation: float  # standard deviation; 0 of one sample
    mean_within: float  # half the 95 % confidence interval of the mean
    least: float
    most: float
    quantiles: tuple[float, ...]  # QUANTILES
    correlation: tuple[float, ...]  # Spearman's with each parameter; NaN where it is not known


def mean_within(times: np.ndarray) -> float:
    """Return half the 95 % confidence interval of the mean (Student's t); NaN for one sample."""
    from scipy.special import stdtrit

    n = len(times)
    return float(stdtrit(n - 1, 0.975)) * float(times.std(ddof=1)) / n**0.5 if n > 1 else float("nan")


def spread(samples: MachineSamples, run: int) -> ResultSpread:
    """Compute the spread of one run's times."""
    return spread_of(samples.values, samples.times_ns[:, run])


def spread_of(values: np.ndarray, results: np.ndarray) -> ResultSpread:
    """Describe how results spread.

    Args:
        values: What was drawn, float64 of shape (samples, parameters).
        results: What came out, float64 of shape (samples,), in any unit; that of the answer.
    """
    deviation = float(results.std(ddof=1)) if len(results) > 1 else 0.0
    correlation = correlations(values, results[:, None])[:, 0]
    return ResultSpread(
        float(results.mean()), deviation, mean_within(results), float(results.min()), float(results.max()),
        tuple(np.quantile(results, QUANTILES).tolist()), tuple(correlation.tolist()),
    )  # fmt: skip


FIRST = 30
"""Machines before the first check: with fewer, a deviation that is small by chance would end the study too often."""
_GROWTH = 1.1


def looks(most: int) -> Iterator[int]:
    """Yield the numbers of machines after which the means are checked; the last one is `most`."""
    count = FIRST
    while count < most:
        yield count
        count = int(np.ceil(count * _GROWTH))
    yield most


def is_stable(samples: MachineSamples, share: float) -> bool:
    """Check whether the mean of each run's time is known to this share of it."""
    return are_known(samples.times_ns, share)


def are_known(results: np.ndarray, share: float) -> bool:
    """Check whether half the 95 % confidence interval of the mean of each column is at most this share of the mean."""
    return all(mean_within(column) <= share * abs(float(column.mean())) for column in results.T)


def replayed_until(
    workers: JobWorkers, varied: Sequence[VariedParameter], cube: np.ndarray, seeds: Sequence[int], share: float
) -> MachineSamples:
    """Replay as `replayed`, but stop as soon as `is_stable` holds."""
    for count in looks(len(cube)):
        samples = replayed(workers, varied, cube[:count], seeds[:count])  # what is known is not done again
        if is_stable(samples, share):
            break
    return samples
