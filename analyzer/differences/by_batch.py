"""Calls and waits by the batch of iterations that they begin in."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analyzer.columns.arrays import by_index
from analyzer.differences.batches import Batches
from analyzer.metrics.profile import bytes_of_calls, completing
from analyzer.metrics.sums import Sums
from analyzer.pairing.parts import Part
from analyzer.parallel import Team
from analyzer.trace import CallPaths, Trace
from analyzer.waits.find import Search
from analyzer.waits.kinds import Kind, length


@dataclass(frozen=True)
class CallsAt:
    """Calls of one procedure from one place, of all ranks together.

    inside_ns: int64 (batches + 1,), time in MPI by batch; the last column is what lies outside all of them.
    """

    place: int  # of Places; 0: not known
    procedure: str
    inside_ns: np.ndarray
    count: int
    sent: int
    received: int


class CallSums(Sums[list[CallsAt]]):
    """Adds up calls by procedure, place and batch."""

    def __init__(self, trace: Trace, into: Batches | None) -> None:
        paths = trace.extra(CallPaths)
        self._place = paths.named().place if paths.known else np.zeros(1, np.int64)
        self._procedures, self._completes = trace.procedures, completing(trace)
        self._into, self._columns = into, len(into) + 1 if into else 1
        self._sums: dict[int, np.ndarray] = {}  # time by batch, count, sent, received

    def add(self, part: Part) -> None:
        rank, calls = part.calls
        if not len(calls):
            return
        key = self._place[part.paths] * len(self._procedures) + calls["call"]
        keys, number = np.unique(key, return_inverse=True)
        batch = self._into.of(rank, calls["enter"]) if self._into else np.zeros(len(calls), np.int64)
        cells = number * self._columns + batch
        time = by_index(cells, calls["inside"], len(keys) * self._columns).reshape(len(keys), -1)
        moved = (calls["count"], *bytes_of_calls(part, self._completes))
        rest = np.stack([by_index(number, column, len(keys)) for column in moved], axis=1)
        for one, row in zip(keys.tolist(), np.concatenate([time, rest], axis=1).astype(np.int64), strict=True):
            self._sums[one] = self._sums.get(one, 0) + row

    def total(self, team: Team) -> list[CallsAt]:
        sums: dict[int, np.ndarray] = {}
        for part in team.allgather(self._sums):
            for key, row in part.items():
                sums[key] = sums.get(key, 0) + row
        found = []
        for key, row in sorted(sums.items()):
            place, call = divmod(key, len(self._procedures))
            count, sent, received = row[self._columns :].tolist()
            found.append(CallsAt(place, self._procedures[call], row[: self._columns], count, sent, received))
        return found


def waits_by_batch(trace: Trace, team: Team, into: Batches, used: frozenset[str]) -> np.ndarray:
    """Waiting for others in calls that begin in each batch, ns of all ranks: int64 (batches, kinds). `used`: the
    procedures that were called. Collective over the team."""
    search = Search(trace, team, used=used)
    sums = np.zeros((len(into) + 1, len(Kind)), np.int64)
    for waits in search.parts():
        batch = into.of(search.lanes.rank[waits["lane"]], waits["enter"])
        np.add.at(sums, (batch, waits["kind"]), length(waits))
    return np.sum(team.allgather(sums), axis=0)[:-1]
