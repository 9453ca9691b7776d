"""The calls of a rank around a moment, read from there outwards: as few of its windows as it takes."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from analyzer.columns.arrays import joined
from analyzer.trace import CALL, CallPaths, Trace

RECORDS = 4096
"""Calls in a window: the first ones read are mostly enough."""


class Calls(NamedTuple):
    """Rows of CALL, and the row of each one's path in `CallPaths.tables` (int64; 0: not known)."""

    rows: np.ndarray
    paths: np.ndarray

    def where(self, chosen: np.ndarray | slice) -> Calls:
        """Some of them."""
        return Calls(self.rows[chosen], self.paths[chosen])


def calls_around(trace: Trace, rank: int, time: int, number: int) -> tuple[list[Calls], list[Calls]]:
    """Of each thread of a rank the last calls that it entered until a moment, `number` and the one before them, and the
    first `number` of later; in order of enter. time: ns."""
    windows = trace.windows_of(rank, RECORDS)
    here = max(int(np.searchsorted(windows, time, side="right")) - 1, 0)
    before = _Ends(int(trace.threads[rank]), number + 1, last=True)
    after = _Ends(int(trace.threads[rank]), number, last=False)
    bounds = list(pairwise(windows.tolist()))
    for begin, end in reversed(bounds[: here + 1]):
        before.add(_read(trace, rank, begin, min(end, time + 1)))
        if before.enough:
            break
    for begin, end in bounds[here:]:
        if after.enough:
            break
        after.add(_read(trace, rank, max(begin, time + 1), end))
    return before.of_thread, after.of_thread


def _read(trace: Trace, rank: int, begin: int, end: int) -> Calls:
    if begin >= end:
        return Calls(np.zeros(0, CALL), np.zeros(0, np.int64))
    rows = joined(list(trace.calls(rank, begin, end)), CALL)
    paths = joined(list(trace.extra(CallPaths).of(rank, begin, end)), np.dtype(np.int64))
    return Calls(rows, paths if len(paths) else np.zeros(len(rows), np.int64))


class _Ends:
    """The first or the last calls of each thread."""

    def __init__(self, threads: int, number: int, *, last: bool) -> None:
        self._number, self._last = number, last
        nothing = Calls(np.zeros(0, CALL), np.zeros(0, np.int64))
        self.of_thread = [nothing] * threads

    @property
    def enough(self) -> bool:
        """Whether each thread has as many as are wanted."""
        return all(len(calls.rows) >= self._number for calls in self.of_thread)

    def add(self, more: Calls) -> None:
        """Those of the window before all that were added, or after them."""
        for thread, known in enumerate(self.of_thread):
            lacking = self._number - len(known.rows)
            mine = np.flatnonzero(more.rows["thread"] == thread) if lacking > 0 else np.zeros(0, np.int64)
            mine = mine[-lacking:] if self._last else mine[:lacking]
            if len(mine):
                parts = (more.where(mine), known) if self._last else (known, more.where(mine))
                self.of_thread[thread] = Calls(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))
