"""Collective operations by communicator and procedure: number, time and bytes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analyzer.metrics.sums import Sums, add_up
from analyzer.pairing.parts import Part, RankRows
from analyzer.parallel import Team
from analyzer.trace import CALL, Trace
from tracelib.schema import RequestKind
from tracelib.schema.procedures import COLLECTIVES, base_name

_COLUMNS = ("count", "inside", "sent", "received")


@dataclass(frozen=True)
class CollectiveTotals:
    """Collectives of one procedure on one communicator, sum over the calls of all members.

    The time (ns) of a nonblocking collective is that of the calls that began it. A persistent collective
    (MPI_Allreduce_init) counts each time that it was started. `sent` and `received` are bytes.
    """

    comm: int  # index in Trace.communicators
    procedure: str
    calls: int
    time_ns: int
    sent: int
    received: int


def collectives(trace: Trace, team: Team) -> list[CollectiveTotals]:
    """Sum the collectives of each communicator and procedure, the longest time first. Collective."""
    return add_up(trace, team, CollectiveSums(trace))


class CollectiveSums(Sums[list[CollectiveTotals]]):
    """Sums of collectives by communicator and procedure.

    Memory is needed only for the pairs that occur, since some programs make thousands of communicators.
    """

    def __init__(self, trace: Trace) -> None:
        self._procedures = trace.procedures
        self._wanted = np.array([base_name(p) in COLLECTIVES for p in trace.procedures], bool)
        self._table = np.zeros((1 + len(_COLUMNS), 0), np.int64)

    def add(self, part: Part) -> None:
        calls = part.calls.rows
        found = [calls.compress(self._wanted[calls["call"]])]
        is_started = part.requests.rows["what"] == RequestKind.COLLECTIVE_STARTED
        if is_started.any():
            found.append(_started(part, part.requests.where(is_started)))
        for some in found:
            rows = some.compress(some["comm"] >= 0)
            if len(rows):
                key = rows["comm"].astype(np.int64) * len(self._procedures) + rows["call"]
                new = np.array([key, *(rows[column] for column in _COLUMNS)], np.int64)
                self._table = _summed(self._table, new)

    def total(self, team: Team) -> list[CollectiveTotals]:
        table, n = _summed(*team.allgather(self._table)), len(self._procedures)
        found = [CollectiveTotals(key // n, self._procedures[key % n], *sums) for key, *sums in table.T.tolist()]
        return sorted(found, key=lambda c: (-c.time_ns, c.comm, c.procedure))


def _started(part: Part, started: RankRows) -> np.ndarray:
    """Build CALL rows of the persistent collectives that MPI_Start and MPI_Startall started.

    `call` is the procedure that made the collective. A row has bytes and time only if the call that started the
    collective started nothing else.
    """
    requests, calls = started.rows, part.calls.rows
    found = np.zeros(len(requests), CALL)
    found["comm"], found["call"], found["count"] = requests["comm"], requests["tag"], 1
    keys = np.stack([started.rank, requests["posted"], requests["thread"]])
    _, place, together = np.unique(keys, axis=1, return_inverse=True, return_counts=True)
    at = part.find(started.rank, requests["posted"])
    if not len(calls):
        return found
    of_call = calls[at]
    alone = (together[place] == 1) & (at >= 0)
    for column, other in (("thread", "thread"), ("comm", "comm")):
        alone &= of_call[column] == requests[other]
    for column in ("inside", "sent", "received"):
        found[column] = of_call[column] * alone
    return found


def _summed(*tables: np.ndarray) -> np.ndarray:
    """Add up tables into one that has each key once.

    Row 0 of a table has the keys, the other rows have values to sum.
    """
    rows = np.concatenate(tables, axis=1)
    keys, place = np.unique(rows[0], return_inverse=True)
    sums = np.zeros((len(rows), len(keys)), np.int64)
    sums[0] = keys
    for total, row in zip(sums[1:], rows[1:], strict=True):
        np.add.at(total, place, row)
    return sums
