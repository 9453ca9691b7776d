"""Prediction of a metric of a whole run from a few of its intervals, by three methods: MSP, SSP and LSP.

MSP takes one interval of each k-means cluster, SSP the most typical interval, LSP the most typical consecutive
intervals.

Source: M. Casas, "Spectral analysis of executions" (2009), sections 5.4.1 and 5.4.2, equation 5.1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analyzer.burst_clusters.clustering import import_sklearn
from analyzer.representative.series import StepMetric

CLUSTERS = 4
_SEED, _STARTS = 0, 3


@dataclass(frozen=True)
class SamplingErrors:
    """Relative errors of the metric predicted by MSP, SSP and LSP. None: there are too few intervals.

    Attributes:
        steps: Number of steps in each interval.
    """

    steps: int
    msp: float | None
    ssp: float | None
    lsp: float | None


def sweep(metric: StepMetric, by: StepMetric, longest: int, clusters: int = CLUSTERS) -> list[SamplingErrors]:
    """Compute the errors for intervals of 1, 2, ... `longest` steps.

    Args:
        metric: The metric that is predicted.
        by: The metric by which intervals are clustered and compared.
        longest: Largest number of steps in an interval.
        clusters: Number of clusters.

    Raises:
        TracelibError: scikit-learn is not installed.
    """
    return [errors_of(metric, by, steps, clusters) for steps in range(1, longest + 1)]


def errors_of(metric: StepMetric, by: StepMetric, steps: int, clusters: int = CLUSTERS) -> SamplingErrors:
    """Compute the errors for intervals of `steps` steps. Steps left over at the end are in no interval.

    Args:
        metric: The metric that is predicted.
        by: The metric by which intervals are clustered and compared.
        steps: Number of steps in each interval.
        clusters: Number of clusters, and of consecutive intervals for LSP.

    Raises:
        TracelibError: scikit-learn is not installed.
    """
    above, below, values = _intervals(metric, by, steps)
    whole = metric.over(slice(None))
    x = np.divide(above, below, out=np.full(len(above), whole), where=below > 0)
    if not len(values) or not whole:
        return SamplingErrors(steps, None, None, None)
    typical = float(by.over(slice(None)))
    single = x[np.abs(values - typical).argmin()]
    rows, long = len(values) - clusters + 1, None
    if rows > 0:
        means = np.convolve(values, np.full(clusters, 1 / clusters), "valid")
        first = int(np.abs(means - typical).argmin())
        long = float(above[first : first + clusters].sum() / max(below[first : first + clusters].sum(), 1e-300))
    several = _multiple(values, x, clusters) if len(values) >= clusters else None

    def off(found: float | None) -> float | None:
        return None if found is None else abs(found - whole) / whole

    return SamplingErrors(steps, off(several), off(float(single)), off(long))


def _intervals(metric: StepMetric, by: StepMetric, steps: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return for each interval the metric's dividend and divisor, and the value of `by`."""
    count = len(metric.above) // steps

    def sums(column: np.ndarray) -> np.ndarray:
        return column[: count * steps].reshape(count, steps).sum(axis=1)

    above, below, over, under = (sums(c) for c in (metric.above, metric.below, by.above, by.below))
    return above, below, np.divide(over, under, out=np.zeros(count), where=under > 0)


def _multiple(values: np.ndarray, x: np.ndarray, clusters: int) -> float:
    """Return the sum of w_i x_i over the clusters (equation 5.1).

    x_i is the metric in the interval nearest to the cluster's centroid, w_i the cluster's share of the intervals.
    """
    clusters = min(clusters, len(np.unique(values)))
    found = import_sklearn().cluster.KMeans(clusters, n_init=_STARTS, random_state=_SEED).fit(values[:, None])
    weights = np.bincount(found.labels_, minlength=clusters) / len(values)
    nearest = np.abs(values[:, None] - found.cluster_centers_[:, 0]).argmin(axis=0)
    return float(weights @ x[nearest])
