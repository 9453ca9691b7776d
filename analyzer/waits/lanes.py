"""All threads of a run counted through, their calls window by window, and finding calls by time."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from analyzer.trace import Trace

LANE_CALL = np.dtype(
    [("enter", "<i8"), ("exit", "<i8"), ("lane", "<i4"), ("call", "<i4"), ("peer", "<i4"), ("count", "<i4")]
)
"""A call of any thread; columns as in CALL."""

_COLUMNS = ("enter", "exit", "call", "peer", "count")


class Lanes:
    """Numbers of the threads: those of rank 0, then those of rank 1, ..."""

    def __init__(self, trace: Trace) -> None:
        threads = np.asarray(trace.threads, np.int64)
        self.first = np.concatenate(([0], np.cumsum(threads)))
        self.rank = np.repeat(np.arange(trace.size), threads)
        self.thread = np.arange(len(self.rank)) - self.first[self.rank]

    def __len__(self) -> int:
        return len(self.rank)

    def of(self, rank: np.ndarray, thread: np.ndarray) -> np.ndarray:
        """Lane of each (rank, thread); a thread that the trace does not know counts as the last one."""
        return np.minimum(self.first[rank] + thread, self.first[np.asarray(rank) + 1] - 1)


def lane_calls(trace: Trace, lanes: Lanes, begin: int, end: int) -> np.ndarray:
    """LANE_CALL of all calls that enter in [begin, end), by lane, then by time."""
    parts = [np.zeros(0, LANE_CALL)]
    for rank in range(trace.size):
        for block in trace.calls(rank, begin, end):
            rows = np.zeros(len(block), LANE_CALL)
            for column in _COLUMNS:
                rows[column] = block[column]
            rows["lane"] = lanes.of(np.full(len(block), rank), block["thread"])
            parts.append(rows)
    rows = np.concatenate(parts)
    return rows if (np.diff(rows["lane"]) >= 0).all() else rows[np.argsort(rows["lane"], kind="stable")]


class Sorted:
    """Finds rows by (lane, time) among rows that are sorted so."""

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


def window_of(windows: np.ndarray, times: np.ndarray) -> np.ndarray:
    """The window that each time lies in; before the first is the first, after the last the last."""
    return (np.searchsorted(windows, times, side="right") - 1).clip(0, len(windows) - 2)


def window_pairs(windows: np.ndarray) -> list[tuple[int, int]]:
    """Begin and end of each window."""
    return list(pairwise(windows.tolist()))
