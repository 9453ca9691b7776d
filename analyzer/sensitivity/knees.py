"""Values of a parameter sweep at which the run's time begins to depend on the parameter."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

THRESHOLD = 0.05
"""Share by which a run beyond the knee is longer than at the better end of the sweep."""
_ROUNDING = 1e-9


def best_is_low(times: Sequence[float]) -> bool:
    """Return True if low values are the better end of a sweep: the first time is not longer than the last."""
    return times[0] <= times[-1]


def knee(
    values: Sequence[float], times: Sequence[float], threshold: float = THRESHOLD, *, whole: bool = False
) -> float | None:
    """Return the value from which the run is longer by `threshold` than at the better end of the sweep.

    Between two values, the time is taken as linear in the logarithm of the value. Source: "Dimemas specification",
    section 3.3 (thesis sections 7.2 and 7.3).

    Args:
        values: Values of the parameter, ascending, shape (values,).
        times: Time of the run for each value, in any unit.
        threshold: Share by which the run is longer.
        whole: Round to the next whole number on the better side.

    Returns:
        The value. None: no value of the sweep makes the run that much longer.
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
    """Return the value of the sweep at which the curve of time over log(value) bends most.

    That value is farthest from the line between the curve's ends, with both axes scaled to 0..1.

    Args:
        values: Values of the parameter, ascending, shape (values,).
        times: Time of the run for each value, in any unit.
        threshold: Share by which the times at both ends must differ.

    Returns:
        The value. None: there are fewer than three values, the ends differ too little, or the curve is the line.

    Source: Satopaa et al., "Finding a Kneedle in a Haystack" (2011).
    """
    x, t = np.log(values), np.asarray(times, float)
    low, high = sorted((t[0], t[-1]))
    if len(x) < 3 or high <= low * (1 + threshold):
        return None
    x, t = (x - x[0]) / (x[-1] - x[0]), (t - t[0]) / (t[-1] - t[0])
    off = np.abs(t - x)
    return float(values[int(off.argmax())]) if off.max() > 1e-9 else None
