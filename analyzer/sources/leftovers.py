"""Sends without a receive and the reverse, summed as they are found, so that their number does not matter."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from analyzer.parallel import Team
from analyzer.trace import Unmatched

_SIDES = ("receive", "send")
_KEY = ["rank", "is_send", "call", "peer", "tag", "comm"]


class Leftovers:
    """Counts and bytes by rank, side, call, peer, tag and communicator."""

    def __init__(self) -> None:
        self._table = pd.DataFrame(columns=[*_KEY, "bytes", "count"], dtype=np.int64)

    def add(self, ranks: np.ndarray, is_send: bool, halves: np.ndarray) -> None:
        """Halves (HALF) of the given ranks that have no other side."""
        if len(halves):
            columns = {name: halves[name].astype(np.int64) for name in ("call", "peer", "tag", "comm", "bytes")}
            new = pd.DataFrame({"rank": ranks.astype(np.int64), "is_send": int(is_send), **columns, "count": 1})
            self._sum([self._table, new])

    def merge(self, team: Team) -> None:
        """Give every member what all have found."""
        self._sum(team.allgather(self._table))

    def _sum(self, tables: Sequence[pd.DataFrame]) -> None:
        self._table = pd.concat(tables).groupby(_KEY, as_index=False).sum()

    def table(self, procedures: Sequence[str]) -> list[Unmatched]:
        """The sums in order of the key."""
        return [
            Unmatched(
                rank, _name(procedures, call, is_send), max(peer, -1), tag, comm, size, count, _SIDES[int(is_send)]
            )
            for rank, is_send, call, peer, tag, comm, size, count in self._table.itertuples(index=False)
        ]


def _name(procedures: Sequence[str], call: int, is_send: int) -> str:
    """Name of the posting call; one whose own row was lost is called by the kind of what it posted."""
    if call >= 0:
        return procedures[call]
    return "MPI_Start" if is_send else "MPI_Irecv"
