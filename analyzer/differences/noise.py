"""Tests of whether two sets of samples differ by more than chance."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from enum import Enum

import numpy as np

ALPHA = 0.05
"""How often two runs of the same may be told apart by mistake, at most: of all figures of a family together."""
BETWEEN_RUNS = 0.05
"""Runs of one program on one machine often differ by some per cent from start to start, in all their iterations alike
(where ranks are placed, how fast the clock is): from one run each, a smaller change is not told from that."""
OWN_VARIATION = 2.0
"""Where iterations of a run vary much, other programs may be at work, and runs vary, too: from one run each, a
difference within so many standard deviations of its batches is not told from that."""
_RESAMPLES = 499
_SEED = 1


class DifferenceVerdict(Enum):
    """Result of the test of a difference."""

    MORE = "more than noise"
    WITHIN = "within noise"
    UNKNOWN = "cannot be told"  # from one run each
    EXACT = "a count, which has no noise"
    SAME = "the same"


class SampleOrigin(Enum):
    """Where samples come from."""

    REPETITIONS = "repetitions"
    ITERATIONS = "iterations"  # of one run each
    NONE = "none"


@dataclass(frozen=True)
class ColumnTests:
    """Results of the test of each column of samples; float64 of shape (columns,).

    p: probability that chance alone makes the difference at least as large. low, high: 95 % interval of the difference
    of the means, after minus before.
    """

    p: np.ndarray
    low: np.ndarray
    high: np.ndarray


def compare_repetitions(before: np.ndarray, after: np.ndarray) -> ColumnTests:
    """Test runs by Student's t, float64 (runs, columns); at least 4 of both sides together, 1 of each.

    The variance is taken as the same on both sides, which it is where nothing changed.
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
    """Test batches of iterations by Mann and Whitney, float64 (batches, columns): a few slow ones do not disturb it.

    Intervals come from the bootstrap; without `intervals`, they are the difference itself.
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
    """Estimate the standard deviation by the median of distances, so that a few slow ones do not matter."""
    from scipy.stats import median_abs_deviation

    return float(median_abs_deviation(samples, scale="normal"))


def corrected(p: np.ndarray) -> np.ndarray:
    """Correct p values for many comparisons.

    With p <= ALPHA of these, at least one of all is a mistake in at most ALPHA of all cases. Source: S. Holm, "A simple
    sequentially rejective multiple test procedure" (1979).
    """
    order = np.argsort(p, kind="stable")
    found = np.empty(len(p))
    found[order] = np.minimum(np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1)), 1.0)
    return found
