"""A rank at a moment: state and call of each thread, open regions, and messages under way.

The calls of a rank around a moment are read from there outwards, in as few of its windows as possible.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from analyzer.columns.arrays import joined
from analyzer.trace import CALL, EVENT, MARK, MESSAGE, REQUEST, CallPaths, Mark, Regions, Trace
from tracelib.schema import STARTED, is_one_of

RECORDS = 4096
"""Number of calls in a window. The first window that is read mostly has all the calls that are needed."""


class SnapshotCalls(NamedTuple):
    """Some calls of a rank, with their paths.

    Attributes:
        rows: The calls, a structured array of type CALL.
        paths: Row of each call's path in `CallPaths.tables`, int64. 0: not known.
    """

    rows: np.ndarray
    paths: np.ndarray

    def select(self, chosen: np.ndarray | slice) -> SnapshotCalls:
        """Return some of the calls."""
        return SnapshotCalls(self.rows[chosen], self.paths[chosen])


def calls_around(trace: Trace, rank: int, time: int, number: int) -> tuple[list[SnapshotCalls], list[SnapshotCalls]]:
    """Read the calls of each thread of a rank around a moment.

    Args:
        trace: The trace.
        rank: The rank.
        time: The moment, ns.
        number: Number of calls.

    Returns:
        For each thread, the last `number` + 1 calls that were entered until the moment; and for each thread, the first
        `number` calls that were entered later. Calls are in order of enter.
    """
    windows = trace.windows_of(rank, RECORDS)
    here = max(int(np.searchsorted(windows, time, side="right")) - 1, 0)
    before = _Ends(int(trace.threads[rank]), number + 1, last=True)
    after = _Ends(int(trace.threads[rank]), number, last=False)
    bounds = list(pairwise(windows.tolist()))
    for begin, end in reversed(bounds[: here + 1]):
        before.add(_read(trace, rank, begin, min(end, time + 1)))
        if before.enough:
            break
    for begin, end in bounds[here:]:
        if after.enough:
            break
        after.add(_read(trace, rank, max(begin, time + 1), end))
    return before.of_thread, after.of_thread


def _read(trace: Trace, rank: int, begin: int, end: int) -> SnapshotCalls:
    if begin >= end:
        return SnapshotCalls(np.zeros(0, CALL), np.zeros(0, np.int64))
    rows = joined(list(trace.calls(rank, begin, end)), CALL)
    paths = joined(list(trace.extra(CallPaths).of(rank, begin, end)), np.dtype(np.int64))
    return SnapshotCalls(rows, paths if len(paths) else np.zeros(len(rows), np.int64))


class _Ends:
    """First or last calls of each thread."""

    def __init__(self, threads: int, number: int, *, last: bool) -> None:
        self._number, self._last = number, last
        nothing = SnapshotCalls(np.zeros(0, CALL), np.zeros(0, np.int64))
        self.of_thread = [nothing] * threads

    @property
    def enough(self) -> bool:
        """Whether each thread has enough calls."""
        return all(len(calls.rows) >= self._number for calls in self.of_thread)

    def add(self, more: SnapshotCalls) -> None:
        """Add the calls of a window that lies before (for last calls) or after all windows added so far."""
        for thread, known in enumerate(self.of_thread):
            lacking = self._number - len(known.rows)
            mine = np.flatnonzero(more.rows["thread"] == thread) if lacking > 0 else np.zeros(0, np.int64)
            mine = mine[-lacking:] if self._last else mine[:lacking]
            if len(mine):
                parts = (more.select(mine), known) if self._last else (known, more.select(mine))
                self.of_thread[thread] = SnapshotCalls(
                    *(np.concatenate(columns) for columns in zip(*parts, strict=True))
                )


@dataclass(frozen=True)
class ThreadSnapshot:
    """State of a thread at a moment. Times are ns of the trace.

    Attributes:
        thread: Number of the thread.
        state: State of the thread (`State`). -1: nothing is recorded.
        begin_ns: Begin of the state.
        end_ns: End of the state.
        inside: Whether the thread is in the last call of `before`.
        before: Last calls that were entered until the moment.
        after: First calls that were entered later.
        regions: Name and begin of each open region, the outermost first.
    """

    thread: int
    state: int  # State; -1: nothing is recorded of the thread then
    begin_ns: int  # of the state
    end_ns: int
    inside: bool  # true: the last of `before` is a call that it is in
    before: SnapshotCalls  # the calls that it entered until then, the last one last
    after: SnapshotCalls  # the calls that it entered later
    regions: tuple[tuple[str, int], ...]  # name and begin of the regions it is in, the outermost first


@dataclass(frozen=True)
class Snapshot:
    """State of a rank at a moment.

    Attributes:
        rank: The rank.
        time_ns: The moment.
        span: Begin and end of the rank's record, ns.
        threads: State of each thread.
        messages: Messages from or to the rank that are sent but not received, by time of sending (type MESSAGE).
        requests: Requests of the rank that are posted but not complete, by time of posting (type REQUEST).
        events: Events of the program during the states of its threads (type EVENT).
    """

    rank: int
    time_ns: int
    span: tuple[int, int]  # of the rank: its process is not there, or says nothing, outside
    threads: tuple[ThreadSnapshot, ...]
    messages: np.ndarray  # MESSAGE of this rank that were sent and not yet received, by time of sending
    requests: np.ndarray  # REQUEST of this rank that were posted and not yet complete, by time of posting
    events: np.ndarray  # EVENT of this rank while its threads are in their states, that the program asked for


def take_snapshot(trace: Trace, rank: int, time: int, around: int = 3, *, messages: bool = True) -> Snapshot:
    """Read what a rank does at a moment.

    Args:
        trace: The trace.
        rank: The rank.
        time: The moment, ns.
        around: Number of calls to read before and after the moment.
        messages: Whether to read messages under way, requests and events, too. All messages until then are searched.
    """
    before, after = calls_around(trace, rank, time, around)
    begins = [int(calls.rows["enter"][-1]) if len(calls.rows) else 0 for calls in before]
    states = trace.rank_states(min(begins, default=0), time + 1, range(rank, rank + 1))
    marks = trace.extra(Regions).marks(rank, 0, time + 1)
    names = trace.extra(Regions).names
    threads = []
    for thread, calls in enumerate(before):
        state, begin, end = _state_at(states[states["thread"] == thread], time)
        inside = bool(len(calls.rows)) and time < int(calls.rows["enter"][-1] + calls.rows["inside"][-1])
        open_ = open_regions(marks[marks["thread"] == thread])
        regions = tuple((names[row["number"] - 1], int(row["time"])) for row in open_)
        threads.append(ThreadSnapshot(thread, state, begin, end, inside, calls, after[thread], regions))
    if not messages:
        nothing = np.zeros(0, MESSAGE), np.zeros(0, REQUEST), np.zeros(0, EVENT)
        return Snapshot(rank, time, trace.span(rank), tuple(threads), *nothing)
    known = [one for one in threads if one.state >= 0]
    begin, end = (min(one.begin_ns for one in known), max(one.end_ns for one in known)) if known else (time, time)
    return Snapshot(
        rank, time, trace.span(rank), tuple(threads), _on_their_way(trace, rank, time), _open(trace, rank, time),
        trace.extra(Regions).events(rank, begin, end),
    )  # fmt: skip


def _state_at(states: np.ndarray, time: int) -> tuple[int, int, int]:
    """Return state, begin and end of a thread's state at a moment. If there is none, the state is -1."""
    here = np.flatnonzero((states["begin"] <= time) & (time < states["end"]))
    if not len(here):
        return -1, time, time
    row = states[here[-1]]
    return int(row["state"]), int(row["begin"]), int(row["end"])


