"""What each thread did, as a sequence of nodes: its calls, the begins and ends of its regions, and what it lost."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analyzer.metrics.regions import lost_times
from analyzer.trace import Mark, Trace

MARKED, LOST = -1, -2
"""In place of a call: a point in time, a time that is not the program's (flushes, nothing recorded)."""


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


_NODE = np.dtype([("enter", "<i8"), ("exit", "<i8"), ("call", "<i4"), ("region", "<i4")])


def timeline(trace: Trace) -> Timeline:
    """The nodes of all threads of a trace; all are in memory, 24 bytes each."""
    columns: dict[str, list[np.ndarray]] = {name: [] for name in _NODE.names or ()}
    rank_of, thread_of = [], []
    for rank in range(trace.size):
        calls = _calls(trace, rank)
        marks, lost = trace.marks(rank), lost_times(trace, rank)
        for thread in range(max(int(trace.threads[rank]), 1)):
            own = [rows[rows["thread"] == thread] for rows in (calls, marks, lost)]
            found = _of_thread(own[0], own[1], own[2], trace.span(rank) if thread == 0 else None)
            for name, parts in columns.items():
                parts.append(found[name].copy())
            rank_of.append(rank)
            thread_of.append(thread)
    lengths = [len(part) for part in columns["enter"]]
    joined = {name: np.concatenate(columns.pop(name)) for name in _NODE.names or ()}
    return Timeline(
        **joined,
        offsets=np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
        rank=np.array(rank_of, np.int32),
        thread=np.array(thread_of, np.int32),
        first_thread=np.searchsorted(rank_of, np.arange(trace.size)),
    )


_CALLED = np.dtype([("enter", "<i8"), ("exit", "<i8"), ("call", "<i4"), ("thread", "<i4")])


def _calls(trace: Trace, rank: int) -> np.ndarray:
    """All calls of a rank (_CALLED), in order of enter."""
    parts = [np.zeros(0, _CALLED)]
    for block in trace.calls(rank):
        rows = np.zeros(len(block), _CALLED)
        for column in _CALLED.names or ():
            rows[column] = block[column]
        parts.append(rows)
    return np.concatenate(parts)


def _of_thread(calls: np.ndarray, marks: np.ndarray, lost: np.ndarray, span: tuple[int, int] | None) -> np.ndarray:
    """The nodes (_NODE) of one thread. span: its begin and end; None: those of what it recorded."""
    marks = marks[marks["what"] <= Mark.END]
    nodes = np.zeros(len(calls) + len(marks) + len(lost) + 2, _NODE)
    inner, ends = nodes[1:-1], nodes[[0, -1]]
    inner["enter"] = np.concatenate([marks["time"], calls["enter"], lost["begin"]])
    inner["exit"] = np.concatenate([marks["time"], calls["exit"], lost["end"]])
    inner["call"] = np.concatenate([np.full(len(marks), MARKED), calls["call"], np.full(len(lost), LOST)])
    after = np.concatenate([_innermost_after(marks), np.full(len(calls) + len(lost), _AS_BEFORE)])
    order = np.lexsort((inner["exit"], inner["enter"]))
    inner[:] = inner[order]
    recorded = (int(inner["enter"][0]), int(inner["exit"].max())) if len(inner) else span or (0, 0)
    begin, end = span or recorded
    ends["enter"] = ends["exit"] = min(begin, recorded[0]), max(end, recorded[1])
    ends["call"] = MARKED
    nodes[[0, -1]] = ends
    nodes["region"] = _carried(np.concatenate([[-1], after[order], [_AS_BEFORE]]))
    _separate(nodes)
    return nodes


_AS_BEFORE = -2


def _carried(after: np.ndarray) -> np.ndarray:
    """The region before each node, from that after each, where calls leave it as it was."""
    known = np.maximum.accumulate(np.where(after != _AS_BEFORE, np.arange(len(after)), 0))
    return np.concatenate([[-1], after[known][:-1]])


def _innermost_after(marks: np.ndarray) -> np.ndarray:
    """The region (index; -1: none) that a thread is in after each of its begins and ends: they nest."""
    is_begin = marks["what"] == Mark.BEGIN
    depth = np.cumsum(np.where(is_begin, 1, -1))
    begins = np.flatnonzero(is_begin)
    key = depth[begins] * np.int64(len(marks) + 1) + begins
    order = np.argsort(key)
    at = np.searchsorted(key[order], depth * np.int64(len(marks) + 1) + np.arange(len(marks)), "right") - 1
    if not len(begins):
        return np.full(len(marks), -1)
    region = marks["number"][begins[order[at.clip(min=0)]]] - 1
    return np.where((depth > 0) & (at >= 0), region, -1)


def _separate(nodes: np.ndarray) -> None:
    """Where nodes overlap (a flush in a call), the later one begins where the earlier one ends."""
    ends = np.maximum.accumulate(nodes["exit"])
    nodes["enter"][1:] = np.maximum(nodes["enter"][1:], ends[:-1])
    nodes["exit"] = np.maximum(nodes["exit"], nodes["enter"])
