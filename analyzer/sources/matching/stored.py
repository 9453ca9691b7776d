"""Ranks whose rows the kernel reads itself to match messages, many of them in one go."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from analyzer._kernels import lib
from analyzer.columns.spill import Spill
from analyzer.native import pointer
from analyzer.sources.lane.stored import StoredLanes
from tracelib import schema

LATE = np.dtype([("row", schema.REQUEST), ("rank", "<i4"), ("window", "<i4")])
"""`struct late_request` of the kernel: a row that belongs to an earlier window than it lies in, and that window."""

_MOST_RANKS = 1024
"""So many are handed over together."""


class StoredRanks:
    """Hands a matcher what ranks did, window by window; all ranks must be handed over in each."""

    def __init__(self, matcher: Any, lanes: StoredLanes, ranks: Iterable[int], bounds: np.ndarray, size: int) -> None:
        """`ranks`: those that may be read so, ascending; `bounds`: of the windows (ns)."""
        self._matcher, self._lanes, self._size = matcher, lanes, size
        least, most = np.iinfo(np.int64).min, np.iinfo(np.int64).max
        self._bounds = np.array([least, *bounds[1:-1].tolist(), most], np.int64)
        self._taken = np.zeros((size, 2), np.int64)  # rows of calls and of requests
        self._late = Spill(LATE)  # by window * size + first rank of the group
        self.groups = list(self._grouped(ranks))
        """Neighbours that are handed over together. What is in none of them is to be read otherwise."""

    def add(self, group: range, window: int, most: int) -> Iterator[tuple[int, np.ndarray] | None]:
        """Hand over what a group did in a window. Yields None whenever more than `most` messages are complete, and a
        rank that is unusual and was not added, with its rows of requests that lie in later windows."""
        late = self._late.read(window * self._size + group.start)
        begin, end = self._bounds[window : window + 2].tolist()
        at = group.start
        while at < group.stop:
            stored = self._lanes.of(range(at, group.stop))
            assert stored is not None
            added = lib.match_add_lanes(
                self._matcher, stored.structs, group.stop - at, pointer(self._taken[at:], "int64_t *"), begin, end,
                pointer(late), len(late), most,
            )  # fmt: skip
            if added < 0:
                raise MemoryError
            at += added
            if lib.match_found(self._matcher) > most:
                yield None
            elif at < group.stop:
                yield at, late["row"].compress(late["rank"] == at)
                at += 1

    def close(self) -> None:
        """Nothing more is handed over."""
        self._late.close()

    def _grouped(self, ranks: Iterable[int]) -> Iterator[range]:
        for run in _runs(np.fromiter(ranks, np.int64)):
            for stored in _runs(run.start + np.flatnonzero(self._lanes.are(run))):
                while stored:
                    read = self._find_late(stored)
                    if read:
                        yield stored[:read]
                    stored = stored[read + 1 :]

    def _find_late(self, ranks: range) -> int:
        """Put rows aside that belong to an earlier window than they lie in. Returns how many ranks could be read."""
        stored, windows = self._lanes.of(ranks), len(self._bounds) - 1
        assert stored is not None
        if windows == 1:
            return len(ranks)
        read = lib.match_find_late(
            self._matcher, stored.structs, len(ranks), pointer(self._bounds, "int64_t *"), windows
        )
        if read < 0:
            raise MemoryError
        late = np.empty(lib.match_late_found(self._matcher), LATE)
        lib.match_take_late(self._matcher, pointer(late))
        self._late.append_each(late["window"] * np.int64(self._size) + ranks.start, late)
        return int(read)


def _runs(ranks: np.ndarray) -> Iterator[range]:
    """Neighbours together, _MOST_RANKS at most."""
    for run in np.split(ranks, np.flatnonzero(np.diff(ranks) != 1) + 1):
        for first in range(0, len(run), _MOST_RANKS):
            some = run[first : first + _MOST_RANKS]
            yield range(int(some[0]), int(some[-1]) + 1)
