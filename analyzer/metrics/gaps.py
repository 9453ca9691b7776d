"""Computing time by the calls before and after it: where a run computes, as far as that is known without samples."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analyzer.columns.arrays import joined
from analyzer.metrics.sums import Sums, add_up
from analyzer.pairing.parts import Part
from analyzer.parallel import Team
from analyzer.trace import State, Trace
from analyzer.trace.trace import check_computing

GAP = np.dtype([(name, "<i8") for name in ("before_call", "before", "after_call", "after", "count", "ns")])
"""Computing between two calls of a thread: `count` bursts of `ns` in all.

`before_call` and `after_call` are the procedures (index in Trace.procedures; -1: no such call), `before` and `after`
the call paths (rows of CallPaths.tables).
"""

_KEY = ("before_call", "before", "after_call", "after")


@dataclass(frozen=True)
class Gaps:
    """Computing between calls (GAP) of all ranks, the longest time first."""

    rows: np.ndarray


def gaps(trace: Trace, team: Team) -> Gaps:
    """Sum computing by the calls before and after it. Collective.

    Raises:
        TracelibError: The trace does not say when threads compute.
    """
    check_computing(trace)
    return add_up(trace, team, GapSums())


class GapSums(Sums[Gaps]):
    """Sums of the intervals in state Running, by the last call entered before each interval and the next call."""

    def __init__(self) -> None:
        self._rows: list[np.ndarray] = []

    def add(self, part: Part) -> None:
        rank, calls = part.calls
        running = part.states.compress(part.states["state"] == State.RUNNING)
        length = running["end"] - running["begin"]
        running, length = running.compress(length > 0), length.compress(length > 0)
        if not len(running):
            return
        rows = np.zeros(len(running), GAP)
        rows["count"], rows["ns"] = 1, length
        for name in _KEY:
            rows[name] = -1
        own = rank * (1 << 16) + calls["thread"]
        order = np.lexsort([calls["enter"], own])
        for thread in np.unique(running["rank"].astype(np.int64) * (1 << 16) + running["thread"]).tolist():
            mine = order[np.searchsorted(own[order], thread) : np.searchsorted(own[order], thread, "right")]
            chosen = np.flatnonzero(running["rank"].astype(np.int64) * (1 << 16) + running["thread"] == thread)
            at = np.searchsorted(calls["enter"][mine], running["begin"][chosen], "right")
            for name, found in (("before", at - 1), ("after", at)):
                there = (found >= 0) & (found < len(mine))
                call = mine[found[there]]
                rows[f"{name}_call"][chosen[there]] = calls["call"][call]
                rows[name][chosen[there]] = part.paths[call]
        self._rows = [_added(joined([*self._rows, rows], GAP))]

    def total(self, team: Team) -> Gaps:
        rows = _added(joined(team.allgather(joined(self._rows, GAP)), GAP))
        return Gaps(rows[np.argsort(-rows["ns"], kind="stable")])


def _added(rows: np.ndarray) -> np.ndarray:
    """Add up GAP rows between the same calls."""
    if not len(rows):
        return rows
    rows = rows.take(np.lexsort([rows[name] for name in reversed(_KEY)]))
    new = np.any([np.diff(rows[name], prepend=-2) != 0 for name in _KEY], axis=0)
    first = np.flatnonzero(new)
    found = rows.take(first)
    for name in ("count", "ns"):
        found[name] = np.add.reduceat(rows[name], first)
    return found
