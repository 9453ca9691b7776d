"""Finds what became of a request at the call that posted it, a window of time at a time.

A receive's source, tag and size are known when it completes, but belong to the call that posted it,
which may lie many windows earlier.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from analyzer.trace import CALL, REQUEST, Trace

RECORDS_OF_A_RANK = 1 << 16
MOST_RANKS = 16


def rank_windows(trace: Trace) -> np.ndarray:
    """Windows for work that goes rank by rank: as large as many ranks need, since each has only its part.

    One rank may have all records of a window, so they stop growing at MOST_RANKS.
    """
    return trace.windows(RECORDS_OF_A_RANK * min(trace.size, MOST_RANKS))


def gather_blocks(blocks, dtype: np.dtype) -> np.ndarray:
    """The blocks of one window in one array."""
    blocks = list(blocks)
    if len(blocks) == 1:
        return blocks[0]
    return np.concatenate(blocks) if blocks else np.zeros(0, dtype)


class Posted:
    """The request rows of one rank by the time they were *posted*.

    In memory are only the rows that were posted in one window and completed in a later one: as many as
    the program had requests open when a window ended.
    """

    def __init__(self, trace: Trace, rank: int, windows: np.ndarray, kinds: tuple[int, ...]) -> None:
        self._trace, self._rank, self._windows = trace, rank, windows
        self._wanted = np.zeros(1 << 16, bool)  # `what` is a u16, and a damaged file may say anything
        self._wanted[list(kinds)] = True
        late = []
        for begin, end in pairwise(windows.tolist()):
            rows = self._select(begin, end)
            late.append(rows[rows["posted"] < begin])
        self._late = gather_blocks(late, REQUEST)
        self._late = self._late[np.argsort(self._late["posted"], kind="stable")]

    def _select(self, begin: int, end: int) -> np.ndarray:
        rows = gather_blocks(self._trace.requests(self._rank, begin, end), REQUEST)
        return rows[self._wanted[rows["what"]]]

    def window(self, index: int) -> np.ndarray:
        """Rows (REQUEST) posted in [windows[index], windows[index + 1]), in order of posting, then of the file."""
        begin, end = self._windows[index : index + 2].tolist()
        first, last = np.searchsorted(self._late["posted"], (begin, end))
        rows = self._select(begin, end)
        rows = np.concatenate((rows[rows["posted"] >= begin], self._late[first:last]))
        return rows[np.argsort(rows["posted"], kind="stable")]


def window_calls(trace: Trace, rank: int, begin: int, end: int) -> np.ndarray:
    """All calls (CALL) of a rank that enter in a window."""
    return gather_blocks(trace.calls(rank, begin, end), CALL)
