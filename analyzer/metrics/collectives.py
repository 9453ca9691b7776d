"""Collective operations by communicator: which groups synchronize, how often, and what it costs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analyzer.parallel import Team
from analyzer.paraver import COLLECTIVES, base_name
from analyzer.trace import Trace

_COLUMNS = ("count", "inside", "sent", "received")


@dataclass(frozen=True)
class Collective:
    """One procedure on one communicator, summed over its members."""

    comm: int  # index in Trace.communicators
    procedure: str
    calls: int
    time_ns: int
    sent: int
    received: int


def collectives(trace: Trace, team: Team) -> list[Collective]:
    """The collectives of each communicator, the most expensive first.

    Memory is that of the pairs of communicator and procedure that occur: some programs make thousands of the former.
    """
    n_calls = len(trace.procedures)
    wanted = np.array([base_name(p) in COLLECTIVES for p in trace.procedures], bool)
    table = np.zeros((1 + len(_COLUMNS), 0), np.int64)
    for rank in team.share(trace.size):
        for calls in trace.calls(rank):
            rows = calls[wanted[calls["call"]] & (calls["comm"] >= 0)]
            key = rows["comm"].astype(np.int64) * n_calls + rows["call"]
            table = _summed(table, np.array([key, *(rows[column] for column in _COLUMNS)], np.int64))
    table = _summed(*team.allgather(table))
    found = [Collective(key // n_calls, trace.procedures[key % n_calls], *sums) for key, *sums in table.T.tolist()]
    return sorted(found, key=lambda c: (-c.time_ns, c.comm, c.procedure))


def _summed(*tables: np.ndarray) -> np.ndarray:
    """Tables with a row of keys and rows to add up, as one table with each key once."""
    rows = np.concatenate(tables, axis=1)
    keys, place = np.unique(rows[0], return_inverse=True)
    sums = np.zeros((len(rows), len(keys)), np.int64)
    sums[0] = keys
    for total, row in zip(sums[1:], rows[1:], strict=True):
        np.add.at(total, place, row)
    return sums
