"""Straight lines through weighted points: their parameters with confidence intervals, and the misfit of every piece."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

CONFIDENCE = 0.95
EXACT = 1e-12
"""No time is known better, as a share of it."""


@dataclass(frozen=True)
class Line:
    """time(s) = start + slope (s - 1): seconds at one byte, and for each further byte; with 95 % intervals."""

    start: float
    slope: float
    start_ci: tuple[float, float]
    slope_ci: tuple[float, float]

    def __call__(self, size: np.ndarray) -> np.ndarray:
        return self.start + self.slope * (np.asarray(size, float) - 1)


def fit_line(size: np.ndarray, time_s: np.ndarray, weight: np.ndarray, variance: np.ndarray) -> Line:
    """Least squares by `weight`. `variance` (that of each time) gives the confidence intervals, which are widened where
    the points scatter more about the line than that; infinitely for two points, and for one point the line is flat."""
    x = np.asarray(size, float) - 1
    if len(x) < 2:
        value = float(time_s[0]) if len(x) else float("nan")
        return Line(value, 0.0, (-np.inf, np.inf), (-np.inf, np.inf))
    centre = float(np.average(x, weights=weight))
    across = x - centre
    spread = float(weight @ across**2)
    mean, slope = float(np.average(time_s, weights=weight)), float(weight @ (across * time_s)) / spread
    left = time_s - mean - slope * across
    to_mean, to_slope = weight / weight.sum(), weight * across / spread
    to_start = to_mean - centre * to_slope
    freedom = len(x) - 2
    if not freedom:
        return Line(mean - slope * centre, slope, (-np.inf, np.inf), (-np.inf, np.inf))
    variance = np.maximum(variance, (EXACT * time_s) ** 2)
    wider = max(1.0, float((left**2 / variance).sum()) / freedom)
    error = student(freedom) * np.sqrt(wider * variance)
    starts, slopes = float(np.hypot.reduce(to_start * error)), float(np.hypot.reduce(to_slope * error))
    start = mean - slope * centre
    return Line(start, slope, (start - starts, start + starts), (slope - slopes, slope + slopes))


def student(freedom: int) -> float:
    """Half the width of the confidence interval, in standard deviations."""
    return float(stdtrit(freedom, (1 + CONFIDENCE) / 2))


def misfits(size: np.ndarray, time_s: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """(n, n): [a, b] is the weighted sum of squares about the line through the points a to b, both included.

    All pieces that end at b come from those that end at b - 1 by moving their means, which loses no digits as sums of
    squares would.
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
    """The time of each point by the line through all others; NaN where these are fewer than two."""
    if len(size) < 3:
        return np.full(len(size), np.nan)
    x = np.asarray(size, float) - 1
    across = x - np.average(x, weights=weight)
    spread = weight @ across**2
    slope = (weight * across) @ time_s / spread
    residual = time_s - np.average(time_s, weights=weight) - slope * across
    leverage = weight * (1 / weight.sum() + across**2 / spread)
    return time_s - residual / np.maximum(1 - leverage, 1e-12)
