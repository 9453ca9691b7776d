"""Time in which nothing was recorded, because the user switched recording off or a limit was reached."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analyzer.parallel import Team
from analyzer.trace import Leftovers, Losses, SummedCalls, Trace


@dataclass(frozen=True)
class UnrecordedTime:
    """Time in which nothing was recorded, int64 ns of shape (ranks,), and numbers of calls that the trace lacks."""

    time_ns: np.ndarray  # sum over the threads of each rank
    shared_ns: np.ndarray  # time of the thread of each rank with the least such time
    calls: int  # number of calls that were dropped to keep to a limit
    partners: int  # number of recorded sends and receives whose other side was not recorded
    summed: int  # number of calls that were not recorded one by one


def unrecorded(trace: Trace, team: Team) -> UnrecordedTime:
    """Sum the time in which the threads of each rank recorded nothing, and count the calls that the trace lacks.

    Collective.
    """
    losses, summed = trace.extra(Losses), trace.extra(SummedCalls)
    sums = np.zeros((2, trace.size), np.int64)
    for rank in trace.share(team):
        rows = losses.unrecorded(rank)
        if not len(rows):
            continue
        by_thread = np.zeros(int(trace.threads[rank]), np.int64)
        np.add.at(by_thread, rows["thread"], rows["end"] - rows["begin"])
        sums[:, rank] = by_thread.sum(), by_thread.min(initial=by_thread[0] if len(by_thread) else 0)
    time_ns, shared_ns = sum(team.allgather(sums))
    calls = sum(losses.dropped_calls(rank) for rank in range(trace.size))
    added_up = sum(team.allgather(sum(int(summed.of(rank)["count"].sum()) for rank in trace.share(team))))
    return UnrecordedTime(time_ns, shared_ns, calls, trace.extra(Leftovers).not_recorded(), added_up)
