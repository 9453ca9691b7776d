"""What writing the tracer's buffers cost the traced program."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analyzer.parallel import Team
from analyzer.trace import Trace


@dataclass(frozen=True)
class Flushes:
    """By rank, int64 of shape (ranks,)."""

    count: np.ndarray
    time_ns: np.ndarray
    during: np.ndarray
    """The most flushes of one thread, less the one that closed the trace: that one no buffer, however large, avoids."""


def flushes(trace: Trace, team: Team) -> Flushes:
    """Number and duration of the flushes of each rank."""
    sums = np.zeros((3, trace.size), np.int64)
    for rank in team.share(trace.size):
        rows = trace.flushes(rank)
        # Where the process wrote its last rows when the trace was closed, so did each thread when it ended.
        closed = len(rows) > 0 and rows["end"].max() == trace.span(rank)[1]
        during = np.bincount(rows["thread"]).max(initial=0) - int(closed)
        sums[:, rank] = len(rows), (rows["end"] - rows["begin"]).sum(), during
    return Flushes(*sum(team.allgather(sums)))
