"""The call paths of calls that are known by rank, thread and entry."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from analyzer.trace import CallPaths, Trace


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
