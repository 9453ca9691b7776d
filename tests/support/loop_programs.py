"""Traces of programs that are written down as the calls that each rank makes, one after the other."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from memory_trace import MemoryTrace

CALL_NS, BURST_NS = 100, 1000
Step = str | tuple[str, int]
"""A call with a burst before it of usual length, or of the given length in ns. "Send 1" names a partner, "Send 1 8"
bytes, too."""


def rank_of(steps: Iterable[Step], jitter: float = 0.0, seed: int = 0) -> list:
    """The calls of a rank, as MemoryTrace takes them, from MPI_Init to MPI_Finalize."""
    rng = np.random.default_rng(seed)
    rows, now = [("MPI_Init", 0, CALL_NS, {})], CALL_NS
    for step in steps:
        words, burst = (step, BURST_NS) if isinstance(step, str) else step
        name, *numbers = words.split()
        columns = {"peer": int(numbers[0])} if numbers else {"comm": 0}
        if numbers[1:]:
            columns["sent"] = int(numbers[1])
        now += max(round(burst * (1 + jitter * rng.normal())), 1)
        rows.append((f"MPI_{name}", now, now + CALL_NS, columns))
        now += CALL_NS
    rows.append(("MPI_Finalize", now + BURST_NS, now + BURST_NS + CALL_NS, {}))
    return rows


def program(steps: Sequence[Step], ranks: int = 1, jitter: float = 0.0) -> MemoryTrace:
    """All ranks make the same calls."""
    return MemoryTrace([rank_of(steps, jitter, seed) for seed in range(ranks)])
