"""Reader of the nodes of threads: calls, begins and ends of regions, and time that is not the program's."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analyzer._kernels import lib
from analyzer.c_arrays import pointer
from analyzer.columns.arrays import joined
from analyzer.columns.rows import Rows
from analyzer.critical.dependences import STAY, join_stays
from analyzer.critical.extra_nodes import as_nodes, innermost_after, lost_of, marks_of
from analyzer.critical.polling import DONE, POLL_GAP_NS, Polls
from analyzer.critical.single_threaded import nodes_of_plain, plain_ranks
from analyzer.critical.thread_nodes import MARKED, NODE, NOTED, NodeTimeline
from analyzer.pairing.parts import RankRows
from analyzer.trace import Trace
from tracelib.schema.procedures import base_name

_NOBODY = np.zeros(0, STAY)
_EARLIEST = np.iinfo(np.int64).min


def read_nodes(trace: Trace, noted: frozenset[str] = frozenset(), poll_gap_ns: int = POLL_GAP_NS) -> NodeTimeline:
    """Read the nodes of all threads of a trace into temporary files.

    Memory holds the calls of one thread at a time, and these only for ranks with several threads or failing polls.

    Args:
        trace: The trace.
        noted: Procedures whose calls are also kept with all columns, in `NodeTimeline.noted`.
        poll_gap_ns: Largest time between two polls of one wait; see POLL_GAP_NS.
    """
    reader, every, polling = _Reader(trace, noted, poll_gap_ns), Rows(NODE), Rows(NODE)
    threads, counts, of_polling = [np.zeros(1, np.int64)], [np.zeros(1, np.int64)], [np.zeros(1, np.int64)]
    for ranks, calls in plain_ranks(trace, reader.polls):
        if calls:
            nodes, of_each = reader.together(ranks, calls)
            every.append(nodes)
            added = np.ones(len(ranks), np.int64), of_each, np.zeros(len(ranks), np.int64)
        else:
            done = reader.rank(ranks.start)
            for thread in done:
                every.append_all(thread.nodes)
                polling.append_all(thread.polling)
            lengths = [(len(thread.nodes), len(thread.polling or ())) for thread in done]
            added = np.array([len(done)], np.int64), *np.array(lengths, np.int64).T
        for column, more in zip((threads, counts, of_polling), added, strict=True):
            column.append(more)
    first, offsets, polling_offsets = (np.cumsum(np.concatenate(parts)) for parts in (threads, counts, of_polling))
    rank_of = np.repeat(np.arange(trace.size, dtype=np.int32), np.diff(first))
    return NodeTimeline(
        file=every,
        offsets=offsets,
        rank=rank_of,
        thread=(np.arange(len(rank_of)) - first[rank_of]).astype(np.int32),
        first_thread=first[:-1],
        joined=np.array(reader.joined, bool),
        noted=joined(reader.noted, NOTED),
        polling=polling,
        polling_offsets=polling_offsets,
    )


@dataclass(frozen=True)
class _Thread:
    """The nodes (NODE) of one thread."""

    nodes: Rows
    polling: Rows | None  # nodes with a node for each poll; None: the thread had no failing polls
    ended: bool  # False: its last poll failed, so another thread ended it


class _Reader:
    """Reader of the nodes of ranks, one rank or group of ranks after the other."""

    def __init__(self, trace: Trace, noted: frozenset[str], poll_gap_ns: int) -> None:
        self._trace, self.polls = trace, Polls(trace, poll_gap_ns)
        self._wanted = np.array([base_name(p) in noted for p in trace.procedures], bool)
        self.noted: list[np.ndarray] = []
        self.joined: list[bool] = []  # for each thread read so far

    def together(self, ranks: range, calls: RankRows) -> tuple[np.ndarray, np.ndarray]:
        """Return the nodes of several plain ranks, and the number of nodes of each rank, as `nodes_of_plain`."""
        self.joined += [False] * len(ranks)
        self._note(calls.where(self._wanted[calls.rows["call"]]))
        return nodes_of_plain(self._trace, ranks, calls)

    def rank(self, rank: int) -> list[_Thread]:
        """Read the nodes of all threads of a rank."""
        own = self._calls(rank)
        marks, lost = marks_of(self._trace, rank), lost_of(self._trace, rank)
        threads = [self._of_thread(k, own.pop(1), marks, lost) for k in range(1, len(own))]  # one file less each time
        lives = [(t.nodes.mapped()["enter"][0], t.nodes.mapped()["exit"][-1]) for t in threads if t.ended]
        begin, end = self._trace.span(rank)
        last = max((t.nodes.mapped()["exit"][-1] for t in threads), default=-1)
        span = begin, end if end > last else begin  # the last thread to record ends the rank
        main = self._of_thread(0, own.pop(), marks, lost, np.array(lives, STAY), span)
        self.joined += [False, *(t.ended for t in threads)]
        return [main, *threads]

    def _of_thread(
        self,
        thread: int,
        calls: Rows,
        marks: np.ndarray,
        lost: np.ndarray,
        lives: np.ndarray = _NOBODY,
        span: tuple[int, ...] = (),
    ) -> _Thread:
        """Build the nodes of a thread.

        Args:
            thread: Number of the thread.
            calls: The calls of the thread (DONE).
            marks: Begins and ends of the rank's regions (MARK).
            lost: Times of the rank that are not the program's (FLUSH).
            lives: Lives of the other threads, for whose end this thread may have waited (STAY).
            span: Begin and end of the thread, ns. Empty: the first and the last time that it recorded.
        """
        marks, lost = marks[marks["thread"] == thread], lost[lost["thread"] == thread]
        waits = calls
        if any((rows["failed"] > 0).any() for _, rows in calls.pieces()):
            waits = Rows.from_array(self.polls.as_waits(calls.mapped(), lost))
        ended = len(waits) > 0 and waits.mapped()["failed"][-1] == 0
        others = as_nodes(marks, innermost_after(marks), lost, _joins(waits, marks, lost, lives))
        others = others[np.lexsort((others["exit"], others["enter"]))]
        ends = (*span[1:], *calls.mapped()["exit"][-1:].tolist())  # in a folded row it computes to the end
        alone = _nodes(calls, others, span[:1], ends) if waits is not calls else None
        return _Thread(_nodes(waits, others, span[:1], ends), alone, ended)

    def _calls(self, rank: int) -> list[Rows]:
        """Read the calls (DONE) of each thread of a rank, in order of enter, and note the wanted ones."""
        threads = [Rows(DONE) for _ in range(max(int(self._trace.threads[rank]), 1))]
        for block in self._trace.calls(rank):
            rows = np.empty(len(block), DONE)
            for column in ("enter", "exit", "tracer", "call"):
                rows[column] = block[column]
            rows["over"] = block["enter"] + block["inside"]
            rows["failed"] = self.polls.failed(rank, block)
            for thread, calls in enumerate(threads):
                calls.append(rows[block["thread"] == thread] if len(threads) > 1 else rows)
            noted = block[self._wanted[block["call"]]]
            self._note(RankRows(np.full(len(noted), rank), noted))
        return threads

    def _note(self, calls: RankRows) -> None:
        rows = np.zeros(len(calls.rows), NOTED)
        for column in calls.rows.dtype.names or ():
            rows[column] = calls.rows[column]
        rows["rank"] = calls.rank
        self.noted.append(rows)


def _as_nodes(calls: np.ndarray) -> np.ndarray:
    """Convert calls (DONE) to nodes (NODE). Each node ends when the thread left MPI.

    So the computing between the calls of a folded row comes after its node.
    """
    nodes = np.zeros(len(calls), NODE)
    for column in ("enter", "tracer", "call"):
        nodes[column] = calls[column]
    nodes["exit"] = calls["over"]
    return nodes


def _joins(calls: Rows, marks: np.ndarray, lost: np.ndarray, lives: np.ndarray) -> np.ndarray:
    """Find when a main thread waited for others to end (STAY), from its calls (DONE), marks and lost times (FLUSH)."""
    if not len(lives):
        return lives
    own = calls.mapped()
    busy = np.zeros(len(own) + len(marks) + len(lost), STAY)
    busy["begin"] = np.concatenate([own["enter"], marks["time"], lost["begin"]])
    busy["end"] = np.concatenate([own["exit"] + own["tracer"], marks["time"], lost["end"]])
    return join_stays(busy[np.lexsort((busy["end"], busy["begin"]))], lives)


def _nodes(calls: Rows, others: np.ndarray, begins_at: tuple[int, ...], ends_at: tuple[int, ...]) -> Rows:
    """Build all nodes (NODE) of one thread: calls (DONE) and other nodes merged, between a begin and an end node.

    The begin node is not after `begins_at` (ns), the end node not before `ends_at` (ns).
    """
    begins = [int(rows["enter"][0]) for rows in (calls.mapped(), others) if len(rows)]
    begin = min([*begins, *begins_at], default=0)
    nodes, last = (
        Rows.from_array(np.array([(begin, begin, MARKED, -1, 0)], NODE)),
        np.array([(0, _EARLIEST, 0, -1, 0)], NODE),
    )
    for _, rows in calls.pieces():
        own = _as_nodes(rows)
        before = _coming_before(others, *own[["enter", "exit"]][-1].tolist())
        nodes.append(_merged(own, others[:before], last))
        others = others[before:]
    nodes.append(_merged(others[:0], others, last))
    end = max([*last["exit"][: len(begins)].tolist(), *ends_at], default=0)
    nodes.append(np.array([(end, end, MARKED, last["region"][0], 0)], NODE))
    return nodes


def _merged(calls: np.ndarray, others: np.ndarray, last: np.ndarray) -> np.ndarray:
    """Merge calls and other nodes (both NODE) in the kernel. `last` (NODE, one row) is the state between two merges."""
    found = np.empty(len(calls) + len(others), NODE)
    counts = (pointer(calls, "struct node *"), len(calls)), (pointer(others, "struct node *"), len(others))
    lib.nodes_merge(*counts[0], *counts[1], pointer(last, "struct node *"), pointer(found, "struct node *"))
    return found


def _coming_before(others: np.ndarray, enter: int, exit_: int) -> int:
    """Return the number of rows, sorted by enter and exit, that come before a call with this enter and exit."""
    first, end = np.searchsorted(others["enter"], enter), np.searchsorted(others["enter"], enter, "right")
    return int(first + np.searchsorted(others["exit"][first:end], exit_, "right"))
