"""Operations of requests by the call that posted them, window by window.

Source, tag and size of a receive are known when it completes. But they belong to the call that posted it, which may lie
many windows earlier.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise

import numpy as np

from analyzer._kernels import lib
from analyzer.c_arrays import pointer
from analyzer.columns.arrays import joined
from analyzer.trace import CALL, REQUEST, Trace


def windows_of_rank(trace: Trace, rank: int) -> np.ndarray:
    """Return bounds of windows (ns) for work rank by rank, with about the same number of calls in each.

    That number does not depend on the number of ranks.
    """
    return trace.windows_of(rank, trace.sizes.rank_window_calls)


class Choice:
    """Selection of the operations (REQUEST) of some kinds, sorted by the time of posting or of completion."""

    def __init__(self, kinds: tuple[int, ...], *, by_completed: bool = False) -> None:
        self.wanted = np.zeros(1 << 16, np.uint8)  # `what` is a u16, and a damaged file may say anything
        self.wanted[list(kinds)] = 1
        self._by_completed = by_completed

    def of(self, rows: np.ndarray, least: int = np.iinfo(np.int64).min) -> np.ndarray:
        """Select REQUEST rows that were posted at `least` (ns) or later, and sort them. Equal rows keep their order."""
        rows = np.ascontiguousarray(rows)
        found = np.empty(len(rows), REQUEST)
        count = lib.requests_pick(
            pointer(rows), len(rows), pointer(self.wanted, "uint8_t *"), least,
            self._by_completed, pointer(found),
        )  # fmt: skip
        if count < 0:
            raise MemoryError
        return found[:count]

    def of_each(self, rows: np.ndarray, cuts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Select and sort within each of several parts of REQUEST rows.

        Args:
            rows: REQUEST rows.
            cuts: Bounds of the parts: part k is rows[cuts[k] : cuts[k + 1]].

        Returns:
            The selected rows, part after part, and the number of selected rows of each part.
        """
        rows, found = np.ascontiguousarray(rows), np.empty(len(rows), REQUEST)
        counts, cuts = np.zeros(len(cuts) - 1, np.int64), np.ascontiguousarray(cuts, np.int64)
        count = lib.requests_pick_each(
            pointer(rows), pointer(cuts, "int64_t *"), len(counts), pointer(self.wanted, "uint8_t *"),
            self._by_completed, pointer(counts, "int64_t *"), pointer(found),
        )  # fmt: skip
        if count < 0:
            raise MemoryError
        return found[:count], counts


@lru_cache(maxsize=16)
def choice_of(kinds: tuple[int, ...]) -> Choice:
    """Return the selection of these kinds, sorted by posting. It is made once and shared by all ranks."""
    return Choice(kinds)


def gather_blocks(blocks, dtype: np.dtype) -> np.ndarray:
    """Concatenate blocks of rows of type `dtype`, such as the blocks of a window."""
    return joined(list(blocks), dtype)


class Posted:
    """Reader of the operations (REQUEST) of one rank by window of the time when they were *posted*.

    Memory holds only operations that were posted in one window and completed in a later one. Their number is the number
    of requests that the program had open at the ends of windows.
    """

    def __init__(self, trace: Trace, rank: int, windows: np.ndarray, kinds: tuple[int, ...]) -> None:
        self._trace, self._rank, self._windows = trace, rank, windows
        self._choice = choice_of(kinds)
        late = []
        for begin, end in pairwise(windows.tolist()[1:]):
            rows = self._choice.of(self._rows(begin, end))
            late.append(rows[: np.searchsorted(rows["posted"], begin)].copy())  # a view would keep all rows
        self._late = self._choice.of(gather_blocks(late, REQUEST)) if late else np.zeros(0, REQUEST)

    def _rows(self, begin: int, end: int) -> np.ndarray:
        return gather_blocks(self._trace.requests(self._rank, begin, end), REQUEST)

    def window(self, index: int, rows: np.ndarray | None = None) -> np.ndarray:
        """Return the operations (REQUEST) posted in window `index`, in order of posting, then of the file.

        Args:
            index: Number of the window.
            rows: All REQUEST rows that completed in the window, if the caller has them. None: they are read.
        """
        begin, end = self._windows[index : index + 2].tolist()
        first, last = np.searchsorted(self._late["posted"], (begin, end)) if len(self._late) else (0, 0)
        rows = self._choice.of(self._rows(begin, end) if rows is None else rows, begin)
        return self._choice.of(joined((rows, self._late[first:last]), REQUEST)) if last > first else rows


def window_calls(trace: Trace, rank: int, begin: int, end: int) -> np.ndarray:
    """Return all calls (CALL) of a rank that enter in [begin, end) ns."""
    return gather_blocks(trace.calls(rank, begin, end), CALL)


_KEY = ("rank", "peer", "comm", "tag")


class Handed:
    """Search in the calls that handed over parts of partitioned messages (MPI_Pready and its kin).

    `rows` has the columns of CALL, and `rank`.
    """

    def __init__(self, rows: np.ndarray) -> None:
        self.rows = rows[np.lexsort((rows["enter"], *(rows[column] for column in _KEY)))]

    def __len__(self) -> int:
        return len(self.rows)

    def completing(self, messages: np.ndarray) -> np.ndarray:
        """Return for each message (MESSAGE) the row of the call that handed over its last part before it was received.

        -1: the message is not partitioned.
        """
        received = np.maximum(messages["physical_receive"], messages["logical_receive"])
        at = self.last([messages[name] for name in ("source", "destination", "comm", "tag")], received)
        begun = np.where(at >= 0, self.rows["enter"][at], -1) >= messages["logical_send"] if len(self) else at >= 0
        return np.where(begun, at, -1)

    def last(self, keys: list[np.ndarray], until: np.ndarray) -> np.ndarray:
        """Return the row of the last call with these keys that was entered until a time; -1: none.

        Args:
            keys: Arrays of rank, peer, comm and tag.
            until: Times, ns.
        """
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
