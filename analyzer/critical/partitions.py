"""Dependences by partitioned messages: receivers, and who asks for a part, wait for those that hand over."""

from __future__ import annotations

import numpy as np

from analyzer.critical.dependences import Dependences
from analyzer.critical.timeline import Timeline
from analyzer.pairing.requests import Handed
from analyzer.trace import Trace
from tracelib.schema.procedures import ARRIVED, HANDED_OVER, base_name


class Partitions:
    """The calls that handed over parts of messages, and those that asked for them."""

    def __init__(self, trace: Trace, nodes: Timeline) -> None:
        names = [base_name(p) for p in trace.procedures]
        handed, asked = np.array([n in HANDED_OVER for n in names], bool), np.array([n in ARRIVED for n in names], bool)
        self._handed = Handed(nodes.noted[handed[nodes.noted["call"]]] if handed.any() else nodes.noted[:0])
        rows = self._handed.rows
        self._node = nodes.entered(rows["rank"], rows["thread"], rows["enter"])
        self._asked = nodes.noted[asked[nodes.noted["call"]]] if len(rows) else rows
        self._nodes = nodes

    def senders(self, messages: np.ndarray, sender: np.ndarray) -> np.ndarray:
        """The calls (node) that sent messages (MESSAGE): of partitioned ones the last that handed over some of it."""
        if not len(self._handed):
            return sender
        at = self._handed.completing(messages)
        return np.where(at >= 0, self._node[at], sender)

    def depend(self, found: Dependences) -> None:
        """Who asks waits for what was handed over last before it goes on."""
        rows = self._asked
        if not len(rows):
            return
        at = self._handed.last([rows[name] for name in ("peer", "rank", "comm", "tag")], rows["exit"])
        asked = self._nodes.left(rows["rank"], rows["thread"], rows["exit"])
        found.add(np.where(at >= 0, asked, -1), self._node[at])
