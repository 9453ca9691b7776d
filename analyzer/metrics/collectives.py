"""Collective operations by communicator: which groups synchronize, how often, and what it costs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from analyzer.pairing.requests import gather_blocks, rank_windows, window_calls
from analyzer.parallel import Team
from analyzer.trace import CALL, REQUEST, Trace
from tracelib.schema import What
from tracelib.schema.procedures import COLLECTIVES, base_name

_COLUMNS = ("count", "inside", "sent", "received")


@dataclass(frozen=True)
class Collective:
    """One procedure on one communicator, summed over its members. Of a nonblocking one the time is that of the calls
    that began it; a persistent one (MPI_Allreduce_init) counts each time that it was started."""

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
        for calls in _of_rank(trace, rank, wanted):
            rows = calls[calls["comm"] >= 0]
            key = rows["comm"].astype(np.int64) * n_calls + rows["call"]
            table = _summed(table, np.array([key, *(rows[column] for column in _COLUMNS)], np.int64))
    table = _summed(*team.allgather(table))
    found = [Collective(key // n_calls, trace.procedures[key % n_calls], *sums) for key, *sums in table.T.tolist()]
    return sorted(found, key=lambda c: (-c.time_ns, c.comm, c.procedure))


def _of_rank(trace: Trace, rank: int, wanted: np.ndarray) -> Iterator[np.ndarray]:
    """The collectives of a rank as CALL, those that MPI_Start and MPI_Startall began under their own names."""
    for begin, end in pairwise(rank_windows(trace).tolist()):
        calls = window_calls(trace, rank, begin, end)
        yield calls[wanted[calls["call"]]]
        requests = gather_blocks(trace.requests(rank, begin, end), REQUEST)
        yield _started(calls, requests[requests["what"] == What.COLLECTIVE_STARTED])


def _started(calls: np.ndarray, requests: np.ndarray) -> np.ndarray:
    """Started persistent collectives as CALL; bytes and time where the call that started it began nothing else."""
    found = np.zeros(len(requests), CALL)
    if not len(calls) or not len(requests):
        return found
    found["comm"], found["call"], found["count"] = requests["comm"], requests["tag"], 1
    _, place, together = np.unique(requests[["posted", "thread"]], return_inverse=True, return_counts=True)
    at = np.searchsorted(calls["enter"], requests["posted"]).clip(max=len(calls) - 1)
    of_call = calls[at]
    alone = together[place] == 1
    for column, other in (("enter", "posted"), ("thread", "thread"), ("comm", "comm")):
        alone &= of_call[column] == requests[other]
    for column in ("inside", "sent", "received"):
        found[column] = of_call[column] * alone
    return found


def _summed(*tables: np.ndarray) -> np.ndarray:
    """Tables with a row of keys and rows to add up, as one table with each key once."""
    rows = np.concatenate(tables, axis=1)
    keys, place = np.unique(rows[0], return_inverse=True)
    sums = np.zeros((len(rows), len(keys)), np.int64)
    sums[0] = keys
    for total, row in zip(sums[1:], rows[1:], strict=True):
        np.add.at(total, place, row)
    return sums
