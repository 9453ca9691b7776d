"""Repetitions of a measurement that agree, so that disturbed repetitions do not count.

Other work of a processor makes a time longer, by microseconds or by milliseconds, and may do so to every second one.
Undisturbed times lie together, as narrowly at one size as at the sizes beside it. So for each size the values are kept
that fit into one narrow window: the lowest which holds many of them. All sizes together determine how narrow it is.
"""

from __future__ import annotations

from functools import cache

import numpy as np

WINDOW = 6.0
"""Standard deviations that a window is wide: all of some hundred undisturbed values."""
GENEROUS = 2.0
"""Factor on the first spread, that of the closest values, which is too small where there are few."""
CLOSEST = 0.35
"""Share of a size's values that is undisturbed even where the others are not."""
ROUNDS = 4
BESIDE = 15
"""Sizes to either side that a spread is taken from."""
LEAST = 1e-9
"""Relative difference below which two values are one."""
_SAMPLES, _MANY = 400, 256
"""Sets of normal values that tell how close CLOSEST of them are; and the number of values from which on it is
constant."""


def groups(size: np.ndarray) -> tuple[np.ndarray, list[np.ndarray]]:
    """Return the different sizes, ascending, and the places of each size's rows."""
    order = np.argsort(size, kind="stable")
    sizes, begins = np.unique(size[order], return_index=True)
    return sizes, np.split(order, begins[1:]) if len(size) else []


def typical(size: np.ndarray, value: np.ndarray, usable: np.ndarray | None = None) -> np.ndarray:
    """Mark rows (bool) that hold an undisturbed value, at least one for each size.

    Args:
        size: Size of each row, bytes.
        value: Measured value of each row.
        usable: Rows that count at all; where a size has none of them, all its rows count.
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
    """Compute mean and variance of each part. No part is empty; the variance of a single value is NaN."""
    if not parts:
        return np.zeros(0), np.zeros(0)
    number = np.array([len(part) for part in parts])
    begins = np.cumsum(number) - number
    values = np.concatenate(parts)
    mean = np.add.reduceat(values, begins) / number
    squares = np.add.reduceat((values - np.repeat(mean, number)) ** 2, begins)
    return mean, np.where(number > 1, squares / np.maximum(number - 1, 1), np.nan)


def running_median(values: np.ndarray, beside: int = BESIDE) -> np.ndarray:
    """Compute the median of each value and `beside` values on both sides, without NaN; 0 where all are NaN."""
    if not len(values):
        return np.zeros(0)
    padded = np.concatenate([np.full(beside, np.nan), values, np.full(beside, np.nan)])
    near = np.lib.stride_tricks.sliding_window_view(padded, 2 * beside + 1)
    known = np.isfinite(near).any(axis=1)
    found = np.zeros(len(values))
    found[known] = np.nanmedian(near[known], axis=1)
    return found


def _relative(spreads: np.ndarray, levels: np.ndarray) -> np.ndarray:
    """Return spreads relative to levels; NaN for a level of no time."""
    return np.divide(spreads, levels, out=np.full(len(levels), np.nan), where=levels > 0)


def _closest(v: np.ndarray) -> float:
    """Return the standard deviation by the shortest interval that holds CLOSEST of the sorted values.

    NaN for a single one.
    """
    return float(_shortest(v)) / _shortest_of_normal(min(len(v), _MANY)) if len(v) > 1 else float("nan")


def _shortest(values: np.ndarray) -> np.ndarray:
    """Return the length of the shortest interval that holds CLOSEST of the values, which are sorted along the last
    axis."""
    count = values.shape[-1]
    number = max(2, round(CLOSEST * count))
    return (values[..., number - 1 :] - values[..., : count - number + 1]).min(axis=-1)


@cache
def _shortest_of_normal(count: int) -> float:
    """Return the expected length for normal values, in standard deviations: two of seven lie far closer than 35 of a
    hundred."""
    drawn = np.random.default_rng(0).standard_normal((_SAMPLES, count))
    return float(np.median(_shortest(np.sort(drawn, axis=1))))


def _fullest(v: np.ndarray, share: float, floor: float) -> tuple[int, int]:
    """Return [begin, end) of the sorted values in a window `share` of its lowest value wide.

    It is the fullest of the windows that share values with the lowest window that is at least half as full as any.
    """
    ends = np.searchsorted(v, v + share * (np.abs(v) + floor), side="right")
    number = ends - np.arange(len(v))
    lowest = int((2 * number >= number.max()).argmax())
    begin = lowest + int(number[lowest : ends[lowest]].argmax())
    return begin, int(ends[begin])
