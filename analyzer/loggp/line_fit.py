"""Straight lines through weighted points: parameters with confidence intervals, and the misfit of every piece."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

CONFIDENCE = 0.95
EXACT = 1e-12
"""Smallest relative error that a time is taken to have."""


WITHIN_ERRORS = 2.0
"""Standard errors below 0 up to which a start counts as 0: the line then begins with 0 at one byte."""


@dataclass(frozen=True)
class CostLine:
    """A line time(s) = start + slope (s - 1) over message sizes s in bytes, with 95 % confidence intervals.

    A line of large messages may be steep, and below 0 at one byte. It is valid at its own sizes, but its start is not a
    time: `start_s` is None.

    Attributes:
        start: Time in s at one byte.
        slope: Time in s for each further byte.
    """

    start: float
    slope: float
    start_ci: tuple[float, float]
    slope_ci: tuple[float, float]

    @property
    def start_s(self) -> float | None:
        """Time in s at one byte. None: it is not known, as the line is below 0 there."""
        return self.start if self.start >= 0 else None

    def __call__(self, size: np.ndarray) -> np.ndarray:
        return self.start + self.slope * (np.asarray(size, float) - 1)


def fit_line(size: np.ndarray, time_s: np.ndarray, weight: np.ndarray, variance: np.ndarray) -> CostLine:
    """Fit a line that does not fall and is never below 0 at its sizes, by weighted least squares.

    If the best line falls, the flat line is used. If the best line is below 0 at the smallest size, or below 0 at one
    byte by no more than chance, the line through 0 at that size is used. A parameter that is set to 0 has a confidence
    interval from 0 upwards.

    Args:
        size: Sizes in bytes, ascending, shape (n,).
        time_s: Times, shape (n,).
        weight: Weight of each time in the sum of squares, shape (n,).
        variance: Variance of each time, s^2, shape (n,). It gives the confidence intervals. They are widened if the
            points scatter more about the line than the variance; for two points they are infinite.

    Returns:
        The line. For one point it is flat, for none it is NaN.
    """
    x = np.asarray(size, float) - 1
    if len(x) < 2:
        value = max(float(time_s[0]), 0.0) if len(x) else float("nan")
        return CostLine(value, 0.0, (-np.inf, np.inf), (-np.inf, np.inf))
    free, error = _free_line(x, time_s, weight, variance)
    if free.slope < 0:
        flat = max(float(np.average(time_s, weights=weight)), 0.0)
        aside = (free.start_ci[1] - free.start_ci[0]) / 2
        return CostLine(flat, 0.0, (flat - aside, flat + aside), (0.0, max(free.slope_ci[1], 0.0)))
    at = _zero_at(free, float(x[0]), error)
    if at is None:
        return free
    slope = max(float(weight @ ((x - at) * time_s)) / float(weight @ (x - at) ** 2), 0.0)
    aside = (free.slope_ci[1] - free.slope_ci[0]) / 2
    return CostLine(-slope * at, slope, (0.0, max(free.start_ci[1], 0.0)), (slope - aside, slope + aside))


def _zero_at(line: CostLine, first: float, error: float) -> float | None:
    """Return the number of bytes beyond one at which the line must be 0. None: it needs no change."""
    if line.start + line.slope * first < 0:
        return first
    return 0.0 if -WITHIN_ERRORS * error <= line.start < 0 else None


def _free_line(x: np.ndarray, time_s: np.ndarray, weight: np.ndarray, variance: np.ndarray) -> tuple[CostLine, float]:
    """Fit the line of least squares over x. Return it and the standard error of its start (0 if not known)."""
    centre = float(np.average(x, weights=weight))
    across = x - centre
    spread = float(weight @ across**2)
    mean, slope = float(np.average(time_s, weights=weight)), float(weight @ (across * time_s)) / spread
    start = mean - slope * centre
    freedom = len(x) - 2
    if not freedom:
        return CostLine(start, slope, (-np.inf, np.inf), (-np.inf, np.inf)), 0.0
    left = time_s - mean - slope * across
    to_mean, to_slope = weight / weight.sum(), weight * across / spread
    to_start = to_mean - centre * to_slope
    variance = np.maximum(variance, (EXACT * time_s) ** 2)
    wider = max(1.0, float((left**2 / variance).sum()) / freedom)
    errors = np.sqrt(wider * variance)
    of_start, of_slope = float(np.hypot.reduce(to_start * errors)), float(np.hypot.reduce(to_slope * errors))
    starts, slopes = student(freedom) * of_start, student(freedom) * of_slope
    return CostLine(start, slope, (start - starts, start + starts), (slope - slopes, slope + slopes)), of_start


def student(freedom: int) -> float:
    """Return half the width of the 95 % confidence interval, in standard errors, by Student's t."""
    return float(stdtrit(freedom, (1 + CONFIDENCE) / 2))


def misfits(size: np.ndarray, time_s: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Return the misfit of the line through the points a to b, both included: shape (n, n), element [a, b].

    The misfit is the weighted sum of squares. Pieces that end at b are computed from pieces that end at b - 1 by moving
    their means. This loses no digits, unlike sums of squares.

    Args:
        size: Sizes in bytes, ascending, shape (n,).
        time_s: Times, shape (n,).
        weight: Weight of each time, shape (n,).
    """
    x = np.asarray(size, float)
    n = len(x)
    total = np.zeros(n)
    mean_x, mean_y, sxx, sxy, syy = np.zeros((5, n))
    table = np.zeros((n, n))
    for b in range(n):
        begins = slice(0, b + 1)
        total[begins] += weight[b]
        share = weight[b] / total[begins]
        dx, dy = x[b] - mean_x[begins], time_s[b] - mean_y[begins]
        rest = weight[b] * (1 - share)
        sxx[begins] += rest * dx * dx
        sxy[begins] += rest * dx * dy
        syy[begins] += rest * dy * dy
        mean_x[begins] += share * dx
        mean_y[begins] += share * dy
        with np.errstate(divide="ignore", invalid="ignore"):
            explained = np.where(sxx[begins] > 0, sxy[begins] ** 2 / sxx[begins], 0.0)
        table[begins, b] = np.maximum(syy[begins] - explained, 0.0)
    return table


def left_out(size: np.ndarray, time_s: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Predict the time of each point by the line through all other points. NaN if there are fewer than two others."""
    if len(size) < 3:
        return np.full(len(size), np.nan)
    found = np.empty(len(size))
    for k in range(len(size)):
        others = np.arange(len(size)) != k
        line = fit_line(size[others], time_s[others], weight[others], 1 / weight[others])
        found[k] = line(size[k])
    return found
