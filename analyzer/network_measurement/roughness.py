"""Deviations of neighbouring sizes' times from a smooth curve, beyond the scatter of repetitions.

Causes are alignment and caches, for example.
"""

from __future__ import annotations

import numpy as np

from analyzer.network_measurement.sample import SizeCurve, SizeCurves

STANDS_OUT = 6.0
"""Standard deviations from both neighbours from which a size is left out.

Times grow with the size, so that ordinary sizes are not above or below both neighbours.
"""
MANY, PROPORTION = 5, 1.5
_MEDIAN_CHI = 0.4549
_MOST = 0.5
_HALVINGS = 30


def level(time_s: np.ndarray) -> np.ndarray:
    """Return the magnitude of each time to which relative errors refer: its absolute value, with a lower bound.

    The bound is 2 % of the median. Without it, times near zero, as overheads can be, would seem infinitely exact.
    """
    size = np.abs(time_s)
    return np.maximum(size, 0.02 * np.median(size)) if len(size) else size


def roughness(size: np.ndarray, curve: SizeCurve) -> float:
    """Return the typical deviation of points from a smooth curve, as a share of the time.

    With this share, half of the points are as far from the line between their neighbours as chance explains. A few
    jumps do not change a median. 0 for fewer than five sizes.

    Args:
        size: Sizes in bytes, ascending.
        curve: Times of the sizes.
    """
    if len(size) < 5:
        return 0.0
    x, y = size.astype(float), curve.time_s
    left = (x[2:] - x[1:-1]) / (x[2:] - x[:-2])
    off = y[1:-1] - left * y[:-2] - (1 - left) * y[2:]

    def spread(of: np.ndarray) -> np.ndarray:
        return of[1:-1] + left**2 * of[:-2] + (1 - left) ** 2 * of[2:]

    measured, relative = spread(curve.variance), spread(level(y) ** 2)
    low, high = 0.0, _MOST
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        variance = np.maximum(measured + middle**2 * relative, 1e-300)
        low, high = (middle, high) if np.median(off**2 / variance) > _MEDIAN_CHI else (low, middle)
    return high if high > 1e-6 else 0.0


def noise(size: np.ndarray, curve: SizeCurve, tolerance: float = 0.0) -> np.ndarray:
    """Return the variance (s^2) of each point about a smooth curve.

    Args:
        size: Sizes in bytes, ascending.
        curve: Times of the sizes, with the variances of repetitions.
        tolerance: Least deviation from the curve, as a share of the time.
    """
    share = max(roughness(size, curve), tolerance)
    return curve.variance + (share * level(curve.time_s)) ** 2


def standing_out(of: SizeCurves, tolerance: float) -> np.ndarray:
    """Return a mask of the sizes whose overhead or gap is far above or below both neighbours.

    Such sizes were disturbed in all repetitions, or have a cause of their own. An interval never has a single size, so
    they are left out of the fit.

    Args:
        of: Curves of overhead and gap.
        tolerance: Least deviation from a smooth curve, as a share of the time.
    """
    found = np.zeros(len(of.size), bool)
    for curve in (of.overhead, of.gap):
        found |= _apart_from_many(curve.time_s)
    rest = np.flatnonzero(~found)
    calm = of.only(rest)
    for curve in (calm.overhead, calm.gap):
        found[rest[1:-1]] |= _apart_from_two(curve.time_s, noise(calm.size, curve, tolerance))
    return found


def _apart_from_many(y: np.ndarray) -> np.ndarray:
    """Return a mask of the sizes that differ by `PROPORTION` from the medians of the `MANY` sizes before and after.

    This finds several disturbed sizes in a row, as on a busy machine.
    """
    found = np.zeros(len(y), bool)
    if len(y) > 2 * MANY:
        medians = np.median(np.lib.stride_tricks.sliding_window_view(y, MANY), axis=1)
        before, after = medians[: -MANY - 1], medians[MANY + 1 :]
        inner = y[MANY:-MANY]
        above = inner > PROPORTION * np.maximum(before, after)
        found[MANY:-MANY] = above | (inner * PROPORTION < np.minimum(before, after))
    return found


def _apart_from_two(y: np.ndarray, variance: np.ndarray) -> np.ndarray:
    """Return a mask of the inner sizes that differ by `STANDS_OUT` standard deviations from both neighbours."""
    before, after = (
        (y[1:-1] - y[side]) / np.sqrt(np.maximum(variance[1:-1] + variance[side], 1e-150))
        for side in (slice(None, -2), slice(2, None))
    )
    return (np.minimum(before, after) > STANDS_OUT) | (np.maximum(before, after) < -STANDS_OUT)
