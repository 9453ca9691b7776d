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
    closing: np.ndarray
    """1 where the last flush is the one that closed the trace: no buffer, however large, avoids it."""


def flushes(trace: Trace, team: Team) -> Flushes:
    """Number and duration of the flushes of each rank."""
    sums = np.zeros((3, trace.size), np.int64)
    for rank in team.share(trace.size):
        rows = trace.flushes(rank)
        closing = len(rows) > 0 and rows["end"].max() == trace.span(rank)[1]
        sums[:, rank] = len(rows), (rows["end"] - rows["begin"]).sum(), closing
    return Flushes(*sum(team.allgather(sums)))
