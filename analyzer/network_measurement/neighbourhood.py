"""Neighbourhoods of measured rows: the k rows that are nearest to each, in one of three senses.

The thesis says how many (`window.size`, a share of all rows) but not in which sense: its text measures by size, its
drawing in the plane of size and time. By size, nothing can be seen of the times; by value, the published intervals of
large messages come out.
"""

from __future__ import annotations

import numpy as np

FEWEST = 3
_BLOCK = 256
"""Rows at a time: memory stays small."""


def count(window: float, rows: int) -> int:
    """Return the number of rows of a neighbourhood."""
    return min(rows, max(FEWEST, round(window * rows)))


def neighbours(size: np.ndarray, time_s: np.ndarray, window: float, kind: str) -> np.ndarray:
    """Return the places of each row's neighbours, itself among them, (rows, k). `kind`: options.NEIGHBOURS."""
    k = count(window, len(size))
    if kind == "plane":
        return _in_plane(_unit(size), _unit(time_s), k)
    return _along({"value": time_s, "size": size}[kind], k)


def _along(axis: np.ndarray, k: int) -> np.ndarray:
    """Return the k nearest along a line: they follow each other in its order, and halving finds their first."""
    order = np.argsort(axis, kind="stable")
    v = axis[order]
    own = np.arange(len(v))
    low, high = np.maximum(own - k + 1, 0), np.minimum(own, len(v) - k)
    while (low < high).any():
        middle = (low + high) // 2
        later = (low < high) & (v - v[middle] > v[np.minimum(middle + k, len(v) - 1)] - v)
        low, high = np.where(later, middle + 1, low), np.where(later, high, np.minimum(high, middle))
    found = np.empty((len(v), k), np.int64)
    found[order] = order[low[:, None] + np.arange(k)]
    return found


def _in_plane(x: np.ndarray, y: np.ndarray, k: int) -> np.ndarray:
    found = np.zeros((len(x), k), np.int64)
    for begin in range(0, len(x), _BLOCK):
        block = slice(begin, begin + _BLOCK)
        distance = (x[block, None] - x) ** 2 + (y[block, None] - y) ** 2
        found[block] = np.argpartition(distance, k - 1, axis=1)[:, :k]
    return found


def _unit(values: np.ndarray) -> np.ndarray:
    """Stretch values to 0..1."""
    low, high = float(values.min()), float(values.max())
    return (values - low) / ((high - low) or 1.0)
