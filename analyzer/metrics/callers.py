"""Calls by their origin: number, time and bytes by rank, call path and procedure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from analyzer.columns.arrays import by_index, joined
from analyzer.metrics.profile import bytes_of_calls, completing
from analyzer.metrics.sums import Sums
from analyzer.pairing.parts import Part
from analyzer.parallel import Team
from analyzer.places import Places
from analyzer.trace import CallPaths, Trace

KEY, SUMMED = ("rank", "path", "call"), ("count", "inside", "sent", "received")
CALLER = np.dtype([(name, "<i8") for name in KEY + SUMMED])
"""Calls of a rank of one procedure (index in Trace.procedures) from one path (row of CallPaths.tables).

`count`: number of calls. `inside`: ns inside MPI. `sent`, `received`: bytes.
"""


@dataclass(frozen=True)
class CallerRows:
    """Calls of all ranks by origin (CALLER, by rank, path and call)."""

    rows: np.ndarray

    def grouped(self, group: np.ndarray) -> np.ndarray:
        """Replace each call path by its group, such as its place, and add up rows of one rank, group and procedure.

        `group`: int64, number of the group of each path.
        """
        rows = self.rows.copy()
        rows["path"] = group[rows["path"]]
        return added(rows)


class CallerSums(Sums[CallerRows]):
    """Sums of calls by rank, call path and procedure.

    A run without call paths gives no rows; with `pathless` it gives rows with path 0.
    """

    def __init__(self, trace: Trace, pathless: bool = False) -> None:
        self._known, self._width = trace.extra(CallPaths).known, len(trace.procedures)
        self._pathless = pathless
        self._completes = completing(trace)
        self._rows: list[np.ndarray] = []

    def add(self, part: Part) -> None:
        rank, calls = part.calls
        if not (self._known or self._pathless) or not len(calls):
            return
        paths = part.paths if self._known else np.zeros(len(calls), np.int64)
        keys, number = np.unique(paths * self._width + calls["call"], return_inverse=True)
        cell, cells = (rank - part.ranks.start) * len(keys) + number, len(part.ranks) * len(keys)
        columns = (calls["count"], calls["inside"], *bytes_of_calls(part, self._completes))
        sums = np.stack([by_index(cell, column, cells) for column in columns])
        there = np.flatnonzero(sums[0])
        rows = np.zeros(len(there), CALLER)
        rows["rank"] = there // len(keys) + part.ranks.start
        rows["path"], rows["call"] = np.divmod(keys[there % len(keys)], self._width)
        for name, column in zip(SUMMED, sums, strict=True):
            rows[name] = column[there]
        self._rows.append(rows)

    def total(self, team: Team) -> CallerRows:
        parts = team.allgather(added(joined(self._rows, CALLER)))
        return CallerRows(added(joined(parts, CALLER)))


def added(rows: np.ndarray, summed: Sequence[str] = SUMMED) -> np.ndarray:
    """Add up rows of the same rank, path and call, and sort them by these three.

    `summed`: names of the columns to add up.
    """
    if not len(rows):
        return rows
    rows = rows.take(np.lexsort([rows[name] for name in reversed(KEY)]))
    new = np.any([np.diff(rows[name], prepend=-1) != 0 for name in KEY], axis=0)
    first = np.flatnonzero(new)
    found = rows.take(first)
    for name in summed:
        found[name] = np.add.reduceat(rows[name], first)
    return found


@dataclass(frozen=True)
class CallsFromPlace:
    """All calls of one procedure from one place. `place` is a number of Places; times are in ns."""

    place: int
    procedure: str
    count: int
    inside_ns: int
    sent: int
    received: int
    by_rank_ns: np.ndarray  # int64, ns in these calls of each rank that makes any

    @property
    def bytes(self) -> int:
        """Return the bytes that a table shows: handed to MPI or taken from MPI, whichever is more."""
        return max(self.sent, self.received)

    @property
    def variation(self) -> float | None:
        """Return the coefficient of variation of the ranks' times: standard deviation / mean.

        None: one rank, or no time.
        """
        mean = float(self.by_rank_ns.mean())
        return float(self.by_rank_ns.std()) / mean if mean and len(self.by_rank_ns) > 1 else None


def from_places(callers: CallerRows, places: Places, trace: Trace) -> list[CallsFromPlace]:
    """Sum calls by place and procedure, the longest time first."""
    rows = callers.grouped(places.place)
    if not len(rows):
        return []
    rows = rows.take(np.lexsort([rows["rank"], rows["call"], rows["path"]]))
    new = (np.diff(rows["path"], prepend=-1) != 0) | (np.diff(rows["call"], prepend=-1) != 0)
    found = []
    for part in np.split(rows, np.flatnonzero(new)[1:]):
        count, inside, sent, received = (int(part[name].sum()) for name in SUMMED)
        place, procedure = int(part["path"][0]), trace.procedures[part["call"][0]]
        found.append(CallsFromPlace(place, procedure, count, inside, sent, received, part["inside"]))
    return sorted(found, key=lambda f: (-f.inside_ns, places.text(f.place), f.procedure))
