"""Reads a trace into the nodes of its threads: calls, begins and ends of regions, and what is not the program's."""

from __future__ import annotations

import numpy as np

from analyzer.critical.joins import STAY, join_stays
from analyzer.critical.polling import POLL_GAP_NS, Polls
from analyzer.critical.timeline import JOINED, LOST, MARKED, NOTED, Timeline
from analyzer.metrics.regions import lost_times
from analyzer.paraver import base_name
from analyzer.trace import Mark, Trace

_NODE = np.dtype([("enter", "<i8"), ("exit", "<i8"), ("call", "<i4"), ("region", "<i4")])
_CALLED = np.dtype(
    [("enter", "<i8"), ("exit", "<i8"), ("call", "<i4"), ("thread", "<i4"), ("count", "<i8"), ("failed", "?")]
)
_NOBODY = np.zeros(0, STAY)


def timeline(trace: Trace, noted: frozenset[str] = frozenset(), poll_gap_ns: int = POLL_GAP_NS) -> Timeline:
    """The nodes of all threads of a trace; all are in memory, 24 bytes each.

    noted: names of procedures of which all calls are kept whole; poll_gap_ns: see POLL_GAP_NS.
    """
    reader = _Reader(trace, noted, poll_gap_ns)
    threads = [(rank, thread, rows) for rank in range(trace.size) for thread, rows in enumerate(reader.rank(rank))]
    lengths = [len(nodes) for *_, nodes in threads]
    joined = {
        name: np.concatenate([np.zeros(0, _NODE[name]), *(nodes[name] for *_, nodes in threads)])
        for name in _NODE.names or ()
    }
    rank_of = np.array([rank for rank, *_ in threads], np.int32)
    return Timeline(
        **joined,
        offsets=np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
        rank=rank_of,
        thread=np.array([thread for _, thread, _ in threads], np.int32),
        first_thread=np.searchsorted(rank_of, np.arange(trace.size)),
        joined=np.array(reader.joined, bool),
        noted=np.concatenate([np.zeros(0, NOTED), *reader.noted]),
    )


class _Reader:
    """Reads one rank after the other."""

    def __init__(self, trace: Trace, noted: frozenset[str], poll_gap_ns: int) -> None:
        self._trace, self._polls = trace, Polls(trace, poll_gap_ns)
        self._wanted = np.array([base_name(p) in noted for p in trace.procedures], bool)
        self.noted: list[np.ndarray] = []
        self.joined: list[bool] = []  # of each thread read so far

    def rank(self, rank: int) -> list[np.ndarray]:
        """The nodes (_NODE) of each thread of a rank."""
        calls, marks, lost = self._calls(rank), self._trace.marks(rank), lost_times(self._trace, rank)
        marks = marks[marks["what"] <= Mark.END]
        threads = [self._of_thread(k, calls, marks, lost) for k in range(1, max(int(self._trace.threads[rank]), 1))]
        ended = [over for _, over in threads]
        lives = np.array([(nodes["enter"][0], nodes["exit"][-1]) for nodes, over in threads if over], STAY)
        begin, end = self._trace.span(rank)
        main, _ = self._of_thread(0, calls, marks, lost, lives, (begin, begin if threads else end))
        self.joined += [False, *ended]
        return [main, *(nodes for nodes, _ in threads)]

    def _of_thread(
        self,
        thread: int,
        calls: np.ndarray,
        marks: np.ndarray,
        lost: np.ndarray,
        lives: np.ndarray = _NOBODY,
        span: tuple[int, int] | None = None,
    ) -> tuple[np.ndarray, bool]:
        """The nodes (_NODE) of one thread, and whether it ended by itself: one that asked in vain to the end was told
        to. `lives` (STAY) are of the threads whose end it may have waited for."""
        calls, marks, lost = (rows[rows["thread"] == thread] for rows in (calls, marks, lost))
        waits, failed = self._polls.as_waits(calls, calls["failed"], lost)
        nodes = _nodes(waits, marks, lost, _joins(waits, marks, lives), span)
        return nodes, len(waits) > 0 and not failed[-1]

    def _calls(self, rank: int) -> np.ndarray:
        """All calls of a rank (_CALLED), in order of enter."""
        parts = [np.zeros(0, _CALLED)]
        for block in self._trace.calls(rank):
            rows = np.zeros(len(block), _CALLED)
            for column in ("enter", "exit", "call", "thread", "count"):
                rows[column] = block[column]
            rows["failed"] = self._polls.failed(rank, block)
            parts.append(rows)
            self._note(rank, block[self._wanted[block["call"]]])
        return np.concatenate(parts)

    def _note(self, rank: int, calls: np.ndarray) -> None:
        rows = np.zeros(len(calls), NOTED)
        for column in calls.dtype.names or ():
            rows[column] = calls[column]
        rows["rank"] = rank
        self.noted.append(rows)


def _joins(calls: np.ndarray, marks: np.ndarray, lives: np.ndarray) -> np.ndarray:
    """When a main thread with these calls and marks waited (STAY) for others."""
    if not len(lives):
        return lives
    busy = np.zeros(len(calls) + len(marks), STAY)
    busy["begin"] = np.concatenate([calls["enter"], marks["time"]])
    busy["end"] = np.concatenate([calls["exit"], marks["time"]])
    return join_stays(busy[np.argsort(busy["begin"], kind="stable")], lives)


def _nodes(
    calls: np.ndarray, marks: np.ndarray, lost: np.ndarray, joins: np.ndarray, span: tuple[int, int] | None
) -> np.ndarray:
    """The nodes (_NODE) of one thread. span: it begins and ends then, or with what it recorded."""
    nodes = np.zeros(len(calls) + len(marks) + len(lost) + len(joins) + 2, _NODE)
    inner, ends = nodes[1:-1], nodes[[0, -1]]
    inner["enter"] = np.concatenate([marks["time"], calls["enter"], lost["begin"], joins["begin"]])
    inner["exit"] = np.concatenate([marks["time"], calls["exit"], lost["end"], joins["end"]])
    others = np.repeat([LOST, JOINED], [len(lost), len(joins)])
    inner["call"] = np.concatenate([np.full(len(marks), MARKED), calls["call"], others])
    after = np.concatenate([_innermost_after(marks), np.full(len(inner) - len(marks), _AS_BEFORE)])
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
