"""Call paths of calls that are given by rank, thread and time of entry."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator

import numpy as np

from analyzer.trace import CallPaths, Trace

_NO_COLUMNS = (np.zeros(0, np.int64),) * 3


def calls_with_paths(
    trace: Trace, rank: int, begin: int = 0, end: int | None = None
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield blocks of a rank's calls (CALL) as `Trace.calls`, each with the call paths of its calls.

    A path is a row of CallPaths.tables (int64; 0: not known).
    """
    calls, paths = trace.calls(rank, begin, end), trace.extra(CallPaths)
    if paths.known:
        yield from zip(calls, paths.of(rank, begin, end), strict=True)
        return
    for block in calls:
        yield block, np.zeros(len(block), np.int64)


class CallsByRank:
    """Threads, procedures and call paths of each rank's calls, in order: `calls[rank]` gives three int64 arrays.

    Procedures are indices in Trace.procedures, paths are rows of CallPaths.tables. Neighbouring ranks with few calls
    are read together; the last group that was read stays in memory.
    """

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._groups = list(_together(trace))
        self._firsts = [ranks.start for ranks in self._groups]
        self._group = range(0)
        self._columns: tuple[np.ndarray, ...] = _NO_COLUMNS
        self._cuts: list[int] = [0]

    def __getitem__(self, rank: int) -> tuple[np.ndarray, ...]:
        if rank not in self._group:
            self._read(self._groups[bisect_right(self._firsts, rank) - 1])
        number = rank - self._group.start
        own = slice(self._cuts[number], self._cuts[number + 1])
        return tuple(column[own] for column in self._columns)

    def _read(self, ranks: range) -> None:
        trace, paths, end = self._trace, self._trace.extra(CallPaths), self._trace.duration_ns + 1
        self._group = ranks
        if len(ranks) == 1:  # it may have made many calls: only these columns are kept
            blocks = ((rows["thread"], rows["call"], of_rows) for rows, of_rows in calls_with_paths(trace, ranks[0]))
            parts = [_NO_COLUMNS, *(tuple(column.astype(np.int64) for column in block) for block in blocks)]
            self._columns = tuple(map(np.concatenate, zip(*parts, strict=True)))
            self._cuts = [0, len(self._columns[0])]
            return
        calls, counts = trace.rank_calls(ranks, 0, end)
        found = [of_rank for rank in ranks for of_rank in paths.of(rank, 0, end)] if paths.known else []
        of_calls = np.concatenate([np.zeros(0, np.int64), *found]) if paths.known else np.zeros(len(calls), np.int64)
        self._columns = calls["thread"].astype(np.int64), calls["call"].astype(np.int64), of_calls
        self._cuts = [0, *np.cumsum(counts).tolist()]


def _together(trace: Trace) -> Iterator[range]:
    """Yield all ranks in groups: neighbours with few calls together, other ranks alone."""
    for ranks, bounds in trace.parts(range(trace.size), trace.sizes.part_calls):
        yield from [ranks] if len(bounds) == 2 else (range(rank, rank + 1) for rank in ranks)


def paths_of_calls(trace: Trace, rank: int, thread: int, enters: np.ndarray) -> np.ndarray:
    """Return the call paths of one thread's calls.

    Args:
        trace: The trace.
        rank: World rank.
        thread: Number of the thread.
        enters: Times of entry of the calls, ascending, ns.

    Returns:
        Rows of CallPaths.tables, int64; 0: not known, or no call was entered at that time.
    """
    found = np.zeros(len(enters), np.int64)
    if not trace.extra(CallPaths).known or not len(enters):
        return found
    for calls, rows in calls_with_paths(trace, rank, int(enters[0]), int(enters[-1]) + 1):
        own = np.flatnonzero(calls["thread"] == thread)
        if not len(own):
            continue
        entered = calls["enter"][own]
        at = np.searchsorted(entered, enters).clip(max=len(own) - 1)
        found = np.where(entered[at] == enters, rows[own[at]], found)
    return found
