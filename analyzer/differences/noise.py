"""Tests of whether two sets of samples differ by more than chance."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from enum import Enum

import numpy as np

ALPHA = 0.05
"""Largest probability of reporting a difference between two runs of the same program.

It holds for all figures of a family together.
"""
BETWEEN_RUNS = 0.05
"""Relative difference below which one run of each side cannot tell a change from noise.

Runs of one program on one machine often differ by some per cent from start to start, in all iterations alike: ranks
are placed differently, or the clock has another frequency.
"""
OWN_VARIATION = 2.0
"""Number of standard deviations of a run's batches below which a difference is not distinguished from noise.

It counts where each side has one run. Where the iterations of a run vary much, other programs may be at work, and then
whole runs vary, too.
"""
_RESAMPLES = 499
_SEED = 1


class DifferenceVerdict(Enum):
    """Verdict on a difference, after its test."""

    MORE = "more than noise"
    WITHIN = "within noise"
    UNKNOWN = "cannot be told"  # one run on each side does not tell
    EXACT = "a count, which has no noise"
    SAME = "the same"


class SampleOrigin(Enum):
    """Source of the samples that noise is estimated from."""

    REPETITIONS = "repetitions"
    ITERATIONS = "iterations"  # iterations of one run on each side
    NONE = "none"


@dataclass(frozen=True)
class ColumnTests:
    """Results of a test of each column (figure) of samples. All arrays are float64 of shape (columns,).

    p: probability that chance alone makes a difference at least as large. low, high: bounds of the 95 % interval of the
    difference of the means, after minus before.
    """

    p: np.ndarray
    low: np.ndarray
    high: np.ndarray


def compare_repetitions(before: np.ndarray, after: np.ndarray) -> ColumnTests:
    """Test repeated runs with Student's t-test.

    The variance is assumed to be the same on both sides, which is true where nothing changed.

    Args:
        before: Figures of the runs, float64 of shape (runs, columns). Both sides need at least 1 run, and together 4.
        after: The same for the runs of the second side.
    """
    from scipy.stats import ttest_ind

    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore", RuntimeWarning)  # of columns without any variance
        found = ttest_ind(after, before, axis=0)
        interval = found.confidence_interval(1 - ALPHA)
    difference = after.mean(axis=0) - before.mean(axis=0)
    low, high = (np.where(np.isnan(bound), difference, bound) for bound in (interval.low, interval.high))
    return ColumnTests(np.where(np.isnan(found.pvalue), 1.0, found.pvalue), low, high)


def compare_iterations(before: np.ndarray, after: np.ndarray, *, intervals: bool = True) -> ColumnTests:
    """Test batches of iterations with the test of Mann and Whitney, which a few slow iterations do not disturb.

    Args:
        before: Means of the batches, float64 of shape (batches, columns).
        after: The same for the second side.
        intervals: Compute the intervals with the bootstrap. False: both bounds are the difference itself.
    """
    from scipy.stats import bootstrap, mannwhitneyu

    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore", RuntimeWarning)
        p = mannwhitneyu(before, after, axis=0).pvalue
    low = high = after.mean(axis=0) - before.mean(axis=0)
    if intervals and before.shape[1]:
        found = bootstrap(
            (before, after), lambda a, b, axis: b.mean(axis=axis) - a.mean(axis=axis), axis=0, n_resamples=_RESAMPLES,
            confidence_level=1 - ALPHA, method="percentile", rng=np.random.default_rng(_SEED),
        ).confidence_interval  # fmt: skip
        low, high = found.low, found.high
    return ColumnTests(np.where(np.isnan(p), 1.0, p), low, high)


def spread(samples: np.ndarray) -> float:
    """Estimate the standard deviation from the median absolute deviation, so that a few slow samples do not matter."""
    from scipy.stats import median_abs_deviation

    return float(median_abs_deviation(samples, scale="normal"))


def corrected(p: np.ndarray) -> np.ndarray:
    """Correct p values for multiple comparisons (Holm).

    If every corrected p <= ALPHA is reported, at least one report is wrong with a probability of at most ALPHA. Source:
    S. Holm, "A simple sequentially rejective multiple test procedure" (1979).
    """
    order = np.argsort(p, kind="stable")
    found = np.empty(len(p))
    found[order] = np.minimum(np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1)), 1.0)
    return found
