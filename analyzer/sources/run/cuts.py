"""Time cut so that a stretch of it holds about so many calls, of one rank or of all."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise

import numpy as np

from analyzer.sources.lane.lane import Lane
from analyzer.sources.lane.windows import cut

Lanes = Mapping[int, list[Lane]]
"""Those of each rank that could be read."""

RECORDS = 262144
"""About how many calls a window holds."""

CALLS_A_BLOCK = 65536
"""About how many calls a block holds."""


class Cuts:
    """The cuts of a run that lasts `duration_ns`, each made once."""

    def __init__(self, lanes: Lanes, duration_ns: int) -> None:
        self._lanes, self._last = lanes, duration_ns + 1
        self._known: dict[tuple[int, int], np.ndarray] = {}

    def end(self, end: int | None) -> int:
        """`end`, or for None one behind the last instant."""
        return self._last if end is None else int(end)

    def windows(self, records: int = RECORDS, rank: int = -1) -> np.ndarray:
        """Windows of one rank, or (-1) of all."""
        if (rank, records) not in self._known:
            ranks = sorted(self._lanes) if rank < 0 else [rank]
            lanes = [lane for one in ranks for lane in self._lanes.get(one, ())]
            self._known[rank, records] = cut(lanes, records, self._last)
        return self._known[rank, records]

    def blocks(self, rank: int, begin: int, end: int | None) -> Iterator[tuple[int, int]]:
        """[begin, end) in parts of about CALLS_A_BLOCK calls of a rank."""
        stop = self.end(end)
        bounds = self.windows(CALLS_A_BLOCK, rank)
        inner = bounds[(bounds > begin) & (bounds < stop)].tolist()
        edges = [begin, *inner, stop]
        yield from pairwise(edges)
