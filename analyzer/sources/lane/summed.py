"""Calls that were not recorded one by one (TRACELIB_CALLS, TRACELIB_BURSTS): rows of `summaries`.

A row with flags 0 stands for a stretch of calls between two longer computations, one with flags n + 1 for all calls of
procedure n in a buffer. The first are drawn and counted as folded polls are; the others complete the profile.
"""

from __future__ import annotations

import numpy as np

from analyzer.sources.rank_file.index import ThreadTable
from analyzer.trace import SUMMED
from tracelib import schema

SUMMED_PROCEDURE = "MPI_Summed"
"""Stands for a stretch of calls of several procedures."""

_STEP = 256
"""How many rows are looked at to find the next stretch."""


def stretches(table: ThreadTable, begin: int, end: int, around: int) -> np.ndarray:
    """Stretches (SUMMARY) that begin in [begin, end) ticks, and `around` (0 or 1) more on both sides."""
    first, last = table.find(begin), table.find(end)
    parts = [_stretches_only(table.read(first, last))]
    if around:
        parts = [_nearest(table, first, -1), *parts, _nearest(table, last, 1)]
    return np.concatenate(parts)


def as_polls(rows: np.ndarray, call: int) -> np.ndarray:
    """Stretches as rows of `polls` of procedure number `call`."""
    found = np.zeros(len(rows), schema.POLL)
    for column in ("enter", "exit", "inside", "count", "thread"):
        found[column] = rows[column]
    found["call"] = call
    return found


def _stretches_only(rows: np.ndarray) -> np.ndarray:
    return rows[rows["flags"] == 0]


def _nearest(table: ThreadTable, at: int, direction: int) -> np.ndarray:
    """The last stretch before row `at`, or the first from there on; none at the table's ends."""
    while at > 0 if direction < 0 else at < len(table):
        low, high = (max(at - _STEP, 0), at) if direction < 0 else (at, min(at + _STEP, len(table)))
        rows = _stretches_only(table.read(low, high))
        if len(rows):
            return rows[-1:] if direction < 0 else rows[:1]
        at = low if direction < 0 else high
    return np.zeros(0, schema.SUMMARY)


def last_exit(table: ThreadTable) -> int:
    """Exit (ticks) of the last call that was summed up: that of the last stretch."""
    rows = _nearest(table, len(table), -1)
    return int(rows["exit"].max(initial=0))


def totals(table: ThreadTable) -> np.ndarray:
    """SUMMED by procedure number of the file, ticks in place of ns."""
    sums: dict[int, np.ndarray] = {}
    for rows in table.scan():
        rows = rows[rows["flags"] > 0]
        for flags in np.unique(rows["flags"]).tolist():
            mine = rows[rows["flags"] == flags]
            columns = ("count", "inside", "sent", "received")
            line = np.array([int(mine[column].astype(np.int64).sum()) for column in columns])
            sums[flags - 1] = sums.get(flags - 1, 0) + line
    return np.array([(call, *line.tolist()) for call, line in sorted(sums.items())], SUMMED)
