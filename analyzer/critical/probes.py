"""Calls that found a message before it was received: they waited until it was sent."""

from __future__ import annotations

import numpy as np

from analyzer.critical.dependences import Dependences
from analyzer.critical.timeline import Timeline
from analyzer.trace import Trace
from tracelib.schema.procedures import PROBES, base_name

_KEY = ("rank", "comm", "peer", "tag")


class Probes:
    """The probes of a trace that found something."""

    def __init__(self, trace: Trace, nodes: Timeline) -> None:
        is_probe = np.array([base_name(p) in PROBES for p in trace.procedures], bool)
        rows = nodes.noted[is_probe[nodes.noted["call"]]] if is_probe.any() else nodes.noted[:0]
        self._rows = rows[(rows["peer"] >= 0) & (rows["count"] == 1)]
        self._node = nodes.left(self._rows["rank"], self._rows["thread"], self._rows["exit"])
        self._parts: list[np.ndarray] = []
        self._senders: list[np.ndarray] = []

    def add(self, messages: np.ndarray, sender: np.ndarray) -> None:
        """Messages (MESSAGE) and the calls (node) that sent them."""
        if len(self._rows):
            probed = np.isin(messages["destination"], self._rows["rank"])
            self._parts.append(messages[probed])
            self._senders.append(sender[probed])

    def depend(self, found: Dependences) -> None:
        """A probe waits for the message that is received next of those with its communicator, source and tag."""
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
