"""Spread of predicted times, or of other results, under random parameters; samples until means are known.

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
    """Spread of a result over samples, in the result's unit (ns for predicted times of a run)."""

    mean: float
    deviation: float  # standard deviation; 0 for a single sample
    mean_within: float  # half the 95 % confidence interval of the mean
    least: float
    most: float
    quantiles: tuple[float, ...]  # at the shares QUANTILES
    correlation: tuple[float, ...]  # Spearman's rank correlation with each parameter; NaN: not known


def mean_within(times: np.ndarray) -> float:
    """Return half the width of the 95 % confidence interval of the mean (Student's t). NaN for a single value."""
    from scipy.special import stdtrit

    n = len(times)
    return float(stdtrit(n - 1, 0.975)) * float(times.std(ddof=1)) / n**0.5 if n > 1 else float("nan")


def spread(samples: MachineSamples, run: int) -> ResultSpread:
    """Compute the spread of the predicted times of one run. `run`: its index."""
    return spread_of(samples.values, samples.times_ns[:, run])


def spread_of(values: np.ndarray, results: np.ndarray) -> ResultSpread:
    """Compute the spread of a result, and its correlation with each parameter.

    Args:
        values: Values of the parameters, float64 of shape (samples, parameters).
        results: Results, float64 of shape (samples,), in any unit. The spread has the same unit.
    """
    deviation = float(results.std(ddof=1)) if len(results) > 1 else 0.0
    correlation = correlations(values, results[:, None])[:, 0]
    return ResultSpread(
        float(results.mean()), deviation, mean_within(results), float(results.min()), float(results.max()),
        tuple(np.quantile(results, QUANTILES).tolist()), tuple(correlation.tolist()),
    )  # fmt: skip


FIRST = 30
"""Number of samples before the first check. With fewer, a small deviation by chance ends too many studies."""
_GROWTH = 1.1


def looks(most: int) -> Iterator[int]:
    """Yield the numbers of samples after which the means are checked, each 10 % larger. The last one is `most`."""
    count = FIRST
    while count < most:
        yield count
        count = int(np.ceil(count * _GROWTH))
    yield most


def is_stable(samples: MachineSamples, share: float) -> bool:
    """Check whether the mean time of each run is known to a precision, `share` of the mean."""
    return are_known(samples.times_ns, share)


def are_known(results: np.ndarray, share: float) -> bool:
    """Check whether the mean of each column is known: half its 95 % confidence interval is at most `share` of it."""
    return all(mean_within(column) <= share * abs(float(column.mean())) for column in results.T)


def replayed_until(
    workers: JobWorkers, varied: Sequence[VariedParameter], cube: np.ndarray, seeds: Sequence[int], share: float
) -> MachineSamples:
    """Replay as `replayed` does, but stop as soon as the mean of each run's time is known.

    Args:
        workers: Workers that replay.
        varied: Parameters and their distributions.
        cube: Positions in the distributions, in [0, 1), shape (samples, parameters).
        seeds: Seed of each machine's own random numbers.
        share: Precision of the means, as a share of the mean.
    """
    for count in looks(len(cube)):
        samples = replayed(workers, varied, cube[:count], seeds[:count])  # what is known is not done again
        if is_stable(samples, share):
            break
    return samples
