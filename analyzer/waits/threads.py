"""All threads of a run counted through.

How well the clocks of two threads agree: no wait shorter than that is one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analyzer.trace import Clocks, Trace
from analyzer.waits.kinds import Polled, length


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


@dataclass(frozen=True)
class Uncounted:
    """Waits between two clocks that are shorter than what these may differ by."""

    count: int = 0
    time_ns: int = 0
    error_ns: int = 0  # the largest of two clocks; 0: there is one clock only, or nobody knows the error

    def __add__(self, other: Uncounted) -> Uncounted:
        sums = self.count + other.count, self.time_ns + other.time_ns
        return Uncounted(*sums, max(self.error_ns, other.error_ns))


class ClockErrors:
    """The error of each rank's clock against rank 0's: the estimated standard error, else the bound, else 0."""

    def __init__(self, trace: Trace, lanes: Lanes) -> None:
        clock, error = np.zeros(trace.size, np.int64), np.zeros(trace.size, np.int64)
        for number, one in enumerate(trace.extra(Clocks).known, start=1):
            known = one.bound_ns if one.accuracy_ns is None else one.accuracy_ns
            clock[list(one.ranks)], error[list(one.ranks)] = number, known or 0
        self._clock, self._error = clock[lanes.rank], error[lanes.rank]

    def split(self, waits: np.ndarray) -> tuple[np.ndarray, Uncounted]:
        """The WAIT that are longer than clocks may be wrong, and what the others are."""
        if not self._error.any():
            return waits, Uncounted()
        lane, cause = waits["lane"], waits["cause"]
        error = np.where(self._clock[lane] == self._clock[cause], 0, self._error[lane] + self._error[cause])
        # Polls that failed before the send, by the clocks, are short; what counts is how long before it.
        known = np.where(waits["polled"] != Polled.NO, waits["cause_enter"] - waits["enter"], length(waits))
        short = known < error
        lost = int(length(waits)[short].sum())
        return waits[~short], Uncounted(int(short.sum()), lost, int(error.max(initial=0)))
