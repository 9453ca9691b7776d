"""How long the threads of a prediction had to compute and waited for a CPU."""

from __future__ import annotations

import numpy as np

from analyzer.parallel import Team
from analyzer.trace import CpuWaits, Trace


def cpu_waits(trace: Trace, team: Team) -> np.ndarray:
    """ns of each rank's threads outside MPI, the change of the CPU included: int64 of shape (ranks,). Of measured runs
    0: what their threads do not compute between calls is not told from what they do."""
    sums, found = np.zeros(trace.size, np.int64), trace.extra(CpuWaits)
    for rank in trace.share(team):
        rows = found.of(rank)
        if len(rows):
            sums[rank] = (rows["end"] - rows["begin"]).sum()
    return team.total(sums)
