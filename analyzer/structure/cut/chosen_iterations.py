"""Choice of iterations that represent the whole loop."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from analyzer.parallel import Team
from analyzer.structure.iterations import Iterations
from analyzer.structure.levels.parts import spent
from analyzer.trace import Losses, Trace

AS_NEAR = 0.01
"""Largest difference of efficiencies (0 to 1) from the loop's at which iterations represent it."""
FEWEST = 2
"""Number of iterations that are tried first."""
LENGTH = 0.01
"""Weight of the length compared with the efficiencies. It decides among iterations with equal efficiencies."""


@dataclass(frozen=True)
class IterationStretch:
    """Successive iterations of a loop.

    Attributes:
        first: First iteration, from 0.
        count: Number of iterations.
        off: Largest difference of parallel efficiency, load balance or communication efficiency from the loop's.
    """

    first: int  # from 0
    count: int
    off: float  # by how much parallel efficiency, load balance or communication efficiency differ from the loop's


def typical_stretch(trace: Trace, team: Team, iterations: Iterations, count: int | None = None) -> IterationStretch:
    """Choose successive iterations that are most like the whole loop. Collective over the team.

    Their parallel efficiency, load balance and communication efficiency are nearest to the loop's. Iterations without a
    flush are preferred.

    Args:
        trace: The run.
        team: Processes that share the work.
        iterations: Iterations of the loop.
        count: Number of iterations. None: FEWEST, doubled until the efficiencies differ by at most AS_NEAR (1 %).
    """
    missing = set(trace.extra(Losses).missing)
    mine = {
        rank: spent(trace, rank, iterations.edges[rank])
        for rank in trace.share(team)
        if rank not in missing and iterations.known[rank]
    }
    every = {rank: sums for part in team.allgather(mine) for rank, sums in part.items()}
    ranks = sorted(every)
    useful = np.array([every[rank][0] for rank in ranks])
    lost = np.diff(np.array([every[rank][2] for rank in ranks]).sum(axis=0))
    if count is not None:
        return nearest(iterations.edges[ranks], useful, lost, count)
    number = min(FEWEST, iterations.count)
    best = nearest(iterations.edges[ranks], useful, lost, number)
    while best.off > AS_NEAR and 2 * number <= iterations.count:
        number *= 2
        best = min(best, nearest(iterations.edges[ranks], useful, lost, number), key=lambda one: one.off)
    return best


def nearest(edges: np.ndarray, useful: np.ndarray, lost: np.ndarray, count: int) -> IterationStretch:
    """Find the successive iterations whose efficiencies are nearest to the whole loop's.

    Args:
        edges: Edges of the iterations, ns, shape (ranks, iterations + 1).
        useful: Computation of each rank up to each edge, ns, shape (ranks, iterations + 1).
        lost: Time lost to the tracer in each iteration, ns, shape (iterations,).
        count: Number of iterations.
    """
    first = np.arange(edges.shape[1] - count)
    lengths = (edges[:, count:].max(axis=0) - edges[:, : len(first)].min(axis=0)).astype(np.float64)
    computed = (useful[:, count:] - useful[:, : len(first)]).astype(np.float64)
    span = np.array([edges[:, -1].max() - edges[:, 0].min()], np.float64)
    whole = _factors((useful[:, -1:] - useful[:, :1]).astype(np.float64), span)
    off = np.abs(_factors(computed, lengths) - whole).max(axis=0)
    usual = max(float(span[0]) * count / (edges.shape[1] - 1), 1.0)
    disturbed = np.convolve(lost > 0, np.ones(count), "valid") > 0
    judged = off + LENGTH * np.abs(lengths / usual - 1)
    best = int(np.where(disturbed & ~disturbed.all(), np.inf, judged).argmin())
    return IterationStretch(best, count, float(off[best]))


def _factors(computed: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """Return parallel efficiency, load balance and communication efficiency of n stretches, shape (3, n).

    Args:
        computed: Computation of each rank, ns, shape (ranks, n).
        lengths: Length of each stretch, ns, shape (n,).
    """
    mean, most, lengths = computed.mean(axis=0), np.maximum(computed.max(axis=0), 1), np.maximum(lengths, 1)
    return np.stack([mean / lengths, mean / most, most / lengths])


def window(iterations: Iterations, first: int, count: int) -> np.ndarray:
    """Return begin and end of `count` iterations from `first` on, for each rank: int64 (ranks, 2) ns. -1: not known."""
    return iterations.edges[:, [first, first + count]]


def fixed_window(trace: Trace, begin_ns: int, end_ns: int) -> np.ndarray:
    """Return begin and end, the same for each rank, ns, int64 (ranks, 2)."""
    return np.broadcast_to(np.array([begin_ns, end_ns], np.int64), (trace.size, 2))


def span_of(windows: Sequence[tuple[int, int]] | np.ndarray) -> tuple[int, int]:
    """Return the earliest begin and the latest end of windows, ns. Windows that are not known (-1) do not count."""
    known = np.asarray(windows)
    known = known[known[:, 0] >= 0]
    return int(known[:, 0].min()), int(known[:, 1].max())
