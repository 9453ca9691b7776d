"""Times when threads of a replay waited for a CPU, and their events in a predicted run."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from analyzer.columns.rows import PIECE, Rows
from analyzer.program.operation import dtype_of
from tracelib import schema
from tracelib.schema import CpuWait

CPU_WAIT = dtype_of("cpu_wait")
"""Wait of a stream's thread for a CPU, or its change to another CPU, from `begin` to `end` in ns.

From `end` on the thread has the CPU `cpu` of its node. Begin and end are equal if it changed the CPU without waiting.
"""

Intervals = tuple[np.ndarray, np.ndarray]
"""Begins and ends of intervals, two int64 arrays in ns."""


@dataclass(frozen=True)
class CpuWaitFile:
    """Waits for CPUs (CPU_WAIT) of all streams in a temporary file, stream by stream and in order of time."""

    rows: Rows
    offsets: np.ndarray  # int64 (streams + 1,): index of the first wait of each stream
    first: int = 0  # stream that counts as stream 0

    @classmethod
    def of(cls, found: Rows, streams: int) -> CpuWaitFile:
        """Sort waits by stream. `found` has the waits of each stream in order of time, the streams mixed."""
        counts = np.zeros(streams, np.int64)
        for _, rows in found.pieces():
            counts += np.bincount(rows["stream"], minlength=streams)
        offsets = np.append(0, np.cumsum(counts))
        ordered, next_ = Rows.zeros(len(found), CPU_WAIT), offsets[:-1].copy()
        into = ordered.mapped()
        for _, rows in found.pieces():
            by_stream = rows[np.argsort(rows["stream"], kind="stable")]
            stream = by_stream["stream"]
            into[next_[stream] + np.arange(len(stream)) - np.searchsorted(stream, stream)] = by_stream
            next_ += np.bincount(stream, minlength=streams)
            ordered.forget()
        return cls(ordered, offsets)

    def from_stream(self, first: int) -> CpuWaitFile:
        """Return the same waits with stream `first` as stream 0."""
        return replace(self, first=self.first + first)

    def of_stream(self, stream: int) -> Intervals:
        """Return the waits of a stream that took time, in order of time, without overlap."""
        rows = self._rows(stream)
        waited = rows["begin"] < rows["end"]
        return rows["begin"][waited], rows["end"][waited]

    def shown_of_stream(self, stream: int) -> Intervals:
        """Return a stream's waits for a trace.

        A change of the CPU without waiting takes 1 ns, as a record has one CPU.
        """
        rows = self._rows(stream)
        begin, end = rows["begin"].copy(), rows["end"].copy()
        end[1:] += begin[1:] == end[1:]
        begin[1:] = np.maximum(begin[1:], end[:-1])
        some = begin < end
        return begin[some], end[some]

    def cpus_of_stream(self, stream: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the times (ns) from which on a stream had a new CPU, and these CPUs, counted from 0 within the node.

        Empty if each thread of the node has a CPU of its own.
        """
        rows = self._rows(stream)
        return rows["end"].copy(), rows["cpu"].copy()

    def _rows(self, stream: int) -> np.ndarray:
        at = self.first + stream
        return self.rows.mapped()[int(self.offsets[at]) : int(self.offsets[at + 1])]


def room_for_waits() -> np.ndarray:
    """Return a buffer of PIECE rows (CPU_WAIT), which the simulator fills and writes to the file."""
    return np.zeros(PIECE, CPU_WAIT)


def _are_outside(waits: Intervals, calls: Intervals) -> np.ndarray:
    """Return a mask of the waits that lie in no call. In a replay a wait lies in one call or in none."""
    (begin, end), (enter, leave) = waits, calls
    if not len(enter):
        return np.ones(len(begin), bool)
    at = np.searchsorted(leave, end).clip(max=len(enter) - 1)
    return (begin < enter[at]) | (leave[at] < end)


def wait_events(waits: Intervals, calls: Intervals, moved: Intervals, thread: int) -> np.ndarray:
    """Return the waits of one thread as events of its file (schema.EVENT).

    A wait stays inside its call, or between the same two calls, although the calls were moved.

    Args:
        waits: Begins and ends of the waits.
        calls: Entries and exits of the thread's calls, in order, as the simulator had them.
        moved: Entries and exits of the same calls in the written run, a few ns away.
        thread: Number of the thread.
    """
    begin, end = waits
    outside = _are_outside(waits, calls)
    enter, leave = moved
    earliest, latest = np.append(0, leave), np.append(enter, np.iinfo(np.int64).max)
    after = np.searchsorted(calls[0], end)  # the call that comes after a wait outside
    inside = np.searchsorted(calls[1], end).clip(max=max(len(enter) - 1, 0))
    begin = np.maximum(begin, np.where(outside, earliest[after], np.append(enter, 0)[inside]))
    end = np.minimum(end, np.where(outside, latest[after], np.append(leave, 0)[inside]))
    some = begin < end
    events = np.zeros(2 * int(some.sum()), schema.EVENT)
    events["type"], events["thread"] = schema.CPU_WAIT_TYPE, thread
    events["time"][::2], events["time"][1::2] = begin[some], end[some]
    events["value"][::2] = np.where(outside, CpuWait.OUTSIDE, CpuWait.INSIDE)[some]
    return events


def outside_calls(events: np.ndarray) -> Intervals:
    """Return the begins and ends (ns) of the waits that lie in no call.

    Args:
        events: Events of one thread's waits (`wait_events`).
    """
    begin, end = events[::2], events[1::2]
    outside = begin["value"] == CpuWait.OUTSIDE
    return begin["time"][outside].astype(np.int64), end["time"][outside].astype(np.int64)
