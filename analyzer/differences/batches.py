"""Groups the iterations of a run into batches, whose means are samples of a figure and show its noise.

Neighbouring iterations are often alike, so a test of single iterations would be too certain. Means of batches that are
long enough are independent of each other. Source: A. M. Law, "Simulation Modeling and Analysis", section 9.5.3 (batch
means).

Calls and waits belong to the batch in which they begin.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analyzer.columns.arrays import by_index
from analyzer.metrics.profile import bytes_of_calls, completing
from analyzer.metrics.sums import Sums
from analyzer.pairing.parts import Part
from analyzer.parallel import Team
from analyzer.structure.iterations import Iterations
from analyzer.trace import CallPaths, Trace
from analyzer.waits.kinds import WaitKind, length
from analyzer.waits.wait_states import WaitSearch

MOST, LEAST = 32, 8
"""Largest number of batches, and smallest. A run with fewer iterations than LEAST has no samples."""


@dataclass(frozen=True)
class Batches:
    """Batches of neighbouring iterations.

    Batch k of rank r is the window [edges[r, k], edges[r, k + 1]) in ns. Edges are -1 for a rank whose iterations are
    not known.
    """

    edges: np.ndarray  # int64 (ranks, batches + 1)
    iterations: np.ndarray  # (batches,) number of iterations in each batch
    lengths_ns: np.ndarray  # (batches,) mean length of an iteration, ns; an iteration is as long as on its slowest rank

    def __len__(self) -> int:
        return len(self.iterations)

    def batch_numbers(self, rank: np.ndarray, time: np.ndarray) -> np.ndarray:
        """Return the number of the batch in which each time lies.

        Args:
            rank: Rank of each time, int64 of shape (n,).
            time: Times in ns, int64 of shape (n,).

        Returns:
            Numbers of batches, shape (n,). A time outside all batches has the number of batches, `len(self)`.
        """
        columns, span = self.edges.shape[1], int(self.edges.max(initial=0)) + 2
        flat = (self.edges + 1 + span * np.arange(len(self.edges))[:, None]).ravel()
        at = np.searchsorted(flat, rank * span + 1 + np.minimum(time, span - 2), "right") - 1
        number = at - rank * columns
        inside = (number >= 0) & (number < len(self)) & (self.edges[rank, 0] >= 0)
        return np.where(inside, number, len(self))


def batches(iterations: Iterations | None) -> Batches | None:
    """Cut a loop into batches of iterations.

    The number of batches is halved, from MOST down to LEAST at the least, until the batches' mean lengths are
    independent.

    Returns:
        The batches. None: there are no iterations, or fewer than LEAST.
    """
    if iterations is None or iterations.count < LEAST:
        return None
    lengths = iterations.lengths_ns().max(axis=0)
    number = min(MOST, iterations.count)
    while number >= 2 * LEAST and _follows(_means(lengths, _cuts(len(lengths), number))):
        number //= 2
    cuts = _cuts(len(lengths), number)
    return Batches(np.ascontiguousarray(iterations.edges[:, cuts]), np.diff(cuts), _means(lengths, cuts))


def _cuts(count: int, number: int) -> np.ndarray:
    return np.linspace(0, count, number + 1).astype(np.int64)


def _means(values: np.ndarray, cuts: np.ndarray) -> np.ndarray:
    return np.add.reduceat(values, cuts[:-1]) / np.diff(cuts)


def _follows(means: np.ndarray) -> bool:
    """Return True if the means of neighbouring batches are correlated.

    That is if their correlation is above 2 / sqrt(n), two standard errors of the correlation of n independent means.
    """
    away = means - means.mean()
    spread = float(away @ away)
    return spread > 0 and float(away[1:] @ away[:-1]) / spread > 2 / np.sqrt(len(means))


@dataclass(frozen=True)
class CallBatch:
    """Sums over the calls of one procedure from one place, of all ranks together.

    inside_ns: int64 of shape (batches + 1,), time in MPI by batch. The last column is the time outside all batches.
    count: number of calls. sent, received: bytes.
    """

    place: int  # index in Places; 0: not known
    procedure: str
    inside_ns: np.ndarray
    count: int
    sent: int
    received: int


class CallSums(Sums[list[CallBatch]]):
    """Sums of the calls' times, numbers and bytes by procedure, place and batch."""

    def __init__(self, trace: Trace, into: Batches | None) -> None:
        paths = trace.extra(CallPaths)
        self._place = paths.named().place if paths.known else np.zeros(1, np.int64)
        self._procedures, self._completes = trace.procedures, completing(trace)
        self._into, self._columns = into, len(into) + 1 if into else 1
        self._sums: dict[int, np.ndarray] = {}  # time by batch, count, bytes sent, received

    def add(self, part: Part) -> None:
        rank, calls = part.calls
        if not len(calls):
            return
        key = self._place[part.paths] * len(self._procedures) + calls["call"]
        keys, number = np.unique(key, return_inverse=True)
        batch = self._into.batch_numbers(rank, calls["enter"]) if self._into else np.zeros(len(calls), np.int64)
        cells = number * self._columns + batch
        time = by_index(cells, calls["inside"], len(keys) * self._columns).reshape(len(keys), -1)
        moved = (calls["count"], *bytes_of_calls(part, self._completes))
        rest = np.stack([by_index(number, column, len(keys)) for column in moved], axis=1)
        for one, row in zip(keys.tolist(), np.concatenate([time, rest], axis=1).astype(np.int64), strict=True):
            self._sums[one] = self._sums.get(one, 0) + row

    def total(self, team: Team) -> list[CallBatch]:
        sums: dict[int, np.ndarray] = {}
        for part in team.allgather(self._sums):
            for key, row in part.items():
                sums[key] = sums.get(key, 0) + row
        found = []
        for key, row in sorted(sums.items()):
            place, call = divmod(key, len(self._procedures))
            count, sent, received = row[self._columns :].tolist()
            found.append(CallBatch(place, self._procedures[call], row[: self._columns], count, sent, received))
        return found


def waits_by_batch(trace: Trace, team: Team, into: Batches, used: frozenset[str]) -> np.ndarray:
    """Sum up the wait states of the calls that begin in each batch, over all ranks.

    All members of the team must call this function.

    Args:
        trace: The trace.
        team: Processes that share the ranks.
        into: The batches.
        used: Names of the procedures that the run called.

    Returns:
        Waiting in ns, int64 of shape (batches, wait kinds).
    """
    search = WaitSearch(trace, team, used=used)
    sums = np.zeros((len(into) + 1, len(WaitKind)), np.int64)
    for waits in search.parts():
        batch = into.batch_numbers(search.lanes.rank[waits["lane"]], waits["enter"])
        np.add.at(sums, (batch, waits["kind"]), length(waits))
    return np.sum(team.allgather(sums), axis=0)[:-1]
