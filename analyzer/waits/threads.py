"""Numbers of all threads of a run (lanes), and the errors of their clocks.

Waits shorter than the errors do not count.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analyzer.trace import Clocks, Trace
from analyzer.waits.kinds import Polled, length


class Lanes:
    """Numbers of the threads of a trace, called lanes: the threads of rank 0, then the threads of rank 1, and so on.

    Attributes:
        first: Lane of the main thread of each rank, and at the end the number of lanes; int64 of shape (ranks + 1,).
        rank: Rank of each lane.
        thread: Number of each lane within its rank.
    """

    def __init__(self, trace: Trace) -> None:
        threads = np.asarray(trace.threads, np.int64)
        self.first = np.concatenate(([0], np.cumsum(threads)))
        self.rank = np.repeat(np.arange(trace.size), threads)
        self.thread = np.arange(len(self.rank)) - self.first[self.rank]

    def __len__(self) -> int:
        return len(self.rank)

    def lane_numbers(self, rank: np.ndarray, thread: np.ndarray) -> np.ndarray:
        """Return the lane of each (rank, thread).

        For a thread that the trace does not know, it is the last lane of the rank.
        """
        return np.minimum(self.first[rank] + thread, self.first[np.asarray(rank) + 1] - 1)


@dataclass(frozen=True)
class UncountedWaits:
    """Waits that are not counted, because they are shorter than the error of the two clocks between which they lie."""

    count: int = 0
    time_ns: int = 0
    error_ns: int = 0  # largest error between two clocks, ns; 0: only one clock, or not known

    def __add__(self, other: UncountedWaits) -> UncountedWaits:
        sums = self.count + other.count, self.time_ns + other.time_ns
        return UncountedWaits(*sums, max(self.error_ns, other.error_ns))


class ClockErrors:
    """Errors of each rank's clock relative to rank 0's clock, in ns.

    The error is the estimated standard error; without an estimate it is the bound, and without a bound 0.
    """

    def __init__(self, trace: Trace, lanes: Lanes) -> None:
        clock, error = np.zeros(trace.size, np.int64), np.zeros(trace.size, np.int64)
        for number, one in enumerate(trace.extra(Clocks).known, start=1):
            known = one.bound_ns if one.accuracy_ns is None else one.accuracy_ns
            clock[list(one.ranks)], error[list(one.ranks)] = number, known or 0
        self._clock, self._error = clock[lanes.rank], error[lanes.rank]

    def split(self, waits: np.ndarray) -> tuple[np.ndarray, UncountedWaits]:
        """Split waits (WAIT) by the error of the two clocks.

        Returns:
            Waits that are at least as long as the sum of the errors of both clocks, and the sums of all shorter waits.
        """
        if not self._error.any():
            return waits, UncountedWaits()
        lane, cause = waits["lane"], waits["cause"]
        error = np.where(self._clock[lane] == self._clock[cause], 0, self._error[lane] + self._error[cause])
        # Failing polls before the send, by the clocks, are short; the time before the send counts.
        known = np.where(waits["polled"] != Polled.NO, waits["cause_enter"] - waits["enter"], length(waits))
        short = known < error
        lost = int(length(waits)[short].sum())
        return waits[~short], UncountedWaits(int(short.sum()), lost, int(error.max(initial=0)))
