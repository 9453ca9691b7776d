"""Neighbourhoods of measured rows: the k rows nearest to each row, by size, by value, or by both.

The thesis gives k (`window.size`, a share of all rows) but not the distance. Its text measures distances by size, its
drawing in the plane of size and time. Neighbourhoods by size show nothing of the times. Neighbourhoods by value
reproduce the published intervals of large messages.
"""

from __future__ import annotations

import numpy as np

FEWEST = 3
_BLOCK = 256
"""Number of rows that are compared at a time, to bound memory."""


def count(window: float, rows: int) -> int:
    """Return the number of rows in a neighbourhood: the share `window` of all rows, but at least `FEWEST` (3)."""
    return min(rows, max(FEWEST, round(window * rows)))


def neighbours(size: np.ndarray, time_s: np.ndarray, window: float, kind: str) -> np.ndarray:
    """Return the indices of each row's neighbours, which include the row itself.

    Args:
        size: Size of each row in bytes, shape (rows,).
        time_s: Time of each row, shape (rows,).
        window: Share of all rows that are in a neighbourhood.
        kind: Distance between rows: "value" (time), "size", or "plane" (both).

    Returns:
        Indices of shape (rows, k).
    """
    k = count(window, len(size))
    if kind == "plane":
        return _in_plane(_unit(size), _unit(time_s), k)
    return _along({"value": time_s, "size": size}[kind], k)


def _along(axis: np.ndarray, k: int) -> np.ndarray:
    """Return the indices of the k nearest values. They are consecutive in sorted order; bisection finds the first."""
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
    """Scale values to 0..1."""
    low, high = float(values.min()), float(values.max())
    return (values - low) / ((high - low) or 1.0)