def open_regions(marks: np.ndarray) -> np.ndarray:
    """Return the regions of a thread that are open after some marks, as their begins (type MARK), the outermost first.

    Args:
        marks: Marks of one thread in order of time.
    """
    edges = marks[np.isin(marks["what"], (Mark.BEGIN, Mark.END))]
    if not len(edges):
        return np.zeros(0, MARK)
    begins = edges["what"] == Mark.BEGIN
    depth = np.cumsum(np.where(begins, 1, -1))
    lowest_later = np.append(np.minimum.accumulate(depth[::-1])[::-1][1:], depth[-1])
    return edges[begins & (lowest_later >= depth)]


def _on_their_way(trace: Trace, rank: int, time: int) -> np.ndarray:
    """Return the messages from or to a rank that are sent but not yet received, as type MESSAGE."""
    trace.match()
    found = []
    for begin, end in pairwise(trace.message_windows().tolist()):
        if begin > time:
            break
        rows = trace.messages(begin, min(end, time + 1))
        found.append(
            rows[((rows["source"] == rank) | (rows["destination"] == rank)) & (rows["physical_receive"] > time)]
        )
    return joined(found, MESSAGE)


def _open(trace: Trace, rank: int, time: int) -> np.ndarray:
    """Return the requests of a rank that are posted but not yet complete, as type REQUEST."""
    found = []
    for rows in trace.requests(rank, time + 1):
        done = ~is_one_of(rows["what"], STARTED)
        found.append(rows[done & (rows["posted"] <= time) & (rows["completed"] > time)])
    rows = joined(found, REQUEST)
    return rows[np.argsort(rows["posted"], kind="stable")]
