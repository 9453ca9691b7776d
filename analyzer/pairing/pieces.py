"""What some ranks did cut into pieces, and rows put aside until the piece that they belong to is looked at."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from analyzer.columns.spill import Spill
from analyzer.pairing.parts import RECORDS, window_of
from analyzer.trace import Trace


class Pieces:
    """Stretches of time of some ranks, those of a rank in order of time: `all` has (ranks, begin, end) of each.

    Neighbours that made few calls are one piece with their whole time, so that each rank is looked at once.
    """

    def __init__(self, trace: Trace, ranks: range) -> None:
        self.ranks, groups = ranks, list(trace.parts(ranks, RECORDS))
        self.all = [(some, begin, end) for some, bounds in groups for begin, end in pairwise(bounds.tolist())]
        self._first_rank = np.array([some.start for some, _ in groups], np.int64)
        self._bounds = [bounds for _, bounds in groups]
        self._before = np.concatenate([[0], np.cumsum([len(bounds) - 1 for bounds in self._bounds])]).astype(np.int64)

    def of(self, rank: np.ndarray, time: np.ndarray) -> np.ndarray:
        """Number of the piece of each (rank, time)."""
        group = np.searchsorted(self._first_rank, rank, side="right") - 1
        number = self._before[group]
        for one in np.unique(group).tolist():
            if len(self._bounds[one]) > 2:
                mine = group == one
                number[mine] += window_of(self._bounds[one], time[mine])
        return number

    def put_aside(self, spill: Spill, rows: np.ndarray, rank: np.ndarray, time: np.ndarray) -> None:
        """Append rows under the numbers of their pieces."""
        spill.append_each(self.of(rank, time), rows)
