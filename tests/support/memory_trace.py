"""A trace of a few lines held in memory, whose numbers a person gets by hand."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from analyzer.trace import (
    CALL,
    EVENT,
    FLUSH,
    MESSAGE,
    REQUEST,
    STATE,
    Communicator,
    Leftovers,
    Losses,
    Nodes,
    Origin,
    Regions,
    State,
    Trace,
    TracerTime,
    Unmatched,
)
from tracelib.schema import RequestKind

NONE = -1


class MemoryTrace(Trace):
    """Built from `calls[rank] = [(procedure, enter, exit, {column: value}), ...]` and rows of the other tables.

    Running is the time outside MPI from `spans[rank][0]` to `spans[rank][1]` less flushes, or what
    `states` (rows of STATE as (begin, end, rank, thread, state)) say.
    """

    def __init__(
        self, calls, *, requests=None, flushes=None, messages=(), states=None, spans=None, communicators=None,
        tracer_times=True, duration_ns=None, nodes=("node",), node_of=None, window=None, unmatched=(), problems=(),
        unrecorded=None, events=(),
    ):  # fmt: skip
        self.path = "memory.h5"
        self.size = len(calls)
        self.nodes = Nodes(
            tuple(nodes), tuple(1 for _ in nodes), np.array(node_of if node_of is not None else [0] * self.size)
        )
        self.threads = np.ones(self.size, int)
        everyone = tuple(range(self.size))
        self.communicators = communicators or (Communicator(1, everyone, name="MPI_COMM_WORLD"),)
        self.procedures = tuple(sorted({name for rows in calls for name, *_ in rows}))
        self.problems = list(problems)
        self.origin = Origin(tracer_times=tracer_times)
        self.event_labels = {}
        self._window = window
        self._calls = [self._call_array(rows) for rows in calls]
        self._requests = [request_array((requests or {}).get(r, ())) for r in everyone]
        self._flushes = [flush_array((flushes or {}).get(r, ())) for r in everyone]
        self._unrecorded = [flush_array((unrecorded or {}).get(r, ())) for r in everyone]
        ends = [int(c["exit"].max()) if len(c) else 0 for c in self._calls]
        self._spans = list(spans) if spans else [(0, end) for end in ends]
        self.duration_ns = duration_ns if duration_ns is not None else max((e for _, e in self._spans), default=0)
        self._messages = message_array(messages)
        self._events = event_array(events)
        self.put(
            TracerWrote(of_rank=self._flushes),
            NotRecorded(of_rank=self._unrecorded),
            LeftOver(found=list(unmatched)),
            Noted(of_all=self._events),
        )
        self._states = self._running() if states is None else state_array(states)

    def _call_array(self, rows) -> np.ndarray:
        array = np.zeros(len(rows), CALL)
        for row, (name, enter, exit_, values) in zip(array, rows, strict=True):
            row["enter"], row["exit"], row["call"] = enter, exit_, self.procedures.index(name)
            row["comm"], row["peer"], row["tag"], row["count"], row["inside"] = NONE, NONE, NONE, 1, exit_ - enter
            for column, value in values.items():
                row[column] = value
        return array

    def _running(self) -> np.ndarray:
        rows = []
        for rank, calls in enumerate(self._calls):
            busy = [(int(c["enter"]), int(c["exit"])) for c in calls]
            hidden = np.concatenate([self._flushes[rank], self._unrecorded[rank]])
            busy += [(int(f["begin"]), int(f["end"])) for f in hidden]
            begin, last = self._spans[rank]
            for enter, leave in [*sorted(busy), (last, last)]:
                if enter > begin:
                    rows.append((begin, enter, rank, 0, State.RUNNING))
                begin = max(begin, leave)
        return state_array(sorted(rows))

    def span(self, rank: int) -> tuple[int, int]:
        return self._spans[rank]

    def windows(self, records: int = 262144) -> np.ndarray:
        step = self._window or self.duration_ns + 1
        return np.arange(0, self.duration_ns + step + 1, step)

    def calls(self, rank: int, begin: int = 0, end: int | None = None) -> Iterator[np.ndarray]:
        yield _between(self._calls[rank], self._calls[rank]["enter"], begin, end)

    def requests(self, rank: int, begin: int = 0, end: int | None = None) -> Iterator[np.ndarray]:
        rows = self._requests[rank]
        started = np.isin(rows["what"], (RequestKind.SEND_STARTED, RequestKind.RECV_STARTED))
        yield _between(rows, np.where(started, rows["posted"], rows["completed"]), begin, end)

    def states(self, begin: int = 0, end: int | None = None, ranks: range | None = None) -> np.ndarray:
        rows = _between(self._states, self._states["begin"], begin, end)
        return rows if ranks is None else rows[np.isin(rows["rank"], ranks)]

    def events(self, begin: int = 0, end: int | None = None, ranks: range | None = None) -> np.ndarray:
        return _between(self._events, self._events["time"], begin, end)

    def messages(self, begin: int = 0, end: int | None = None) -> np.ndarray:
        return _between(self._messages, self._messages["logical_send"], begin, end)


@dataclass(frozen=True, kw_only=True)
class TracerWrote(TracerTime):
    of_rank: list[np.ndarray]

    def flushes(self, rank: int) -> np.ndarray:
        return self.of_rank[rank]


@dataclass(frozen=True, kw_only=True)
class NotRecorded(Losses):
    of_rank: list[np.ndarray]

    def unrecorded(self, rank: int) -> np.ndarray:
        return self.of_rank[rank]


@dataclass(frozen=True, kw_only=True)
class LeftOver(Leftovers):
    found: list[Unmatched]

    def unmatched(self) -> list[Unmatched]:
        return self.found


@dataclass(frozen=True, kw_only=True)
class Noted(Regions):
    of_all: np.ndarray

    def events(self, rank: int, begin: int = 0, end: int | None = None) -> np.ndarray:
        rows = _between(self.of_all, self.of_all["time"], begin, end)
        return rows[rows["rank"] == rank]


def _between(rows: np.ndarray, time: np.ndarray, begin: int, end: int | None) -> np.ndarray:
    return rows[(time >= begin) & (time < (end if end is not None else 2**62))]


def request_array(rows) -> np.ndarray:
    """Rows (what, posted, completed, bytes, peer, tag, comm)."""
    array = np.zeros(len(rows), REQUEST)
    for row, values in zip(array, rows, strict=True):
        for column, value in zip(("what", "posted", "completed", "bytes", "peer", "tag", "comm"), values, strict=True):
            row[column] = value
    return array


def flush_array(rows) -> np.ndarray:
    """Rows (begin, end)."""
    return np.array([(b, e, 0, State.IO) for b, e in rows], FLUSH)


def message_array(rows) -> np.ndarray:
    """Rows (source, destination, size, tag, logical_send, physical_receive)."""
    array = np.zeros(len(rows), MESSAGE)
    for row, (source, destination, size, tag, send, receive) in zip(array, rows, strict=True):
        row["source"], row["destination"], row["size"], row["tag"] = source, destination, size, tag
        row["logical_send"] = row["physical_send"] = send
        row["logical_receive"] = row["physical_receive"] = receive
    return array


def event_array(rows) -> np.ndarray:
    """Rows (time, value, type, rank, thread)."""
    return np.array([(*row, 0) for row in sorted(rows, key=lambda row: row[0])], EVENT)


def state_array(rows) -> np.ndarray:
    """Rows (begin, end, rank, thread, state)."""
    return np.array([(*row, 0) for row in rows], STATE)
