"""Undisturbed repetitions of a measurement, so that disturbed repetitions do not count.

Other work on a processor lengthens a time, by microseconds or milliseconds, and may do so in every second repetition.
Undisturbed times lie close together, as close at one size as at neighbouring sizes. So for each size, the values in one
narrow window are kept: the lowest window that holds many values. All sizes together determine the window's width.
"""

from __future__ import annotations

from functools import cache

import numpy as np

WINDOW = 6.0
"""Width of a window in standard deviations. It holds all of some hundred undisturbed values."""
GENEROUS = 2.0
"""Factor on the first estimate of the spread, from the closest values, which is too small if there are few."""
CLOSEST = 0.35
"""Share of a size's values that is undisturbed, even if all others are disturbed."""
ROUNDS = 4
BESIDE = 15
"""Number of sizes on either side from which a spread is taken."""
LEAST = 1e-9
"""Relative difference below which two values are equal."""
_SAMPLES, _MANY = 400, 256
"""Number of simulated sets of normal values, and the number of values from which the result is constant.

The sets show the expected length of the interval that holds the share `CLOSEST` of the values.
"""


def groups(size: np.ndarray) -> tuple[np.ndarray, list[np.ndarray]]:
    """Group rows by size.

    Returns:
        The different sizes, ascending, and the indices of each size's rows.
    """
    order = np.argsort(size, kind="stable")
    sizes, begins = np.unique(size[order], return_index=True)
    return sizes, np.split(order, begins[1:]) if len(size) else []


def typical(size: np.ndarray, value: np.ndarray, usable: np.ndarray | None = None) -> np.ndarray:
    """Return a mask of the rows with undisturbed values. At least one row of each size is marked.

    Args:
        size: Size of each row, bytes.
        value: Measured value of each row.
        usable: Rows that may be marked. A size without usable rows uses all of its rows. None: all rows are usable.
    """
    keep = np.zeros(len(size), bool)
    _, places = groups(size)
    if usable is not None:
        places = [chosen if len(chosen := of[usable[of]]) else of for of in places]
    samples = [np.sort(value[of]) for of in places]
    floor = 0.01 * float(np.median(np.abs(value))) if len(value) else 0.0
    spreads = np.array([GENEROUS * _closest(v) for v in samples])
    windows = [(0, len(v)) for v in samples]
    for _ in range(ROUNDS):
        levels = np.array([abs(v[a]) + floor for v, (a, _) in zip(samples, windows, strict=True)])
        shares = np.maximum(WINDOW * running_median(_relative(spreads, levels)), LEAST)
        windows = [_fullest(v, share, floor) for v, share in zip(samples, shares.tolist(), strict=True)]
        spreads = np.sqrt(mean_and_variance([v[a:b] for v, (a, b) in zip(samples, windows, strict=True)])[1])
    for of, v, (a, b) in zip(places, samples, windows, strict=True):
        keep[of] = (value[of] >= v[a]) & (value[of] <= v[b - 1])
    return keep


def mean_and_variance(parts: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Compute mean and variance of each part. No part may be empty. The variance of a single value is NaN."""
    if not parts:
        return np.zeros(0), np.zeros(0)
    number = np.array([len(part) for part in parts])
    begins = np.cumsum(number) - number
    values = np.concatenate(parts)
    mean = np.add.reduceat(values, begins) / number
    squares = np.add.reduceat((values - np.repeat(mean, number)) ** 2, begins)
    return mean, np.where(number > 1, squares / np.maximum(number - 1, 1), np.nan)


def running_median(values: np.ndarray, beside: int = BESIDE) -> np.ndarray:
    """Compute for each value the median of it and `beside` values on either side.

    NaN values do not count. The median is 0 where all values are NaN.
    """
    if not len(values):
        return np.zeros(0)
    padded = np.concatenate([np.full(beside, np.nan), values, np.full(beside, np.nan)])
    near = np.lib.stride_tricks.sliding_window_view(padded, 2 * beside + 1)
    known = np.isfinite(near).any(axis=1)
    found = np.zeros(len(values))
    found[known] = np.nanmedian(near[known], axis=1)
    return found


def _relative(spreads: np.ndarray, levels: np.ndarray) -> np.ndarray:
    """Return spread / level for each size. NaN: the level is 0."""
    return np.divide(spreads, levels, out=np.full(len(levels), np.nan), where=levels > 0)


def _closest(v: np.ndarray) -> float:
    """Estimate the standard deviation of sorted values by the shortest interval that holds `CLOSEST` (35 %) of them.

    NaN for a single value.
    """
    return float(_shortest(v)) / _shortest_of_normal(min(len(v), _MANY)) if len(v) > 1 else float("nan")


def _shortest(values: np.ndarray) -> np.ndarray:
    """Return the length of the shortest interval that holds `CLOSEST` of the values, sorted along the last axis."""
    count = values.shape[-1]
    number = max(2, round(CLOSEST * count))
    return (values[..., number - 1 :] - values[..., : count - number + 1]).min(axis=-1)


@cache
def _shortest_of_normal(count: int) -> float:
    """Return the expected length of that interval for `count` normal values, in standard deviations.

    It depends on the number: two values of seven lie far closer than 35 of a hundred.
    """
    drawn = np.random.default_rng(0).standard_normal((_SAMPLES, count))
    return float(np.median(_shortest(np.sort(drawn, axis=1))))


def _fullest(v: np.ndarray, share: float, floor: float) -> tuple[int, int]:
    """Return [begin, end) of the fullest low window in sorted values. A window is `share` of its lowest value wide.

    The lowest window that is at least half as full as any other is found first. The result is the fullest of the
    windows that begin with one of the values of that window.
    """
    ends = np.searchsorted(v, v + share * (np.abs(v) + floor), side="right")
    number = ends - np.arange(len(v))
    lowest = int((2 * number >= number.max()).argmax())
    begin = lowest + int(number[lowest : ends[lowest]].argmax())
    return begin, int(ends[begin])
