"""Finding rows by two numbers that they are sorted by."""

from __future__ import annotations

import numpy as np


class Sorted:
    """Finds rows by (lane, time) among rows that are sorted so; a lane is any whole number from 0."""

    def __init__(self, lane: np.ndarray, time: np.ndarray) -> None:
        self._lane, self._time = lane, time

    def at_or_after(self, lane: np.ndarray, time: np.ndarray) -> np.ndarray:
        """The first row of each lane with this time or a later one; -1: none."""
        if not len(self._lane) or not len(lane):
            return np.full(len(lane), -1)
        low = min(int(self._time.min()), int(time.min()))
        span = max(int(self._time.max()), int(time.max())) - low + 1
        if (int(max(self._lane[-1], lane.max())) + 1) * span < 1 << 63:
            rows, wanted = (a.astype(np.int64) * span + (b - low) for a, b in ((self._lane, self._time), (lane, time)))
            at = np.searchsorted(rows, wanted)
        else:
            at = self._by_lane(lane, time)
        at = np.minimum(at, len(self._lane) - 1)
        found = (self._lane[at] == lane) & (self._time[at] >= time)
        return np.where(found, at, -1)

    def _by_lane(self, lane: np.ndarray, time: np.ndarray) -> np.ndarray:
        """The same lane by lane, where times are too long for one number to hold both."""
        at = np.zeros(len(lane), np.int64)
        for one in np.unique(lane):
            first, last = np.searchsorted(self._lane, [one, one + 1])
            mine = lane == one
            at[mine] = first + np.searchsorted(self._time[first:last], time[mine])
        return at

    def exactly(self, lane: np.ndarray, time: np.ndarray) -> np.ndarray:
        """The row of this lane and time; -1: none."""
        at = self.at_or_after(lane, time)
        return np.where((at >= 0) & (self._time[at] == time), at, -1) if len(self._time) else at
