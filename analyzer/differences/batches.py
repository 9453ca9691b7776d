"""Iterations in batches: samples of a figure within one run, from which its noise is known.

Neighbouring iterations are often alike, so that single ones would promise more than they hold: means of batches, long
enough to be independent of each other, do not. Source: A. M. Law, "Simulation Modeling and Analysis", section 9.5.3
(batch means).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analyzer.structure.iterations import Iterations

MOST, LEAST = 32, 8
"""Batches; a run with fewer iterations than LEAST has no samples."""


@dataclass(frozen=True)
class Batches:
    """Batch k of rank r is [edges[r, k], edges[r, k + 1]), in ns; of ranks whose iterations are not known, -1."""

    edges: np.ndarray  # int64 (ranks, batches + 1)
    iterations: np.ndarray  # (batches,) how many are in each
    lengths_ns: np.ndarray  # (batches,) mean length of one: of each the longest of all ranks

    def __len__(self) -> int:
        return len(self.iterations)

    def of(self, rank: np.ndarray, time: np.ndarray) -> np.ndarray:
        """The batch in which each time of a rank lies; of times outside all of them the number of batches."""
        columns, span = self.edges.shape[1], int(self.edges.max(initial=0)) + 2
        flat = (self.edges + 1 + span * np.arange(len(self.edges))[:, None]).ravel()
        at = np.searchsorted(flat, rank * span + 1 + np.minimum(time, span - 2), "right") - 1
        number = at - rank * columns
        inside = (number >= 0) & (number < len(self)) & (self.edges[rank, 0] >= 0)
        return np.where(inside, number, len(self))


def batches(iterations: Iterations | None) -> Batches | None:
    """As many batches of a loop as are independent by the lengths of their iterations, between LEAST and MOST. None:
    there are too few iterations."""
    if iterations is None or iterations.count < LEAST:
        return None
    lengths = iterations.lengths_ns().max(axis=0)
    number = min(MOST, iterations.count)
    while number >= 2 * LEAST and _follows(_means(lengths, _cuts(len(lengths), number))):
        number //= 2
    cuts = _cuts(len(lengths), number)
    return Batches(np.ascontiguousarray(iterations.edges[:, cuts]), np.diff(cuts), _means(lengths, cuts))


def _cuts(count: int, number: int) -> np.ndarray:
    return np.linspace(0, count, number + 1).astype(np.int64)


def _means(values: np.ndarray, cuts: np.ndarray) -> np.ndarray:
    return np.add.reduceat(values, cuts[:-1]) / np.diff(cuts)


def _follows(means: np.ndarray) -> bool:
    """Whether each is more like the one before than chance makes it: their correlation is above two standard errors
    of that of independent ones, 1 / sqrt(n)."""
    away = means - means.mean()
    spread = float(away @ away)
    return spread > 0 and float(away[1:] @ away[:-1]) / spread > 2 / np.sqrt(len(means))
