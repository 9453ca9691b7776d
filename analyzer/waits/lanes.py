"""All threads of a run counted through, their calls window by window, and finding calls by time."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from analyzer.columns.joined import joined
from analyzer.pairing.parts import RankRows
from analyzer.pairing.requests import window_calls
from analyzer.trace import CALL, Trace

LANE_CALL = np.dtype(
    [("enter", "<i8"), ("exit", "<i8"), ("lane", "<i4"), ("call", "<i4"), ("peer", "<i4"), ("count", "<i4")]
)
"""A call of any thread; columns as in CALL."""

_COLUMNS = ("enter", "exit", "call", "peer", "count")
_RANKS = 64
"""So many ranks are looked at together."""


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


def lane_calls(trace: Trace, lanes: Lanes, of: range, begin: int, end: int) -> np.ndarray:
    """LANE_CALL of all calls of some ranks that enter in [begin, end), by lane, then by time."""
    parts = []
    for first in range(of.start, of.stop, _RANKS):
        ranks = range(first, min(first + _RANKS, of.stop))
        rank, calls = RankRows.of(ranks, (window_calls(trace, rank, begin, end) for rank in ranks), CALL)
        rows = np.zeros(len(calls), LANE_CALL)
        for column in _COLUMNS:
            rows[column] = calls[column]
        rows["lane"] = lanes.of(rank, calls["thread"])
        parts.append(rows)
    rows = joined(parts, LANE_CALL)
    return rows if (np.diff(rows["lane"]) >= 0).all() else rows.take(np.argsort(rows["lane"], kind="stable"))


def window_pairs(windows: np.ndarray) -> list[tuple[int, int]]:
    """Begin and end of each window."""
    return list(pairwise(windows.tolist()))
