"""Deviation of times of neighbouring sizes from a smooth course, beyond the scatter of repetitions: alignment,
caches."""

from __future__ import annotations

import numpy as np

from analyzer.network_measurement.sample import SizeCurve, SizeCurves

STANDS_OUT = 6.0
"""Standard deviations from both neighbours; times grow with size, so that nothing ordinary is above or below both."""
MANY, PROPORTION = 5, 1.5
_MEDIAN_CHI = 0.4549
_MOST = 0.5
_HALVINGS = 30


def level(time_s: np.ndarray) -> np.ndarray:
    """Return the level that relative errors of times refer to.

    Times about zero, as overheads can be, are not infinitely exact.
    """
    size = np.abs(time_s)
    return np.maximum(size, 0.02 * np.median(size)) if len(size) else size


def roughness(size: np.ndarray, curve: SizeCurve) -> float:
    """Return the share of the time by which points are off a smooth course.

    Half of all points are then as far off the line between their neighbours as by chance. A few steps do not count in a
    median.
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
    """Return the variance of each point about a smooth course; at least of `tolerance`, a share of the time."""
    share = max(roughness(size, curve), tolerance)
    return curve.variance + (share * level(curve.time_s)) ** 2


def standing_out(of: SizeCurves, tolerance: float) -> np.ndarray:
    """Return a mask of the sizes whose overhead or gap is far above or below its neighbours on both sides.

    They were disturbed each time, or have a reason of their own. No interval is made of one size, so they are better
    left out.
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
    """Return a mask of sizes out of proportion to the medians of the MANY sizes before and after.

    On a busy machine several sizes in a row may be disturbed.
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
    """Mark all but the first and the last size that differ by STANDS_OUT from the size before and the size after."""
    before, after = (
        (y[1:-1] - y[side]) / np.sqrt(np.maximum(variance[1:-1] + variance[side], 1e-150))
        for side in (slice(None, -2), slice(2, None))
    )
    return (np.minimum(before, after) > STANDS_OUT) | (np.maximum(before, after) < -STANDS_OUT)
