"""The times of all threads as one axis, on which any sum over any stretch is two binary searches."""

from __future__ import annotations

import numpy as np

from analyzer.columns.rows import Rows

_AT_ONCE = 1 << 16
"""Searches that are made together: each takes a few arrays of as many numbers."""


class Axis:
    """Intervals of threads (lanes), one lane's times after the other's: lane l at t ns is l * length + t.

    Of each interval only its begin and the time before it, that of all earlier intervals together, are kept, in a
    temporary file. So the time that intervals take in [t0, t1) of a lane is exact whatever t0 and t1 are.
    """

    def __init__(self, length_ns: int) -> None:
        """Make an empty axis. length_ns: more than any time."""
        self.length_ns = length_ns
        self._begins, self._before = Rows(np.dtype(np.int64)), Rows(np.dtype(np.int64))
        self._total = 0
        self._begins.append(np.array([-1]))  # an interval of no length, so that each moment has one before it
        self._before.append(np.array([0]))

    def append(self, lane: np.ndarray, begin: np.ndarray, weight: np.ndarray) -> None:
        """Append intervals by lane, then by begin; all of them come after the ones before.

        weight: ns, or another quantity that is to be summed up.
        """
        if not len(lane):
            return
        self._begins.append(lane * self.length_ns + begin)
        sums = np.cumsum(weight, dtype=np.int64) + self._total
        self._before.append(np.concatenate(([self._total], sums[:-1])))
        self._total = int(sums[-1])

    def close(self) -> None:
        """End the appending: from here on intervals are looked up."""
        self._before.append(np.array([self._total]))

    def __len__(self) -> int:
        return len(self._begins) - 1

    @property
    def begins(self) -> np.ndarray:
        """Places on the axis of the begins, behind one that is none (int64)."""
        return self._begins.mapped()

    @property
    def before(self) -> np.ndarray:
        """The sum of the weights before each of `begins`, and at last that of all (int64)."""
        return self._before.mapped()

    def index_at(self, places: np.ndarray) -> np.ndarray:
        """Return the last of `begins` at each place of the axis or before it, as an index (int64)."""
        flat = places.ravel()
        parts = [
            np.searchsorted(self.begins, flat[first : first + _AT_ONCE], side="right") - 1
            for first in range(0, len(flat), _AT_ONCE)
        ]
        return np.concatenate([np.zeros(0, np.int64), *parts]).reshape(places.shape)

    def places(self, lanes: np.ndarray, times: np.ndarray) -> np.ndarray:
        """Find the places of times on the axis of each lane.

        Args:
            lanes: Numbers of lanes.
            times: Times in ns. Times outside the run count as its begin or its end.

        Returns:
            int64 of shape (lanes, times).
        """
        return lanes[:, None] * self.length_ns + np.clip(times, 0, self.length_ns)[None, :]

    def times(self, lanes: np.ndarray, edges: np.ndarray) -> np.ndarray:
        """Return the ns of intervals between neighbouring edges, int64 of shape (lanes, edges - 1).

        If intervals lie in each other, which a lane should not have, their sum is right.
        """
        places = self.places(lanes, edges)
        at = self.index_at(places - 1)
        before = self.before[at]
        length = self.before[at + 1] - before
        return np.diff(before + np.minimum(places - self.begins[at], length), axis=1)

    def counts(self, lanes: np.ndarray, edges: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Count the intervals that begin between neighbouring edges, and sum up their weights; shapes as in `times`."""
        first = self.index_at(self.places(lanes, edges) - 1) + 1
        return np.diff(first, axis=1), np.diff(self.before[first], axis=1)
