"""Which iterations stand for all of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from analyzer.parallel import Team
from analyzer.structure.iterations import Iterations
from analyzer.structure.levels.costs import spent
from analyzer.trace import Losses, Trace

BALANCE, LENGTH = 0.3, 0.1
"""How much a stretch's load balance and its length count beside its parallel efficiency."""


def typical_stretch(trace: Trace, team: Team, iterations: Iterations, count: int) -> int:
    """The first (from 0) of `count` iterations in a row whose parallel efficiency, load balance and length are nearest
    to those of the whole loop, among those in which no buffer was written, if there are any. Collective over the team.
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
    lost = np.array([every[rank][2] for rank in ranks]).sum(axis=0)
    return _nearest(iterations.edges[ranks], useful, np.diff(lost), count)


def _nearest(edges: np.ndarray, useful: np.ndarray, lost: np.ndarray, count: int) -> int:
    """edges, useful: (ranks, iterations + 1) ns, what was computed up to each edge; lost: (iterations,) to the
    tracer."""
    first = np.arange(edges.shape[1] - count)
    lengths = (edges[:, count:].max(axis=0) - edges[:, : len(first)].min(axis=0)).astype(np.float64)
    computed = (useful[:, count:] - useful[:, : len(first)]).astype(np.float64)
    whole = _factors(
        (useful[:, -1:] - useful[:, :1]).astype(np.float64), np.array([edges[:, -1].max() - edges[:, 0].min()])
    )
    own = _factors(computed, lengths)
    usual = max((edges[:, -1].max() - edges[:, 0].min()) * count / (edges.shape[1] - 1), 1)
    off = np.array([1, BALANCE]) @ np.abs(own - whole) + LENGTH * np.abs(lengths / usual - 1)
    disturbed = np.convolve(lost > 0, np.ones(count), "valid") > 0
    return int(np.where(disturbed & ~disturbed.all(), np.inf, off).argmin())


def _factors(computed: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """(2, n): parallel efficiency and load balance of what ranks compute (ranks, n) in so long (n,)."""
    mean, most = computed.mean(axis=0), np.maximum(computed.max(axis=0), 1)
    return np.stack([mean / np.maximum(lengths, 1), mean / most])


def window(iterations: Iterations, first: int, count: int) -> np.ndarray:
    """int64 (ranks, 2): begin and end of these iterations on each rank, ns; -1: not known."""
    return iterations.edges[:, [first, first + count]]


def fixed_window(trace: Trace, begin_ns: int, end_ns: int) -> np.ndarray:
    """The same of times that are those of all ranks."""
    return np.broadcast_to(np.array([begin_ns, end_ns], np.int64), (trace.size, 2))


def span_of(windows: Sequence[tuple[int, int]] | np.ndarray) -> tuple[int, int]:
    """The first begin and the last end of known windows."""
    known = np.asarray(windows)
    known = known[known[:, 0] >= 0]
    return int(known[:, 0].min()), int(known[:, 1].max())
