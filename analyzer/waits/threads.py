"""Numbers of all threads of a run, and the errors of their clocks: a shorter wait between clocks is not counted."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analyzer.trace import Clocks, Trace
from analyzer.waits.kinds import Polled, length


class Lanes:
    """Numbers of the threads: first the threads of rank 0, then the threads of rank 1, and so on."""

    def __init__(self, trace: Trace) -> None:
        threads = np.asarray(trace.threads, np.int64)
        self.first = np.concatenate(([0], np.cumsum(threads)))
        self.rank = np.repeat(np.arange(trace.size), threads)
        self.thread = np.arange(len(self.rank)) - self.first[self.rank]

    def __len__(self) -> int:
        return len(self.rank)

    def lane_numbers(self, rank: np.ndarray, thread: np.ndarray) -> np.ndarray:
        """Return the lane of each (rank, thread); a thread that the trace does not know counts as the last one."""
        return np.minimum(self.first[rank] + thread, self.first[np.asarray(rank) + 1] - 1)


@dataclass(frozen=True)
class UncountedWaits:
    """Waits between two clocks that are shorter than the error of these clocks."""

    count: int = 0
    time_ns: int = 0
    error_ns: int = 0  # the largest error of two clocks; 0: there is only one clock, or the error is not known

    def __add__(self, other: UncountedWaits) -> UncountedWaits:
        sums = self.count + other.count, self.time_ns + other.time_ns
        return UncountedWaits(*sums, max(self.error_ns, other.error_ns))


class ClockErrors:
    """The error of each rank's clock against rank 0's: the estimated standard error, else the bound, else 0."""

    def __init__(self, trace: Trace, lanes: Lanes) -> None:
        clock, error = np.zeros(trace.size, np.int64), np.zeros(trace.size, np.int64)
        for number, one in enumerate(trace.extra(Clocks).known, start=1):
            known = one.bound_ns if one.accuracy_ns is None else one.accuracy_ns
            clock[list(one.ranks)], error[list(one.ranks)] = number, known or 0
        self._clock, self._error = clock[lanes.rank], error[lanes.rank]

    def split(self, waits: np.ndarray) -> tuple[np.ndarray, UncountedWaits]:
        """Split waits (WAIT) into those longer than the error of the two clocks, and the sums of the others."""
        if not self._error.any():
            return waits, UncountedWaits()
        lane, cause = waits["lane"], waits["cause"]
        error = np.where(self._clock[lane] == self._clock[cause], 0, self._error[lane] + self._error[cause])
        # Failing polls before the send, by the clocks, are short; the time before the send counts.
        known = np.where(waits["polled"] != Polled.NO, waits["cause_enter"] - waits["enter"], length(waits))
        short = known < error
        lost = int(length(waits)[short].sum())
        return waits[~short], UncountedWaits(int(short.sum()), lost, int(error.max(initial=0)))
