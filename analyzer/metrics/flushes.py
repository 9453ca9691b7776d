"""What the tracer took for writing its buffers and measuring clocks. What it takes after each call: useful.py."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analyzer.parallel import Team
from analyzer.trace import State, Trace, TracerTime


@dataclass(frozen=True)
class Flushes:
    """By rank, int64 of shape (ranks,)."""

    count: np.ndarray  # of buffers written
    time_ns: np.ndarray  # of all that is no computation of the program
    during: np.ndarray
    """The most flushes of one thread, less the one that closed the trace: that one no buffer, however large, avoids."""
    clocks_ns: np.ndarray  # the part of time_ns in which clocks were measured
    shared_ns: np.ndarray  # of time_ns what the thread that loses least has lost


def flushes(trace: Trace, team: Team) -> Flushes:
    """Number and duration of the flushes of each rank."""
    sums, tracer = np.zeros((5, trace.size), np.int64), trace.extra(TracerTime)
    clocks_state = int(State.OTHERS)
    for rank in trace.share(team):
        every = tracer.flushes(rank)
        if not len(every):
            continue
        length = every["end"] - every["begin"]
        rows = every[every["state"] != clocks_state]
        # Where the process wrote its last rows when the trace was closed, so did each thread when it ended.
        closed = len(rows) > 0 and rows["end"].max() == trace.span(rank)[1]
        during = np.bincount(rows["thread"]).max(initial=0) - int(closed)
        by_thread = np.zeros(int(trace.threads[rank]), np.int64)
        np.add.at(by_thread, every["thread"], length)
        clocks = length[every["state"] == clocks_state].sum()
        sums[:, rank] = len(rows), length.sum(), during, clocks, by_thread.min(initial=by_thread[0])
    return Flushes(*sum(team.allgather(sums)))
