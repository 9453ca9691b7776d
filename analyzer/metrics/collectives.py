"""Collective operations by communicator: which groups synchronize, how often, and what it costs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analyzer.metrics.profile import by_index
from analyzer.parallel import Team
from analyzer.paraver import COLLECTIVES, base_name
from analyzer.trace import Trace


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
    """The collectives of each communicator, the most expensive first."""
    n_calls = len(trace.procedures)
    wanted = np.array([base_name(p) in COLLECTIVES for p in trace.procedures], bool)
    n_keys = len(trace.communicators) * n_calls
    sums = np.zeros((4, n_keys), np.int64)
    for rank in team.share(trace.size):
        for calls in trace.calls(rank):
            rows = calls[wanted[calls["call"]] & (calls["comm"] >= 0)]
            key = rows["comm"] * n_calls + rows["call"]
            for line, column in zip(sums, ("count", "inside", "sent", "received"), strict=True):
                line += by_index(key, rows[column], n_keys)
    sums = sum(team.allgather(sums))
    found = [
        Collective(int(k) // n_calls, trace.procedures[k % n_calls], *sums[:, k].tolist())
        for k in np.flatnonzero(sums[0])
    ]
    return sorted(found, key=lambda c: (-c.time_ns, c.comm, c.procedure))
