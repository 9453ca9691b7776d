"""All threads of a run counted through."""

from __future__ import annotations

import numpy as np

from analyzer.trace import Trace


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
        """ThreadRecords of each (rank, thread); a thread that the trace does not know counts as the last one."""
        return np.minimum(self.first[rank] + thread, self.first[np.asarray(rank) + 1] - 1)
