"""The iterations of a run: the one type that whoever looks at them one by one asks for."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum

import numpy as np


class IterationEvidence(Enum):
    """Evidence by which iterations were found."""

    CALLS = "calls"  # the sequence of calls of each rank: edges are exact on each rank
    EVENTS = "events"  # the trace says when each begins
    SIGNALS = "signals"  # the steps of each rank's signals, or the period of one: then edges are the same on all ranks


@dataclass(frozen=True)
class TaskPasses:
    """How many passes of one loop ranks make that are each handed their share by a master."""

    fewest: int  # of one rank
    most: int
    total: int  # of all these ranks


@dataclass(frozen=True)
class Iterations:
    """The passes of one loop.

    Iteration k (from 0) of rank r is [edges[r, k], edges[r, k + 1]), in ns of the trace. Where the loop is entered
    anew (passes of an inner loop), what lies between two entries belongs to the last pass before.
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
        """(ranks,) bool: of which ranks the edges are known."""
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
        """Return how long each iteration takes on each rank, int64 (known ranks, count)."""
        return np.diff(self.edges[self.known], axis=1)

    def span_of(self, number: int) -> tuple[int, int]:
        """Return the span of iteration `number` (from 0) over all ranks, ns."""
        edges = self.edges[self.known]
        return int(edges[:, number].min()), int(edges[:, number + 1].max())

    def part(self, first: int, count: int) -> Iterations:
        """Return some of these in a row, from `first` (from 0) on, with times from the begin of the first on: as in
        a cut."""
        edges = self.edges[:, first : first + count + 1]
        return replace(self, edges=np.where(self.known[:, None], edges - edges[self.known, 0].min(), -1))


def mean_lengths(edges: np.ndarray) -> np.ndarray:
    """Compute the mean length of each iteration over the known ranks, float64 (count,) ns. edges: as in Iterations."""
    known = np.flatnonzero(edges[:, 0] >= 0).tolist()
    total = np.zeros(edges.shape[1] - 1)
    for rank in known:
        total += np.diff(edges[rank])
    return total / len(known)
