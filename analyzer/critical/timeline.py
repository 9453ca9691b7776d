"""What each thread did, as a sequence of nodes: its calls, the begins and ends of its regions, and what it lost."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analyzer.trace import CALL

MARKED, LOST, JOINED = -1, -2, -3
"""In place of a call: a point in time; a time that is not the program's (flushes, nothing recorded); a main thread that
waits for others of its rank to end."""

NOTED = np.dtype([*CALL.descr, ("rank", "<i4")])
"""A call and its rank."""


@dataclass(frozen=True)
class Timeline:
    """The nodes of all threads, thread after thread; each thread has one more at its beginning and at its end.

    Nodes of a thread do not overlap. Before a node its thread computed, since the exit of the one before, in `region`
    (index in Trace.region_names, the innermost one; -1: in none).
    """

    enter: np.ndarray  # (nodes,) int64, ns
    exit: np.ndarray  # (nodes,) int64, ns
    call: np.ndarray  # (nodes,) int32, index in Trace.procedures; MARKED, LOST
    region: np.ndarray  # (nodes,) int32
    offsets: np.ndarray  # (threads + 1,) int64, the first node of each thread
    rank: np.ndarray  # (threads,) int32
    thread: np.ndarray  # (threads,) int32
    first_thread: np.ndarray  # (ranks,) the main thread of each rank
    joined: np.ndarray  # (threads,) bool, those that the main thread of their rank waited for
    noted: np.ndarray  # NOTED, calls of which more than their times is needed, by rank

    @property
    def threads(self) -> int:
        """Of all ranks."""
        return len(self.rank)

    def of(self, thread: int) -> slice:
        """The nodes of a thread of the run."""
        return slice(int(self.offsets[thread]), int(self.offsets[thread + 1]))

    def entered(self, rank: np.ndarray, thread: np.ndarray, time: np.ndarray) -> np.ndarray:
        """The calls (node, int64) that these threads were in, or entered, at these times; -1: they were in none."""
        return self._find(rank, thread, time, _entered)

    def left(self, rank: np.ndarray, thread: np.ndarray, time: np.ndarray) -> np.ndarray:
        """The calls that these threads left at these times, or were in; -1: they were in none."""
        return self._find(rank, thread, time, _left)

    def _find(self, rank, thread, time, place) -> np.ndarray:
        found = np.full(len(time), -1, np.int64)
        stream = self.first_thread[rank] + thread
        order = np.argsort(stream, kind="stable")
        cuts = np.flatnonzero(np.diff(stream[order])) + 1
        for chosen in np.split(order, cuts) if len(order) else ():
            nodes = self.of(int(stream[chosen[0]]))
            at = place(self.enter[nodes], self.exit[nodes], self.call[nodes] >= 0, time[chosen])
            found[chosen] = np.where(at >= 0, at + nodes.start, -1)
        return found


def _entered(enter: np.ndarray, exit_: np.ndarray, is_call: np.ndarray, time: np.ndarray) -> np.ndarray:
    """The last call entered at `time` or before, if it was not over then; what is not a call has no length to be in."""
    at = np.searchsorted(enter, time, "right") - 1
    while True:
        point = (at > 0) & ~is_call[at.clip(min=0)] & (enter[at.clip(min=0)] == time)
        if not point.any():
            break
        at = at - point
    last = at.clip(min=0)
    inside = (at >= 0) & is_call[last] & ((enter[last] == time) | (time < exit_[last]))
    return np.where(inside, at, -1)


def _left(enter: np.ndarray, exit_: np.ndarray, is_call: np.ndarray, time: np.ndarray) -> np.ndarray:
    """The first call left at `time` or after, if it had been entered then."""
    most = len(exit_) - 1
    at = np.searchsorted(exit_, time, "left")
    while True:
        point = (at < most) & ~is_call[at.clip(max=most)] & (exit_[at.clip(max=most)] == time)
        if not point.any():
            break
        at = at + point
    first = at.clip(max=most)
    return np.where((at <= most) & is_call[first] & (enter[first] <= time), at, -1)
