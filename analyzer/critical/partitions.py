"""Partitioned messages: their data are there when the last MPI_Pready has handed them over, by whatever thread."""

from __future__ import annotations

import numpy as np

from analyzer.critical.dependences import Dependences
from analyzer.critical.timeline import Timeline
from analyzer.paraver import base_name
from analyzer.trace import Trace

HANDED = frozenset(("MPI_Pready", "MPI_Pready_range", "MPI_Pready_list"))
ARRIVED = "MPI_Parrived"
_KEY = ("rank", "peer", "comm", "tag")


class Partitions:
    """The calls that handed over parts of messages, and those that asked for them."""

    def __init__(self, trace: Trace, nodes: Timeline) -> None:
        names = [base_name(p) for p in trace.procedures]
        handed, asked = np.array([n in HANDED for n in names], bool), np.array([n == ARRIVED for n in names], bool)
        rows = nodes.noted[handed[nodes.noted["call"]]] if handed.any() else nodes.noted[:0]
        self._rows = rows[np.lexsort((rows["enter"], *(rows[column] for column in _KEY)))]
        self._node = nodes.entered(self._rows["rank"], self._rows["thread"], self._rows["enter"])
        self._asked = nodes.noted[asked[nodes.noted["call"]]] if len(rows) else rows
        self._nodes = nodes

    def senders(self, messages: np.ndarray, sender: np.ndarray, received: np.ndarray) -> np.ndarray:
        """The calls (node) that sent messages (MESSAGE): of partitioned ones the last that handed over some of it."""
        if not len(self._rows):
            return sender
        keys = [messages[name] for name in ("source", "destination", "comm", "tag")]
        at = self._last(keys, received)
        begun = np.where(at >= 0, self._rows["enter"][at], -1) >= messages["logical_send"]
        return np.where(begun, self._node[at], sender)

    def depend(self, found: Dependences) -> None:
        """Who asks waits for what was handed over last before it goes on."""
        rows = self._asked
        if not len(rows):
            return
        at = self._last([rows[name] for name in ("peer", "rank", "comm", "tag")], rows["exit"])
        asked = self._nodes.left(rows["rank"], rows["thread"], rows["exit"])
        found.add(np.where(at >= 0, asked, -1), self._node[at])

    def _last(self, keys: list[np.ndarray], until: np.ndarray) -> np.ndarray:
        """The last row with these keys (_KEY) that was entered until then; -1: none."""
        columns = [np.concatenate([self._rows[name], key]) for name, key in zip(_KEY, keys, strict=True)]
        time = np.concatenate([self._rows["enter"], until])
        is_row = np.arange(len(time)) < len(self._rows)
        order = np.lexsort((~is_row, time, *columns))
        last = np.maximum.accumulate(np.where(is_row[order], np.arange(len(order)), -1))
        at = np.full(len(order), -1)
        at[order] = np.where(last >= 0, order[last], -1)
        at = at[len(self._rows) :]
        alike = np.all([self._rows[name][at] == key for name, key in zip(_KEY, keys, strict=True)], axis=0)
        return np.where((at >= 0) & alike, at, -1)
