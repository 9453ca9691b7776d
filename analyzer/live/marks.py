"""Marks that a live view shows in a window of time: regions of a rank, iterations, and flushes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import numpy as np

from analyzer.live.rows import RowSet
from analyzer.live.run import LiveRun
from analyzer.structure.iterations import Iterations
from analyzer.timeline import MOST_EDGES, TimelineSpan, flushes_of
from analyzer.waits.region_paths import OUTSIDE, path_at

_SLOTS = 1000
"""Number of equal slots of the window in which regions are sampled. Regions shorter than a slot may be missed."""
_RANKS = 16
"""Number of ranks whose regions stay in memory."""


@dataclass(frozen=True)
class IterationEdges:
    """Begins of iterations in a window, on one rank. `ns` has their times; only each `every`-th edge is listed."""

    rank: int
    first: int  # number of the iteration that begins at the first edge, from 0
    ns: tuple[int, ...]
    every: int  # only each edge whose number is a multiple of `every` is listed
    body: str


class MarkFinder:
    """Finder of the regions and flushes in a window of one run."""

    def __init__(self, run: LiveRun) -> None:
        self._run = run
        self._changes = lru_cache(_RANKS)(run.where.paths.changes)
        self._flushes: tuple[RowSet | None, tuple[tuple[int, int], ...]] = (None, ())

    def regions(self, rank: int, begin: int, end: int) -> tuple[TimelineSpan, ...]:
        """List the regions that thread 0 of a rank is in, named as "solve/exchange".

        Regions are sampled in the middle of _SLOTS equal slots of [begin, end) ns.
        """
        with self._run.reading:
            changes = self._changes(rank)
        edges = np.linspace(begin, end, _SLOTS + 1)
        path = path_at(changes[0], (edges[:-1] + edges[1:]) / 2) if changes else np.full(_SLOTS, OUTSIDE)
        cuts = np.flatnonzero(np.diff(path, prepend=-1, append=-1)).tolist()
        times = np.rint(edges).astype(np.int64).tolist()
        return tuple(
            TimelineSpan(self._run.where.paths.texts[path[low]], times[low], times[high])
            for low, high in pairwise(cuts)
            if path[low] != OUTSIDE
        )

    def flushes(self, rows: RowSet, begin: int, end: int) -> list[tuple[int, int]]:
        """Return (row, begin in ns) of those flushes that begin in [begin, end) ns.

        Only the run's longest flushes are known.
        """
        if self._flushes[0] is not rows:
            with self._run.reading:
                self._flushes = rows, flushes_of(self._run.trace, rows.of_rank)
        return [(row, at) for row, at in self._flushes[1] if begin <= at < end]


def edges_of(iterations: Iterations | None, rank: int, begin: int, end: int) -> IterationEdges | None:
    """Return the edges of iterations in [begin, end) ns, at most about MOST_EDGES of them.

    The rank is `rank`, or the first rank with iterations if `rank` has none. None: no rank has iterations.
    """
    if iterations is None or not iterations.known.any():
        return None
    whose = rank if iterations.known[rank] else int(iterations.known.argmax())
    edges = iterations.edges[whose]
    low, high = np.searchsorted(edges, [begin, end]).tolist()
    every = max(-(-(high - low) // MOST_EDGES), 1)
    low = -(-low // every) * every  # the same ones are shown wherever the stretch begins
    return IterationEdges(whose, low, tuple(edges[low:high:every].tolist()), every, iterations.body)
