"""Values of a sweep at which the time begins to depend on the parameter."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

THRESHOLD = 0.05
"""Beyond the knee the run is longer than at the better end of the sweep by more than this share."""
_ROUNDING = 1e-9


def best_is_low(times: Sequence[float]) -> bool:
    """Check whether the better end of a sweep is the one with low values."""
    return times[0] <= times[-1]


def knee(
    values: Sequence[float], times: Sequence[float], threshold: float = THRESHOLD, *, whole: bool = False
) -> float | None:
    """Return the value beyond which the run is longer by `threshold` than at the better end of the sweep.

    Values rise; between two of them the time is taken as linear in the value's logarithm. whole: the next whole number
    on the better side. None where no value makes the run as long. Source: "Dimemas specification", section 3.3 (thesis
    sections 7.2 and 7.3).
    """
    from_best = 1 if best_is_low(times) else -1
    x, t = np.log(values)[::from_best], np.asarray(times, float)[::from_best]
    limit = t[0] * (1 + threshold)
    beyond = np.flatnonzero(t > limit)
    if not len(beyond):
        return None
    k = int(beyond[0])
    found = math.exp(x[k - 1] + (x[k] - x[k - 1]) * (limit - t[k - 1]) / (t[k] - t[k - 1]))
    if not whole:
        return found
    return float(math.floor(found + _ROUNDING) if from_best > 0 else math.ceil(found - _ROUNDING))


def bend(values: Sequence[float], times: Sequence[float], threshold: float = THRESHOLD) -> float | None:
    """Return the value of the sweep where the curve of time over log(value) bends most: farthest from the line that
    joins its ends, both axes scaled to 0..1. None where the ends differ by less than `threshold`, or the curve is that
    line.

    Source: Satopaa et al., "Finding a Kneedle in a Haystack" (2011).
    """
    x, t = np.log(values), np.asarray(times, float)
    low, high = sorted((t[0], t[-1]))
    if len(x) < 3 or high <= low * (1 + threshold):
        return None
    x, t = (x - x[0]) / (x[-1] - x[0]), (t - t[0]) / (t[-1] - t[0])
    off = np.abs(t - x)
    return float(values[int(off.argmax())]) if off.max() > 1e-9 else None
