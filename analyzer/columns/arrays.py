"""Functions on arrays: sums by an index, distinct values, joined arrays of records, and search in sorted rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

_MOST = float(2**63 - 1024)
"""Largest double that fits into a signed 64-bit integer."""


def by_index(index: np.ndarray, weights: np.ndarray, length: int) -> np.ndarray:
    """Sum integer weights by index: element k of the result is the sum of the weights whose index is k.

    Sums are exact up to 2^53. They are limited to about +-2^63, which only damaged rows reach.

    Args:
        index: Index of each weight, from 0.
        weights: The weights.
        length: Smallest length of the result.

    Returns:
        int64 of shape (length,); longer if an index is larger.
    """
    return np.bincount(index, weights, length).clip(-_MOST, _MOST).astype(np.int64)


def distinct(values: np.ndarray) -> np.ndarray:
    """Return the distinct values, sorted.

    np.unique without counts imports numpy.ma, which takes a tenth of the time of a command on a small run. And it
    hashes, which takes longer than sorting.
    """
    return np.unique(values, return_counts=True)[0]


def joined(parts: Sequence[np.ndarray], dtype: np.dtype) -> np.ndarray:
    """Concatenate arrays of records, whose type is `dtype`.

    The records are copied as bytes, because numpy copies records column by column, which takes ten times as long.
    """
    if len(parts) == 1:
        return parts[0]
    if not parts:
        return np.zeros(0, dtype)
    return np.concatenate([np.ascontiguousarray(part, dtype).view(np.uint8) for part in parts]).view(dtype)


class Sorted:
    """Search by lane and time in rows that are sorted by both. A lane is any whole number from 0, such as a thread."""

    def __init__(self, lane: np.ndarray, time: np.ndarray) -> None:
        self._lane, self._time = lane, time

    def at_or_after(self, lane: np.ndarray, time: np.ndarray) -> np.ndarray:
        """Return for each (lane, time) the first row of the lane with this time or a later one; -1: none."""
        if not len(self._lane) or not len(lane):
            return np.full(len(lane), -1)
        at = np.minimum(self._place(lane, time, "left"), len(self._lane) - 1)
        found = (self._lane[at] == lane) & (self._time[at] >= time)
        return np.where(found, at, -1)

    def at_or_before(self, lane: np.ndarray, time: np.ndarray) -> np.ndarray:
        """Return for each (lane, time) the last row of the lane with this time or an earlier one; -1: none."""
        if not len(self._lane) or not len(lane):
            return np.full(len(lane), -1)
        at = np.maximum(self._place(lane, time, "right") - 1, 0)
        found = (self._lane[at] == lane) & (self._time[at] <= time)
        return np.where(found, at, -1)

    def _place(self, lane: np.ndarray, time: np.ndarray, side: Literal["left", "right"]) -> np.ndarray:
        """Return the insertion point of each (lane, time): before equal rows (left) or after them (right)."""
        low = min(int(self._time.min()), int(time.min()))
        span = max(int(self._time.max()), int(time.max())) - low + 1
        if (int(max(self._lane[-1], lane.max())) + 1) * span >= 1 << 63:
            return self._place_by_lane(lane, time, side)
        rows, wanted = (a.astype(np.int64) * span + (b - low) for a, b in ((self._lane, self._time), (lane, time)))
        return np.searchsorted(rows, wanted, side)

    def _place_by_lane(self, lane: np.ndarray, time: np.ndarray, side: Literal["left", "right"]) -> np.ndarray:
        """Return the insertion points lane by lane, where one 64-bit number cannot hold both lane and time."""
        at = np.zeros(len(lane), np.int64)
        for one in np.unique(lane):
            first, last = np.searchsorted(self._lane, [one, one + 1])
            mine = lane == one
            at[mine] = first + np.searchsorted(self._time[first:last], time[mine], side)
        return at

    def exactly(self, lane: np.ndarray, time: np.ndarray) -> np.ndarray:
        """Return for each (lane, time) the first row with this lane and time; -1: none."""
        at = self.at_or_after(lane, time)
        return np.where((at >= 0) & (self._time[at] == time), at, -1) if len(self._time) else at
