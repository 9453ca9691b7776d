"""Dependences by messages: receivers wait for senders, and senders of large messages for receivers."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from analyzer.critical.dependences import Dependences
from analyzer.critical.timeline import Timeline
from analyzer.metrics.requests import Posted
from analyzer.paraver import base_name
from analyzer.trace import Trace
from tracelib.schema import What

LEAST_EAGER = 1024
"""Bytes up to which no MPI lets a sender wait."""

_STANDARD = frozenset(("MPI_Send", "MPI_Sendrecv", "MPI_Sendrecv_replace"))
_BLOCKING = _STANDARD | {"MPI_Ssend", "MPI_Rsend"}
_SYNCHRONOUS = frozenset(("MPI_Ssend", "MPI_Issend"))
_BUFFERED = frozenset(("MPI_Bsend", "MPI_Ibsend"))


def add_messages(found: Dependences, trace: Trace, nodes: Timeline, eager_limit: int | None) -> int:
    """Add those of all messages between different threads; returns the eager limit.

    eager_limit: bytes up to which senders do not wait; None: as the run shows, the largest message whose sending call
    ended before its receive was posted.
    """
    sends = _Sends(trace, nodes)
    limit = sends.eager_limit() if eager_limit is None else eager_limit
    for window, (begin, end) in enumerate(pairwise(trace.windows().tolist())):
        messages, sender = sends.between(begin, end)
        received = np.maximum(messages["physical_receive"], messages["logical_receive"])
        receiver = nodes.left(messages["destination"], messages["destination_thread"], received)
        backwards = received < messages["logical_send"]
        found.contradictions += int(backwards.sum())
        found.add(np.where(backwards, -1, receiver), sender)
        sends.add_late_receivers(found, messages, sender, limit, window)
    return limit


class _Sends:
    """Messages with the calls that sent them, and those that completed the sends."""

    def __init__(self, trace: Trace, nodes: Timeline) -> None:
        self._trace, self._nodes = trace, nodes
        names = [base_name(p) for p in trace.procedures]
        self._is = {
            kind: np.array([*(name in kind for name in names), False], bool)
            for kind in (_STANDARD, _BLOCKING, _SYNCHRONOUS, _BUFFERED)
        }
        self._completions: dict[int, Posted] = {}

    def between(self, begin: int, end: int) -> tuple[np.ndarray, np.ndarray]:
        """The messages (MESSAGE) between different threads sent in a window, and the calls (node) that sent them."""
        rows = self._trace.messages(begin, end)
        own = (rows["source"] == rows["destination"]) & (rows["source_thread"] == rows["destination_thread"])
        rows = rows[~own]
        return rows, self._nodes.entered(rows["source"], rows["source_thread"], rows["logical_send"])

    def eager_limit(self) -> int:
        """The largest message that was sent before its receive was posted."""
        limit = LEAST_EAGER
        for begin, end in pairwise(self._trace.windows().tolist()):
            rows, sender = self.between(begin, end)
            gone = self._nodes.exit[sender] < rows["logical_receive"]
            proof = gone & (sender >= 0) & self._sent_by(_STANDARD, sender)
            limit = max(limit, int(rows["size"][proof].max(initial=0)))
        return limit

    def _sent_by(self, kind: frozenset[str], sender: np.ndarray) -> np.ndarray:
        return self._is[kind][np.where(sender >= 0, self._nodes.call[sender], -1)]

    def add_late_receivers(
        self, found: Dependences, rows: np.ndarray, sender: np.ndarray, limit: int, window: int
    ) -> None:
        """Senders of what is larger than `limit`, or sent synchronously, wait until the receive is posted."""
        waits = ((rows["size"] > limit) | self._sent_by(_SYNCHRONOUS, sender)) & ~self._sent_by(_BUFFERED, sender)
        rows, sender = rows[waits], sender[waits]
        posted = self._nodes.entered(rows["destination"], rows["destination_thread"], rows["logical_receive"])
        posted = np.where(self._nodes.enter[posted] == rows["logical_receive"], posted, -1)
        sink = np.where(self._sent_by(_BLOCKING, sender), sender, self._completed(rows, sender, window))
        in_time = (sink >= 0) & (posted >= 0) & (self._nodes.exit[sink] >= self._nodes.enter[posted])
        found.add(np.where(in_time, sink, -1), posted)

    def _completed(self, rows: np.ndarray, sender: np.ndarray, window: int) -> np.ndarray:
        """The calls (node) that completed sends that were started, -1: none did."""
        found = np.full(len(rows), -1, np.int64)
        started = (sender >= 0) & ~self._sent_by(_BLOCKING, sender)
        for rank in np.unique(rows["source"][started]).tolist():
            if rank not in self._completions:
                self._completions[rank] = Posted(self._trace, rank, self._trace.windows(), (What.SEND_DONE,))
            done = self._completions[rank].window(window)
            mine = np.flatnonzero(started & (rows["source"] == rank))
            names = ("logical_send", "destination", "tag"), ("posted", "peer", "tag")
            at = _first_alike([rows[n][mine] for n in names[0]], [done[n] for n in names[1]])
            mine, at = mine[at >= 0], at[at >= 0]
            found[mine] = self._nodes.left(np.full(len(at), rank), done["thread"][at], done["completed"][at])
        return found


def _first_alike(left: list[np.ndarray], right: list[np.ndarray]) -> np.ndarray:
    """For each row of the columns `left` the first alike of the columns `right`; -1: there is none."""
    columns = [np.concatenate(pair).astype(np.int64) for pair in zip(left, right, strict=True)]
    order = np.lexsort(columns)
    changed = np.zeros(len(order), bool)
    for column in columns:
        changed[1:] |= np.diff(column[order]) != 0
    number = np.empty(len(order), np.int64)
    number[order] = np.cumsum(changed)
    wanted, there = number[: len(left[0])], number[len(left[0]) :]
    place = np.argsort(there, kind="stable")
    at = np.searchsorted(there[place], wanted)
    alike = at < len(there)
    alike[alike] = there[place[at[alike]]] == wanted[alike]
    return np.where(alike, place[at.clip(max=max(len(there) - 1, 0))], -1) if len(there) else np.full(len(wanted), -1)
