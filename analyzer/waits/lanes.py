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


def window_of(windows: np.ndarray, times: np.ndarray) -> np.ndarray:
    """The window that each time lies in; before the first is the first, after the last the last."""
    return (np.searchsorted(windows, times, side="right") - 1).clip(0, len(windows) - 2)


def window_pairs(windows: np.ndarray) -> list[tuple[int, int]]:
    """Begin and end of each window."""
    return list(pairwise(windows.tolist()))
