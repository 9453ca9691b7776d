"""How the time of runs spreads where the machine's parameters are random.

Source: "Dimemas specification", sections 1.14 and 1.17.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analyzer.montecarlo.region import correlations
from analyzer.montecarlo.samples import Samples

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


@dataclass(frozen=True)
class Spread:
    """How the predicted times of one run spread; times in ns."""

    mean: float
    deviation: float  # standard deviation; 0 of one sample
    mean_within: float  # half the 95 % confidence interval of the mean
    least: float
    most: float
    quantiles: tuple[float, ...]  # QUANTILES
    correlation: tuple[float, ...]  # Spearman's with each parameter; NaN where it is not known


def mean_within(times: np.ndarray) -> float:
    """Half the 95 % confidence interval of the mean (Student's t); NaN of one sample."""
    from scipy.special import stdtrit

    n = len(times)
    return float(stdtrit(n - 1, 0.975)) * float(times.std(ddof=1)) / n**0.5 if n > 1 else float("nan")


def spread(samples: Samples, run: int) -> Spread:
    """The spread of one run's times."""
    times = samples.times_ns[:, run]
    deviation = float(times.std(ddof=1)) if len(times) > 1 else 0.0
    correlation = correlations(samples.values, times[:, None])[:, 0]
    return Spread(
        float(times.mean()), deviation, mean_within(times), float(times.min()), float(times.max()),
        tuple(np.quantile(times, QUANTILES).tolist()), tuple(correlation.tolist()),
    )  # fmt: skip
