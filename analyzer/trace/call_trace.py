"""A trace that is built from calls alone: the shortest way to write a source (docs/extending.md)."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

import numpy as np

from analyzer.columns.sorted_runs import sort_rows
from analyzer.trace.description import WORLD, Communicator, Nodes, Origin, Problem
from analyzer.trace.paraver import EventType, event_table, state_table
from analyzer.trace.records import CALL, EVENT, MESSAGE, REQUEST, STATE, State
from analyzer.trace.trace import Trace
from tracelib.schema import STARTED, is_one_of
from tracelib.schema.procedures import COLLECTIVES, base_name


def call_states(rank: int, calls: np.ndarray, procedures: Sequence[str]) -> np.ndarray:
    """Build the states (STATE) of a rank's calls (CALL): one from the entry to the exit of each call."""
    found = np.zeros(len(calls), STATE)
    found["rank"], found["begin"], found["end"] = rank, calls["enter"], calls["exit"]
    found["thread"], found["state"] = calls["thread"], state_table(procedures)[calls["call"]]
    return found


def running(rank: int, thread: int, begins: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """Build the states Running (STATE) of a thread from begins and ends of its bursts (ns). Empty bursts have none."""
    found = np.zeros(len(begins), STATE)
    found["rank"], found["thread"], found["begin"], found["end"] = rank, thread, begins, ends
    found["state"] = State.RUNNING
    return found[ends > begins]


def call_events(rank: int, calls: np.ndarray, procedures: Sequence[str]) -> np.ndarray:
    """Build the events (EVENT) of a rank's calls (CALL): one at the entry and one at the exit of each call.

    Collectives also have events with the bytes sent and received, whether the rank is the root, and the communicator.
    The events are in order of time.
    """
    types, values = event_table(procedures)
    collective = np.array([base_name(name) in COLLECTIVES for name in procedures], bool)
    every, of_all = np.arange(len(calls)), np.flatnonzero(collective[calls["call"]])
    columns = (
        (every, "enter", types[calls["call"]], values[calls["call"]]),
        (of_all, "enter", EventType.COLLECTIVE_SEND_SIZE, calls["sent"][of_all]),
        (of_all, "enter", EventType.COLLECTIVE_RECEIVE_SIZE, calls["received"][of_all]),
        (of_all, "enter", EventType.COLLECTIVE_ROOT, calls["peer"][of_all] == rank),
        (of_all, "enter", EventType.COLLECTIVE_COMMUNICATOR, calls["comm"][of_all] + 1),
        (every, "exit", types[calls["call"]], 0),
    )
    parts = []
    for of, time, type_, value in columns:
        part = np.zeros(len(of), EVENT)
        part["time"], part["thread"], part["type"], part["value"] = calls[time][of], calls["thread"][of], type_, value
        parts.append(part)
    found = np.concatenate(parts)
    found["rank"] = rank
    return found[np.lexsort((np.concatenate([of for of, *_ in columns]), found["time"]))]  # a call after the one before


_NO_MESSAGES, _NO_REQUESTS = np.zeros(0, MESSAGE), np.zeros(0, REQUEST)
_EVER = 2**62


class CallTrace(Trace):
    """Trace whose calls, requests and messages are in memory.

    The time between the calls of a thread is computation. The main thread also computes before its first call and after
    its last one, from the begin to the end of the span of its rank.

    Args:
        path: Name of the trace's file.
        procedures: Names of the MPI procedures, to which `call` in CALL is an index.
        calls: CALL rows of each rank, in order of enter for each thread.
        messages: The matched messages (MESSAGE), in any order.
        requests: REQUEST rows of each rank, of calls that do not block. Empty: no requests.
        spans: Begin and end of each rank in ns. Empty: from the first to the last call of each rank.
        communicators: The communicators. Empty: MPI_COMM_WORLD only.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        procedures: Sequence[str],
        calls: Sequence[np.ndarray],
        messages: np.ndarray = _NO_MESSAGES,
        *,
        requests: Sequence[np.ndarray] = (),
        spans: Sequence[tuple[int, int]] = (),
        communicators: Sequence[Communicator] = (),
    ) -> None:
        self.path, self.procedures = os.fspath(path), tuple(procedures)
        self.size = len(calls)
        self._calls = [sort_rows(np.asarray(rows, CALL), "enter") for rows in calls]
        self._requests = list(requests) or [_NO_REQUESTS] * self.size
        self._messages = sort_rows(np.asarray(messages, MESSAGE), "logical_send", "source")
        self._spans = list(spans) or [_span(rows) for rows in self._calls]
        self.threads = np.array([int(rows["thread"].max(initial=0)) + 1 for rows in self._calls], np.int32)
        self.nodes = Nodes.on_one_node(self.size, int(self.threads.sum()))
        self.duration_ns = max((end for _, end in self._spans), default=0)
        self.communicators = tuple(communicators) or (Communicator(1, tuple(range(self.size)), name=WORLD),)
        self.problems: list[Problem] = []
        self.event_labels = {}
        self.origin = Origin(imported=True)
        states = [_states(rank, *self._of(rank), self.procedures) for rank in range(self.size)]
        self._states = sort_rows(np.concatenate([np.zeros(0, STATE), *states]), "begin", "rank", "thread")
        events = [call_events(rank, rows, self.procedures) for rank, rows in enumerate(self._calls)]
        self._events = sort_rows(np.concatenate([np.zeros(0, EVENT), *events]), "time", "rank", "thread")

    def _of(self, rank: int) -> tuple[np.ndarray, tuple[int, int]]:
        return self._calls[rank], self._spans[rank]

    def span(self, rank: int) -> tuple[int, int]:
        return self._spans[rank]

    def windows(self, records: int = 262144) -> np.ndarray:
        pieces = 1 + sum(map(len, self._calls)) // max(records, 1)
        return np.unique(np.linspace(0, self.duration_ns + 1, pieces + 1).astype(np.int64))

    def calls(self, rank: int, begin: int = 0, end: int | None = None) -> Iterator[np.ndarray]:
        yield _between(self._calls[rank], self._calls[rank]["enter"], begin, end)

    def requests(self, rank: int, begin: int = 0, end: int | None = None) -> Iterator[np.ndarray]:
        rows = self._requests[rank]
        started = is_one_of(rows["what"], STARTED)
        yield _between(rows, np.where(started, rows["posted"], rows["completed"]), begin, end)

    def states(self, begin: int = 0, end: int | None = None, ranks: range | None = None) -> np.ndarray:
        return _of_ranks(_between(self._states, self._states["begin"], begin, end), ranks)

    def events(self, begin: int = 0, end: int | None = None, ranks: range | None = None) -> np.ndarray:
        return _of_ranks(_between(self._events, self._events["time"], begin, end), ranks)

    def messages(self, begin: int = 0, end: int | None = None) -> np.ndarray:
        return _between(self._messages, self._messages["logical_send"], begin, end)


def _span(calls: np.ndarray) -> tuple[int, int]:
    return (int(calls["enter"].min()), int(calls["exit"].max())) if len(calls) else (0, 0)


def _between(rows: np.ndarray, time: np.ndarray, begin: int, end: int | None) -> np.ndarray:
    return rows[(time >= begin) & (time < (_EVER if end is None else end))]


def _of_ranks(rows: np.ndarray, ranks: range | None) -> np.ndarray:
    return rows if ranks is None else rows[(rows["rank"] >= ranks.start) & (rows["rank"] < ranks.stop)]


def _states(rank: int, calls: np.ndarray, span: tuple[int, int], procedures: Sequence[str]) -> np.ndarray:
    """Return the states (STATE) of the calls of a rank, and Running before, between and after them."""
    found = [call_states(rank, calls, procedures)]
    for thread in np.unique(np.append(calls["thread"], 0)).tolist():
        mine = calls[calls["thread"] == thread]
        begins, ends = mine["exit"], mine["enter"]
        if thread == 0:
            begins, ends = np.append(span[0], begins), np.append(ends, span[1])
        else:
            begins, ends = begins[:-1], ends[1:]
        found.append(running(rank, thread, begins, ends))
    return np.concatenate(found)
