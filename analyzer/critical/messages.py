"""Dependences by messages: receivers wait for senders, and senders of large messages wait for receivers.

Partitioned messages: receivers, and calls that ask for a part, wait for the calls that hand over parts. Probes that
found a message before it was received waited until it was sent.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from analyzer.columns.spill import Spill
from analyzer.critical.dependences import Dependences
from analyzer.critical.thread_nodes import NodeTimeline
from analyzer.metrics.eager import LEAST_EAGER, EagerLimit
from analyzer.pairing.parts import Part, Pieces, parts
from analyzer.pairing.requests import Handed
from analyzer.trace import MESSAGE, Trace
from tracelib.schema import RequestKind
from tracelib.schema.procedures import (
    ARRIVED,
    BUFFERED_SENDS,
    HANDED_OVER,
    PROBES,
    SYNCHRONOUS_SENDS,
    WAITING_SENDS,
    base_name,
)


class Partitions:
    """The calls that handed over parts of messages, and the calls that asked whether parts had arrived."""

    def __init__(self, trace: Trace, nodes: NodeTimeline) -> None:
        names = [base_name(p) for p in trace.procedures]
        handed, asked = np.array([n in HANDED_OVER for n in names], bool), np.array([n in ARRIVED for n in names], bool)
        self._handed = Handed(nodes.noted[handed[nodes.noted["call"]]] if handed.any() else nodes.noted[:0])
        rows = self._handed.rows
        self._node = nodes.entered(rows["rank"], rows["thread"], rows["enter"])
        self._asked = nodes.noted[asked[nodes.noted["call"]]] if len(rows) else rows
        self._nodes = nodes

    def senders(self, messages: np.ndarray, sender: np.ndarray) -> np.ndarray:
        """Return the call (node) that sent each message.

        For a partitioned message, it is the last that handed over a part.

        Args:
            messages: The messages (MESSAGE).
            sender: Call (node) that is known to have sent each message; it is kept for other messages.
        """
        if not len(self._handed):
            return sender
        at = self._handed.completing(messages)
        return np.where(at >= 0, self._node[at], sender)

    def depend(self, found: Dependences) -> None:
        """Add dependences of the calls that asked for a part on the last call that handed over parts before them."""
        rows = self._asked
        if not len(rows):
            return
        at = self._handed.last([rows[name] for name in ("peer", "rank", "comm", "tag")], rows["exit"])
        asked = self._nodes.left(rows["rank"], rows["thread"], rows["exit"])
        found.add(np.where(at >= 0, asked, -1), self._node[at])


_KEY = ("rank", "comm", "peer", "tag")


class Probes:
    """The probes of a trace that found a message."""

    def __init__(self, trace: Trace, nodes: NodeTimeline) -> None:
        is_probe = np.array([base_name(p) in PROBES for p in trace.procedures], bool)
        rows = nodes.noted[is_probe[nodes.noted["call"]]] if is_probe.any() else nodes.noted[:0]
        self._rows = rows[(rows["peer"] >= 0) & (rows["count"] == 1)]
        self._node = nodes.left(self._rows["rank"], self._rows["thread"], self._rows["exit"])
        self._parts: list[np.ndarray] = []
        self._senders: list[np.ndarray] = []

    def add(self, messages: np.ndarray, sender: np.ndarray) -> None:
        """Add messages (MESSAGE) and the calls (node) that sent them."""
        if len(self._rows):
            probed = np.isin(messages["destination"], self._rows["rank"])
            self._parts.append(messages[probed])
            self._senders.append(sender[probed])

    def depend(self, found: Dependences) -> None:
        """Add the dependence of each probe on the send of the message that it found.

        This is the next message received with the same communicator, source and tag.
        """
        if not len(self._rows) or not self._parts:
            return
        messages, sender = np.concatenate(self._parts), np.concatenate(self._senders)
        names = ("destination", "comm", "source", "tag")
        columns = [np.concatenate([messages[m], self._rows[p]]) for m, p in zip(names, _KEY, strict=True)]
        time = np.concatenate([messages["logical_receive"], self._rows["enter"]])
        is_probe = np.arange(len(time)) >= len(messages)
        order = np.lexsort((~is_probe, time, *columns))  # MPI_Mprobe itself counts as posting the receive
        is_message = ~is_probe[order]
        following = np.where(is_message, np.arange(len(order)), len(order))
        following = np.minimum.accumulate(following[::-1])[::-1]
        probes = np.flatnonzero(~is_message & (following < len(order)))
        one, other = order[probes], order[following[probes]]
        alike = np.all([column[one] == column[other] for column in columns], axis=0)
        probe = one[alike] - len(messages)
        in_time = messages["logical_send"][other[alike]] <= self._rows["exit"][probe]
        found.add(np.where(in_time, self._node[probe], -1), sender[other[alike]])


_SENT = (RequestKind.SEND_DONE, RequestKind.PARTITIONED_SEND_DONE)

_SENT_MESSAGE = np.dtype([("message", MESSAGE), ("sender", "<i8")])
"""A message, and the call (node) that sent it; -1: unknown."""


def add_messages(found: Dependences, trace: Trace, nodes: NodeTimeline, eager_limit: int | None) -> int:
    """Add the dependences by all messages between different threads.

    Args:
        found: Gets the dependences.
        trace: The trace.
        nodes: The nodes of the trace.
        eager_limit: Bytes up to which senders do not wait. None: taken from the run, as the largest message whose
            sending call ended before its receive was posted.

    Returns:
        The eager limit that was used, in bytes.
    """
    sends, probes, partitions = _Sends(trace, nodes, eager_limit), Probes(trace, nodes), Partitions(trace, nodes)
    for window, (begin, end) in enumerate(pairwise(trace.windows().tolist())):
        messages, begun = sends.between(begin, end)
        received = np.maximum(messages["physical_receive"], messages["logical_receive"])
        receiver = nodes.left(messages["destination"], messages["destination_thread"], received)
        sender = partitions.senders(messages, begun)
        backwards = received < messages["logical_send"]
        found.contradictions += int(backwards.sum())
        found.add(np.where(backwards, -1, receiver), sender)
        probes.add(messages, sender)
        sends.keep(messages, begun, window)
        nodes.forget()
    probes.depend(found)
    partitions.depend(found)
    return sends.add_late_receivers(found)


class _Sends:
    """Messages with the calls that sent them, and the calls that completed the sends."""

    def __init__(self, trace: Trace, nodes: NodeTimeline, eager_limit: int | None) -> None:
        self._trace, self._nodes, self._limit = trace, nodes, eager_limit
        self._shows = EagerLimit(trace)
        self._kept = Spill(_SENT_MESSAGE)  # by window
        names = [base_name(p) for p in trace.procedures]
        self._is = {
            kind: np.array([*(name in kind for name in names), False], bool)
            for kind in (WAITING_SENDS, SYNCHRONOUS_SENDS, BUFFERED_SENDS)
        }

    def between(self, begin: int, end: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the messages (MESSAGE) between different threads in a window, and the calls (node) that sent them."""
        rows = self._trace.messages(begin, end)
        own = (rows["source"] == rows["destination"]) & (rows["source_thread"] == rows["destination_thread"])
        rows = rows[~own]
        return rows, self._nodes.entered(rows["source"], rows["source_thread"], rows["logical_send"])

    def _sent_by(self, kind: frozenset[str], sender: np.ndarray) -> np.ndarray:
        return self._is[kind][np.where(sender >= 0, self._nodes.call[sender], -1)]

    def keep(self, rows: np.ndarray, sender: np.ndarray, window: int) -> None:
        """Keep the messages whose senders may have waited for the receive; update the eager limit that is shown."""
        call = np.where(sender >= 0, self._nodes.call[sender], -1)
        self._shows.look(rows, call, self._nodes.exit[sender])
        least = LEAST_EAGER if self._limit is None else self._limit
        waits = ((rows["size"] > least) | self._sent_by(SYNCHRONOUS_SENDS, sender)) & ~self._sent_by(
            BUFFERED_SENDS, sender
        )
        kept = np.empty(int(waits.sum()), _SENT_MESSAGE)
        kept["message"], kept["sender"] = rows[waits], sender[waits]
        self._kept.append(window, kept)

    def add_late_receivers(self, found: Dependences) -> int:
        """Make senders wait for the post of the receive, where the send is synchronous or exceeds the eager limit.

        Returns the limit in bytes.
        """
        limit = self._shows.shown if self._limit is None else self._limit
        pieces, started = Pieces(self._trace, range(self._trace.size)), Spill(_SENT_MESSAGE)
        for window in range(len(self._trace.windows()) - 1):
            kept = self._kept.read(window)
            waits = (kept["message"]["size"] > limit) | self._sent_by(SYNCHRONOUS_SENDS, kept["sender"])
            kept = kept.compress(waits & (kept["sender"] >= 0))
            blocking = self._sent_by(WAITING_SENDS, kept["sender"])
            self._add_late_receivers(found, kept.compress(blocking), kept["sender"][blocking])
            kept = kept.compress(~blocking)
            pieces.put_aside(started, kept, kept["message"]["source"], kept["message"]["logical_send"])
        for number, part in enumerate(parts(self._trace, pieces.ranks)):
            if len(kept := started.read(number)):
                self._add_late_receivers(found, kept, self._completed(part, kept["message"]))
        for spill in (self._kept, started):
            spill.close()
        return limit

    def _add_late_receivers(self, found: Dependences, kept: np.ndarray, sink: np.ndarray) -> None:
        """Add dependences of the calls that waited (`sink`, node) on the posts of the receives of their messages."""
        rows = kept["message"]
        posted = self._nodes.entered(rows["destination"], rows["destination_thread"], rows["logical_receive"])
        posted = np.where(self._nodes.enter[posted] == rows["logical_receive"], posted, -1)
        in_time = (sink >= 0) & (posted >= 0) & (self._nodes.exit[sink] >= self._nodes.enter[posted])
        found.add(np.where(in_time, sink, -1), posted)
        self._nodes.forget()

    def _completed(self, part: Part, started: np.ndarray) -> np.ndarray:
        """Return the calls (node) that completed the sends (MESSAGE) started in a part; -1: none."""
        rank, done = part.posted(_SENT)
        names = ("logical_send", "destination", "tag"), ("posted", "peer", "tag")
        sent = [started["source"], *(started[name] for name in names[0])]
        at = _first_alike(sent, [rank, *(done[name] for name in names[1])])
        found, known = np.full(len(started), -1, np.int64), at >= 0
        of = done.take(at[known])
        found[known] = self._nodes.left(started["source"][known], of["thread"], of["completed"])
        return found


def _first_alike(left: list[np.ndarray], right: list[np.ndarray]) -> np.ndarray:
    """Return for each row of the columns `left` the first equal row of the columns `right`; -1: none."""
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
