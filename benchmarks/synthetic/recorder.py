"""The rows of all ranks, added step by step for many ranks at once, and taken out rank by rank."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tracelib import schema

Parts = list[tuple[np.ndarray, np.ndarray]]


class Recorder:
    """Rows of `calls` and `requests`; times in ns. What is added of a rank is later than what it has."""

    def __init__(self, ranks: int) -> None:
        self.ranks = ranks
        self._calls: Parts = []
        self._requests: Parts = []

    def add_calls(self, ranks: np.ndarray, rows: np.ndarray) -> None:
        """Add `rows` (n) of the ranks (n), which ascend; rows of the same rank are in order of time."""
        self._calls.append((ranks, rows))

    def add_requests(self, ranks: np.ndarray, rows: np.ndarray) -> None:
        """Add requests in the order in which calls completed them."""
        self._requests.append((ranks, rows))

    def take(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield the rows of `calls` and of `requests` of each rank. They are forgotten then."""
        calls, first_call = _by_rank(self._calls, self.ranks, schema.CALL)
        requests, first_request = _by_rank(self._requests, self.ranks, schema.REQUEST)
        for rank in range(self.ranks):
            yield (
                calls[first_call[rank] : first_call[rank + 1]],
                requests[first_request[rank] : first_request[rank + 1]],
            )


def _by_rank(parts: Parts, size: int, dtype: np.dtype) -> tuple[np.ndarray, np.ndarray]:
    """Return all rows in the order of ranks, and the first of each (size + 1); empties `parts`."""
    first = np.zeros(size + 1, np.int64)
    for ranks, _ in parts:
        first[1:] += np.bincount(ranks, minlength=size)
    first = first.cumsum()
    rows, cursor = np.empty(first[-1], dtype), first.copy()
    for number, (ranks, new) in enumerate(parts):
        starts = np.flatnonzero(np.diff(ranks, prepend=-1))
        lengths = np.diff(starts, append=len(ranks))
        rows[np.repeat(cursor[ranks[starts]] - starts, lengths) + np.arange(len(ranks))] = new
        cursor[ranks[starts]] += lengths
        parts[number] = (ranks[:0], new[:0])
    parts.clear()
    return rows, first
