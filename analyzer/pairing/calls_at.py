"""Which calls threads were in at a time."""

from __future__ import annotations

import numpy as np

from analyzer.columns.sorted_rows import Sorted
from analyzer.pairing.parts import RankRows


class CallsAt:
    """The calls (CALL) of some ranks, each rank's in order of enter."""

    def __init__(self, calls: RankRows) -> None:
        self.rows = calls.rows
        self._threads = 1 + int(calls.rows["thread"].max(initial=0))
        rank, enter = calls.rank, calls.rows["enter"]
        self._order: np.ndarray | None = None  # those of one thread each are in order
        if self._threads > 1:
            rank = rank * self._threads + calls.rows["thread"]
            self._order = np.lexsort((enter, rank))
            rank, enter = rank[self._order], enter[self._order]
        self._sorted = Sorted(rank, enter)

    def last_begun(self, rank: np.ndarray, thread: np.ndarray, time_ns: np.ndarray) -> np.ndarray:
        """The last call (row) that each thread had begun at a time, whether or not it was over by then; -1: none."""
        known = thread < self._threads
        lane = np.where(known, rank.astype(np.int64) * self._threads + thread, 0)
        at = self._sorted.at_or_before(lane, time_ns)
        at[~known] = -1
        if self._order is not None:
            at[at >= 0] = self._order[at[at >= 0]]
        return at
