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


def flushes(trace: Trace, team: Team) -> Flushes:
    """Number and duration of the flushes of each rank."""
    sums = np.zeros((2, trace.size), np.int64)
    for rank in team.share(trace.size):
        rows = trace.flushes(rank)
        sums[:, rank] = len(rows), (rows["end"] - rows["begin"]).sum()
    return Flushes(*sum(team.allgather(sums)))
