"""Counts of `programs/own_counters.c` before each barrier, and their values in a trace."""

import numpy as np

from analyzer.trace import Counters

ALPHA, BETA = "sde:::Own::alpha", "sde:::Own::beta"


def barriers(trace, rank):
    """Return the counts before each MPI_Barrier in a trace, by the name of the counter."""
    parts = list(trace.extra(Counters).counts(rank))
    chosen = np.concatenate([p.calls["call"] for p in parts]) == trace.procedures.index("MPI_Barrier")
    burst = np.concatenate([p.burst for p in parts])[chosen]
    return {counter.name: burst[:, column] for column, counter in enumerate(trace.extra(Counters).known)}


def added(rank, n):
    """Return the values that the program adds before each barrier."""
    i = np.arange(n)
    return {ALPHA: i * 5 + rank, BETA: 1000 - i}
