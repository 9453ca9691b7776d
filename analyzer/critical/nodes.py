"""Reads a trace into the nodes of its threads: calls, begins and ends of regions, and what is not the program's."""

from __future__ import annotations

import numpy as np

from analyzer._kernels import lib
from analyzer.critical.joins import STAY, join_stays
from analyzer.critical.polling import POLL_GAP_NS, Polls
from analyzer.critical.timeline import JOINED, LOST, MARKED, NODE, NOTED, Timeline, pointer
from analyzer.metrics.regions import lost_times
from analyzer.paraver import base_name
from analyzer.trace import Mark, Trace

_NOBODY = np.zeros(0, STAY)


def timeline(trace: Trace, noted: frozenset[str] = frozenset(), poll_gap_ns: int = POLL_GAP_NS) -> Timeline:
    """The nodes of all threads of a trace; all are in memory, 24 bytes each.

    noted: names of procedures of which all calls are kept whole; poll_gap_ns: see POLL_GAP_NS.
    """
    reader = _Reader(trace, noted, poll_gap_ns)
    threads = [(rank, thread, rows) for rank in range(trace.size) for thread, rows in enumerate(reader.rank(rank))]
    lengths = [len(nodes) for *_, nodes in threads]
    rank_of = np.array([rank for rank, *_ in threads], np.int32)
    return Timeline(
        rows=np.concatenate([np.zeros(0, NODE), *(nodes for *_, nodes in threads)]),
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
        """The nodes (NODE) of each thread of a rank."""
        own = self._calls(rank)
        marks, lost = self._trace.marks(rank), lost_times(self._trace, rank)
        marks = marks[marks["what"] <= Mark.END]
        threads = [self._of_thread(k, own, marks, lost) for k in range(1, len(own))]
        ended = [over for _, over in threads]
        lives = np.array([(nodes["enter"][0], nodes["exit"][-1]) for nodes, over in threads if over], STAY)
        begin, end = self._trace.span(rank)
        main, _ = self._of_thread(0, own, marks, lost, lives, (begin, begin if threads else end))
        self.joined += [False, *ended]
        return [main, *(nodes for nodes, _ in threads)]

    def _of_thread(
        self,
        thread: int,
        own: list[np.ndarray],
        marks: np.ndarray,
        lost: np.ndarray,
        lives: np.ndarray = _NOBODY,
        span: tuple[int, int] | None = None,
    ) -> tuple[np.ndarray, bool]:
        """The nodes (NODE) of one thread, and whether it ended by itself: who asks in vain to the end is told to.

        own: the calls of each thread, of which this one's are not needed any more. lives (STAY): of the threads whose
        end it may have waited for.
        """
        calls, own[thread] = own[thread], own[thread][:0]
        marks, lost = marks[marks["thread"] == thread], lost[lost["thread"] == thread]
        calls = self._polls.as_waits(calls, lost)
        nodes = _nodes(calls, marks, lost, _joins(calls, marks, lives), span)
        return nodes, len(calls) > 0 and calls["region"][-1] == 0

    def _calls(self, rank: int) -> list[np.ndarray]:
        """The calls of each thread of a rank in order of enter (NODE, in place of a region how many polls failed)."""
        parts: list[list[np.ndarray]] = [[np.zeros(0, NODE)] for _ in range(max(int(self._trace.threads[rank]), 1))]
        for block in self._trace.calls(rank):
            rows = np.empty(len(block), NODE)
            for column in ("enter", "exit", "call"):
                rows[column] = block[column]
            rows["region"] = self._polls.failed(rank, block)
            for thread in np.unique(block["thread"]).tolist() if len(parts) > 1 else (0,):
                parts[thread].append(rows[block["thread"] == thread] if len(parts) > 1 else rows)
            self._note(rank, block[self._wanted[block["call"]]])
        return [np.concatenate(of_thread) for of_thread in parts]

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
    """The nodes (NODE) of one thread. span: it begins and ends then, or with what it recorded."""
    others = np.zeros(len(marks) + len(lost) + len(joins), NODE)
    others["enter"] = np.concatenate([marks["time"], lost["begin"], joins["begin"]])
    others["exit"] = np.concatenate([marks["time"], lost["end"], joins["end"]])
    others["call"] = np.repeat([MARKED, LOST, JOINED], [len(marks), len(lost), len(joins)])
    others["region"] = lib.NODE_KEEPS_REGION
    others["region"][: len(marks)] = _innermost_after(marks)
    others = others[np.lexsort((others["exit"], others["enter"]))]
    nodes = np.empty(len(calls) + len(others) + 2, NODE)
    inner = nodes[1:-1]
    counts = (pointer(calls, "struct node *"), len(calls)), (pointer(others, "struct node *"), len(others))
    region = lib.nodes_merge(*counts[0], *counts[1], pointer(inner, "struct node *"))
    recorded = (int(inner["enter"][0]), int(inner["exit"][-1])) if len(inner) else span or (0, 0)
    begin, end = span or recorded
    begin, end = min(begin, recorded[0]), max(end, recorded[1])
    nodes[0], nodes[-1] = (begin, begin, MARKED, -1), (end, end, MARKED, region)
    return nodes


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
