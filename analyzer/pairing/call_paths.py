"""The call paths of calls that are known by rank, thread and entry."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator

import numpy as np

from analyzer.pairing.parts import RECORDS
from analyzer.trace import CALL, CallPaths, Trace


def calls_with_paths(
    trace: Trace, rank: int, begin: int = 0, end: int | None = None
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Blocks (CALL) as `Trace.calls`, each with the rows of its calls' paths in CallPaths.tables (int64; 0: not
    known)."""
    calls, paths = trace.calls(rank, begin, end), trace.extra(CallPaths)
    if paths.known:
        yield from zip(calls, paths.of(rank, begin, end), strict=True)
        return
    for block in calls:
        yield block, np.zeros(len(block), np.int64)


class CallsByRank:
    """The calls (CALL) of each rank, in order, with the rows of their paths as `calls_with_paths` has them. Those of
    neighbours that made few calls are read together; of these the latest are kept."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._groups = list(_together(trace))
        self._firsts = [ranks.start for ranks in self._groups]
        self._group = range(0)
        self._calls, self._paths = np.zeros(0, CALL), np.zeros(0, np.int64)
        self._cuts: list[int] = [0]

    def __getitem__(self, rank: int) -> tuple[np.ndarray, np.ndarray]:
        if rank not in self._group:
            self._read(self._groups[bisect_right(self._firsts, rank) - 1])
        number = rank - self._group.start
        own = slice(self._cuts[number], self._cuts[number + 1])
        return self._calls[own], self._paths[own]

    def _read(self, ranks: range) -> None:
        trace, paths = self._trace, self._trace.extra(CallPaths)
        self._calls, counts = trace.rank_calls(ranks, 0, trace.duration_ns + 1)
        self._paths = np.zeros(len(self._calls), np.int64)
        if paths.known:
            found = (block for rank in ranks for block in paths.of(rank, 0, trace.duration_ns + 1))
            self._paths = np.concatenate([np.zeros(0, np.int64), *found])
        self._group, self._cuts = ranks, [0, *np.cumsum(counts).tolist()]


def _together(trace: Trace) -> Iterator[range]:
    """All ranks: neighbours with few calls together."""
    for ranks, bounds in trace.parts(range(trace.size), RECORDS):
        yield from [ranks] if len(bounds) == 2 else (range(rank, rank + 1) for rank in ranks)


def paths_of_calls(trace: Trace, rank: int, thread: int, enters: np.ndarray) -> np.ndarray:
    """Of calls of one thread, in order of their entries (ns), the rows of their paths in CallPaths.tables (int64);
    0: not known, or no call was entered then."""
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
