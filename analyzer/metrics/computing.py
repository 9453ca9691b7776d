"""Computing between calls, by the places of these calls.

Also finds where ranks sleep outside MPI: for a file, a child, a timer, a lock, another thread.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analyzer.columns.arrays import joined
from analyzer.metrics.sums import Sums
from analyzer.pairing.parts import Part
from analyzer.parallel import Team
from analyzer.places.call_gaps import CallGaps
from analyzer.places.phrases import computing_at
from analyzer.trace import UNKNOWN, CallPaths, CpuUse, Losses, Trace
from tracelib.schema import OffCpuState

_KEY = ("rank", "before", "path", "call")
COMPUTED = np.dtype([(name, "<i8") for name in (*_KEY, "ns")])
"""Time of a rank between a call from path `before` and a call of procedure `call` from `path`, in ns.

The tracer's time is not included. Paths are rows of CallPaths.tables.
"""


class ComputingSums(Sums[np.ndarray]):
    """Sums of computing between calls (COMPUTED), by rank and the calls around it.

    Computing of a thread before its first call and after its last call is left out.
    """

    def __init__(self, trace: Trace) -> None:
        self._known = trace.extra(CallPaths).known
        self._last: dict[tuple[int, int], tuple[int, int]] = {}  # by thread: when it left a call, and its path
        self._rows: list[np.ndarray] = []

    def add(self, part: Part) -> None:
        rank, calls = part.calls
        if not self._known or not len(calls):
            return
        order = np.lexsort((calls["enter"], calls["thread"], rank))
        rank, calls, paths = rank[order], calls.take(order), part.paths[order]
        over = calls["enter"] + calls["inside"] + calls["tracer"]
        first = np.ones(len(calls), bool)
        first[1:] = (np.diff(rank) != 0) | (np.diff(calls["thread"]) != 0)
        left, before = np.append(0, over[:-1]), np.append(0, paths[:-1])
        for at in np.flatnonzero(first).tolist():
            key = int(rank[at]), int(calls["thread"][at])
            left[at], before[at] = self._last.get(key, (int(calls["enter"][at]), 0))
        for at in np.flatnonzero(np.append(first[1:], True)).tolist():
            self._last[int(rank[at]), int(calls["thread"][at])] = int(over[at]), int(paths[at])
        rows = np.zeros(len(calls), COMPUTED)
        columns = (rank, before, paths, calls["call"], self._spent(rank, calls, left))
        for name, values in zip(COMPUTED.names or (), columns, strict=True):
            rows[name] = values
        self._rows.append(_added(rows))

    def _spent(self, rank: np.ndarray, calls: np.ndarray, left: np.ndarray) -> np.ndarray:
        """Return the ns of computing between `left` and the entry of each call (CALL, by rank, thread and time)."""
        return np.maximum(calls["enter"] - left, 0)

    def total(self, team: Team) -> np.ndarray:
        return _added(joined(team.allgather(_added(joined(self._rows, COMPUTED))), COMPUTED))


def _added(rows: np.ndarray) -> np.ndarray:
    """Add up COMPUTED rows of the same rank, paths and procedure."""
    rows = rows.compress(rows["ns"] > 0)
    if not len(rows):
        return rows
    rows = rows.take(np.lexsort([rows[name] for name in reversed(_KEY)]))
    first = np.flatnonzero(np.any([np.diff(rows[name], prepend=-1) != 0 for name in _KEY], axis=0))
    found = rows.take(first)
    found["ns"] = np.add.reduceat(rows["ns"], first)
    return found


@dataclass(frozen=True)
class UnevenComputing:
    """Computing between two calls of the program, with the rank that computes longest there."""

    text: str  # "computing at smooth.c:40-61 in smooth before MPI_Send"
    rank: int
    most_ns: int
    mean_ns: float  # mean of the ranks that could be read

    @property
    def excess_ns(self) -> float:
        """Return the ns by which the longest time of a rank exceeds the mean."""
        return self.most_ns - self.mean_ns


def uneven_computing(rows: np.ndarray, trace: Trace) -> list[UnevenComputing]:
    """Sum computing by place, the largest excess of a rank over the mean first.

    Args:
        rows: COMPUTED of all ranks.
        trace: The trace.
    """
    if not len(rows):
        return []
    present = max(trace.size - len(trace.extra(Losses).missing), 1)
    between = CallGaps(trace.extra(CallPaths).named())
    spots = between.numbers(rows["before"], rows["path"])
    keys, which = np.unique(np.stack((spots, rows["call"]), axis=1), axis=0, return_inverse=True)
    found = []
    order = np.argsort(which.ravel(), kind="stable")
    for (spot, call), mine in zip(
        keys.tolist(), np.split(order, np.cumsum(np.bincount(which.ravel()))[:-1]), strict=True
    ):
        of_rank = np.bincount(rows["rank"][mine], rows["ns"][mine], trace.size)
        rank = int(of_rank.argmax())
        text = computing_at(between.every[spot], trace.procedures[call])
        found.append(UnevenComputing(text, rank, int(of_rank[rank]), float(of_rank.sum()) / present))
    return sorted(found, key=lambda u: (-u.excess_ns, u.text))


class SleepSums(ComputingSums):
    """Sums of the time that ranks slept between calls, in the form of COMPUTED.

    Only times for which the kernel distinguishes sleep from waiting for a CPU count.
    """

    def __init__(self, trace: Trace) -> None:
        super().__init__(trace)
        self._use = trace.extra(CpuUse)
        self._rows_of: dict[int, np.ndarray] = {}

    def _spent(self, rank: np.ndarray, calls: np.ndarray, left: np.ndarray) -> np.ndarray:
        found = np.zeros(len(calls), np.int64)
        for one in np.unique(rank).tolist():
            rows = self._of(one)
            for thread in np.unique(rows["thread"]).tolist():
                mine = np.flatnonzero((rank == one) & (calls["thread"] == thread))
                its = rows.compress(rows["thread"] == thread)
                at = np.searchsorted(calls["enter"][mine], its["time"])
                here = (at < len(mine)) & (its["time"] >= (left[mine[0]] if len(mine) else 0))
                np.add.at(found, mine[at[here]], (its["off"] - its["delay"])[here])
        return found

    def _of(self, rank: int) -> np.ndarray:
        if rank not in self._rows_of:
            rows = self._use.of(rank)
            self._rows_of[rank] = rows.compress((rows["where"] == OffCpuState.OUTSIDE) & (rows["delay"] != UNKNOWN))
        return self._rows_of[rank]


@dataclass(frozen=True)
class SleepTotals:
    """Sleep between two calls of the program in ns, sum over all ranks."""

    text: str  # "computing at sleeps.c:5 in main before MPI_Barrier"
    ns: int


def asleep_at(rows: np.ndarray, trace: Trace) -> list[SleepTotals]:
    """Sum sleep by place, the longest first.

    Args:
        rows: COMPUTED of all ranks, from SleepSums.
        trace: The trace.
    """
    if not len(rows):
        return []
    between = CallGaps(trace.extra(CallPaths).named())
    spots = between.numbers(rows["before"], rows["path"])
    keys, which = np.unique(np.stack((spots, rows["call"]), axis=1), axis=0, return_inverse=True)
    sums = np.bincount(which.ravel(), rows["ns"], len(keys))
    texts = [computing_at(between.every[spot], trace.procedures[call]) for spot, call in keys.tolist()]
    found = [SleepTotals(text, int(ns)) for text, ns in zip(texts, sums.tolist(), strict=True)]
    return sorted(found, key=lambda one: (-one.ns, one.text))
