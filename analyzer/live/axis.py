"""The intervals of all threads on one axis. The sum over any window of a thread takes two binary searches."""

from __future__ import annotations

import numpy as np

from analyzer.columns.rows import Rows

_AT_ONCE = 1 << 16
"""Number of searches that are made at once. It limits the memory: each search needs a few numbers."""


class Axis:
    """Intervals of all lanes (threads) on one axis, for fast sums over any window.

    The lanes follow each other on the axis: time t (ns) of lane l is at place l * length + t. Each interval is stored
    as its begin and the sum of the weights of all earlier intervals, in temporary files. So the time that intervals
    take in [t0, t1) of a lane is exact for any t0 and t1.
    """

    def __init__(self, length_ns: int) -> None:
        """Make an empty axis. `length_ns` must be larger than any time of a lane."""
        self.length_ns = length_ns
        self._begins, self._before = Rows(np.dtype(np.int64)), Rows(np.dtype(np.int64))
        self._total = 0
        self._begins.append(np.array([-1]))  # an interval of no length, so that each moment has one before it
        self._before.append(np.array([0]))

    def append(self, lane: np.ndarray, begin: np.ndarray, weight: np.ndarray) -> None:
        """Append intervals, sorted by lane and begin. They must come after all intervals that were appended before.

        Args:
            lane: Lane of each interval, of shape (intervals,).
            begin: Begin of each interval in ns, of shape (intervals,).
            weight: Quantity to sum up, of shape (intervals,): the length in ns, or another integer such as bytes.
        """
        if not len(lane):
            return
        self._begins.append(lane * self.length_ns + begin)
        sums = np.cumsum(weight, dtype=np.int64) + self._total
        self._before.append(np.concatenate(([self._total], sums[:-1])))
        self._total = int(sums[-1])

    def close(self) -> None:
        """End the appending. Lookups are allowed only after this call."""
        self._before.append(np.array([self._total]))

    def __len__(self) -> int:
        return len(self._begins) - 1

    @property
    def begins(self) -> np.ndarray:
        """Begins of the intervals as places on the axis, int64 of shape (intervals + 1,).

        The first entry is a sentinel, -1.
        """
        return self._begins.mapped()

    @property
    def before(self) -> np.ndarray:
        """Sum of the weights before each entry of `begins`, int64. One more entry at the end has the total."""
        return self._before.mapped()

    def index_at(self, places: np.ndarray) -> np.ndarray:
        """Return the index of the last entry of `begins` that is at or before each place.

        The result is int64 and has the shape of `places`.
        """
        flat = places.ravel()
        parts = [
            np.searchsorted(self.begins, flat[first : first + _AT_ONCE], side="right") - 1
            for first in range(0, len(flat), _AT_ONCE)
        ]
        return np.concatenate([np.zeros(0, np.int64), *parts]).reshape(places.shape)

    def places(self, lanes: np.ndarray, times: np.ndarray) -> np.ndarray:
        """Return the place on the axis of each time, for each lane.

        Args:
            lanes: Numbers of lanes, of shape (lanes,).
            times: Times in ns, of shape (times,). Times outside the run count as its begin or its end.

        Returns:
            int64 of shape (lanes, times).
        """
        return lanes[:, None] * self.length_ns + np.clip(times, 0, self.length_ns)[None, :]

    def times(self, lanes: np.ndarray, edges: np.ndarray) -> np.ndarray:
        """Return the time in ns that intervals take in each window between neighbouring edges.

        If intervals of a lane overlap, which should not happen, the sum over all windows is still right.

        Args:
            lanes: Numbers of lanes, of shape (lanes,).
            edges: Increasing times in ns, of shape (edges,).

        Returns:
            int64 of shape (lanes, edges - 1).
        """
        places = self.places(lanes, edges)
        at = self.index_at(places - 1)
        before = self.before[at]
        length = self.before[at + 1] - before
        return np.diff(before + np.minimum(places - self.begins[at], length), axis=1)

    def counts(self, lanes: np.ndarray, edges: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Count the intervals that begin in each window between neighbouring edges (ns), and sum up their weights.

        Returns:
            Number of intervals and sum of weights, int64 of shape (lanes, edges - 1) each.
        """
        first = self.index_at(self.places(lanes, edges) - 1) + 1
        return np.diff(first, axis=1), np.diff(self.before[first], axis=1)
