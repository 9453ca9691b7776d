"""The iterations of a run, in the one type that all analyses of single iterations use."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum

import numpy as np


class IterationEvidence(Enum):
    """Evidence by which iterations were found: calls, events of the trace, or signals."""

    CALLS = "calls"  # the sequence of calls of each rank: edges are exact on each rank
    EVENTS = "events"  # the trace says when each begins
    SIGNALS = "signals"  # the steps of each rank's signals, or the period of one: then edges are the same on all ranks


@dataclass(frozen=True)
class TaskPasses:
    """Numbers of passes of one loop if a master hands each rank its share of the passes.

    Attributes:
        fewest: Fewest passes of a rank.
        most: Most passes of a rank.
        total: Passes of all these ranks together.
    """

    fewest: int  # of one rank
    most: int
    total: int  # of all these ranks


@dataclass(frozen=True)
class Iterations:
    """Iterations of one loop.

    Iteration k (from 0) of rank r is [edges[r, k], edges[r, k + 1]), in ns of the trace. If an inner loop is entered
    several
    times, the time between two entries belongs to the last iteration before.

    Attributes:
        level: 1 for the outermost loop, 2 for a loop inside one iteration of it, and so on.
        edges: int64 of shape (ranks, count + 1), ascending in each row. -1: the rank's iterations are not known.
        period_ns: Length of the typical iteration.
        body: What an iteration does, such as "3 exchanges, 1 reduction".
        source: Evidence by which the iterations were found.
    """

    level: int  # 1: the outermost loop; 2: inside one iteration of it
    edges: np.ndarray  # int64 (ranks, count + 1), ascending in each row; rows of ranks that are not known are -1
    period_ns: int  # of the typical iteration
    body: str  # in words: "3 exchanges, 1 reduction"
    source: IterationEvidence

    @property
    def count(self) -> int:
        """Number of iterations."""
        return self.edges.shape[1] - 1

    @property
    def known(self) -> np.ndarray:
        """Mask of the ranks whose edges are known, bool of shape (ranks,)."""
        return self.edges[:, 0] >= 0

    @property
    def begin_ns(self) -> int:
        """Begin of the first iteration on the first rank, ns."""
        return int(self.edges[self.known, 0].min())

    @property
    def end_ns(self) -> int:
        """End of the last iteration on the last rank, ns."""
        return int(self.edges[self.known, -1].max())

    def lengths_ns(self) -> np.ndarray:
        """Return the length of each iteration on each rank, ns, int64 of shape (known ranks, count)."""
        return np.diff(self.edges[self.known], axis=1)

    def span_of(self, number: int) -> tuple[int, int]:
        """Return the span of iteration `number` (from 0) over all ranks, ns."""
        edges = self.edges[self.known]
        return int(edges[:, number].min()), int(edges[:, number + 1].max())

    def part(self, first: int, count: int) -> Iterations:
        """Return `count` successive iterations, from iteration `first` (from 0) on.

        Times begin at the begin of the first one, as in a run that was cut out.
        """
        edges = self.edges[:, first : first + count + 1]
        return replace(self, edges=np.where(self.known[:, None], edges - edges[self.known, 0].min(), -1))


def mean_lengths(edges: np.ndarray) -> np.ndarray:
    """Compute the mean length of each iteration over the known ranks, ns, float64 of shape (count,).

    Args:
        edges: Edges as in `Iterations`.
    """
    known = np.flatnonzero(edges[:, 0] >= 0).tolist()
    total = np.zeros(edges.shape[1] - 1)
    for rank in known:
        total += np.diff(edges[rank])
    return total / len(known)
