"""Where ranks sleep outside MPI: for a file, a child, a timer, a lock, another thread."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analyzer.metrics.computing import ComputingSums
from analyzer.places.between import Between
from analyzer.places.words import computing_at
from analyzer.trace import UNKNOWN, CallPaths, CpuUse, Trace
from tracelib.schema import OffCpu


class AsleepSums(ComputingSums):
    """Adds up, as COMPUTED, how long ranks slept between calls, where the kernel tells sleep from waiting for a CPU."""

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
            self._rows_of[rank] = rows.compress((rows["where"] == OffCpu.OUTSIDE) & (rows["delay"] != UNKNOWN))
        return self._rows_of[rank]


@dataclass(frozen=True)
class Asleep:
    """Sleep between two calls, of all ranks together."""

    text: str  # "computing at sleeps.c:5 in main before MPI_Barrier"
    ns: int


def asleep_at(rows: np.ndarray, trace: Trace) -> list[Asleep]:
    """Sleep by place (rows: COMPUTED of AsleepSums), the longest first."""
    if not len(rows):
        return []
    between = Between(trace.extra(CallPaths).named())
    spots = between.numbers(rows["before"], rows["path"])
    keys, which = np.unique(np.stack((spots, rows["call"]), axis=1), axis=0, return_inverse=True)
    sums = np.bincount(which.ravel(), rows["ns"], len(keys))
    texts = [computing_at(between.every[spot], trace.procedures[call]) for spot, call in keys.tolist()]
    found = [Asleep(text, int(ns)) for text, ns in zip(texts, sums.tolist(), strict=True)]
    return sorted(found, key=lambda one: (-one.ns, one.text))
