"""Partitioned messages: their data are there when the last MPI_Pready has handed them over, by whatever thread."""

from __future__ import annotations

import numpy as np

_KEY = ("rank", "peer", "comm", "tag")


class Handed:
    """The calls that handed over parts of messages: `rows`, with the columns of CALL and `rank`."""

    def __init__(self, rows: np.ndarray) -> None:
        self.rows = rows[np.lexsort((rows["enter"], *(rows[column] for column in _KEY)))]

    def __len__(self) -> int:
        return len(self.rows)

    def completing(self, messages: np.ndarray) -> np.ndarray:
        """For each message (MESSAGE) the row that handed over its last part before it was received; -1: it is not
        partitioned."""
        received = np.maximum(messages["physical_receive"], messages["logical_receive"])
        at = self.last([messages[name] for name in ("source", "destination", "comm", "tag")], received)
        begun = np.where(at >= 0, self.rows["enter"][at], -1) >= messages["logical_send"] if len(self) else at >= 0
        return np.where(begun, at, -1)

    def last(self, keys: list[np.ndarray], until: np.ndarray) -> np.ndarray:
        """The last row with these keys (rank, peer, comm, tag) that was entered until then; -1: none."""
        if not len(self):
            return np.full(len(until), -1)
        columns = [np.concatenate([self.rows[name], key]) for name, key in zip(_KEY, keys, strict=True)]
        time = np.concatenate([self.rows["enter"], until])
        is_row = np.arange(len(time)) < len(self.rows)
        order = np.lexsort((~is_row, time, *columns))
        last = np.maximum.accumulate(np.where(is_row[order], np.arange(len(order)), -1))
        at = np.full(len(order), -1)
        at[order] = np.where(last >= 0, order[last], -1)
        at = at[len(self.rows) :]
        alike = np.all([self.rows[name][at] == key for name, key in zip(_KEY, keys, strict=True)], axis=0)
        return np.where((at >= 0) & alike, at, -1)
