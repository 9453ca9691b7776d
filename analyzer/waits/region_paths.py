"""Paths of regions: the regions that a thread is in, from the outermost to the innermost, such as "solve/exchange"."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from analyzer.metrics.regions import region_visits
from analyzer.trace import Regions, Trace

OUTSIDE = 0
"""Number of the path that is in no region."""


class RegionPaths:
    """Numbers of the paths of regions that occur, and the times at which threads change their path."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._numbers: dict[tuple[int, int], int] = {}
        self.texts = [""]  # text of each path, such as "solve/exchange"; "" for OUTSIDE

    def add(self, keys: Sequence[tuple[int, int]]) -> np.ndarray:
        """Add the paths that another process has numbered.

        Args:
            keys: `keys` of the other process.

        Returns:
            Number here of each path of the other process (int64), OUTSIDE first.
        """
        numbers = [OUTSIDE]
        for parent, region in keys:
            numbers.append(self._number(numbers[parent], region))
        return np.array(numbers, np.int64)

    @property
    def keys(self) -> list[tuple[int, int]]:
        """Return for each path but OUTSIDE the number of the path around it, and its innermost region (index).

        The pairs are in order of the paths' numbers.
        """
        return list(self._numbers)

    def changes(self, rank: int) -> list[tuple[np.ndarray, np.ndarray]]:
        """Return the changes of path of a rank's threads.

        Returns:
            For each thread the times of the changes (ns, ascending), and the number of the new path at each, both
            int64.
        """
        visits = region_visits(self._trace, rank) if self._trace.extra(Regions).names else None
        if visits is None or not len(visits):
            return [(np.zeros(0, np.int64), np.zeros(0, np.int64))] * int(self._trace.threads[rank])
        path, parent = self.of_visits(visits)
        found = []
        for thread in range(int(self._trace.threads[rank])):
            mine = (visits["thread"] == thread) & (visits["begin"] < visits["end"])
            begin, end, depth = (visits[column][mine] for column in ("begin", "end", "depth"))
            times, paths = np.concatenate([begin, end]), np.concatenate([path[mine], parent[mine]])
            # At the same time ends come first, the innermost before those around it; then begins, the outermost first.
            order = np.lexsort((np.concatenate([depth, -depth]), np.repeat([1, 0], len(begin)), times))
            order = order[_last_of_each(times[order])]
            found.append((times[order], paths[order]))
        return found

    def of_visits(self, visits: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the number of the path of each visit (VISIT) of a rank, and the number of the path around it."""
        path = np.zeros(len(visits), np.int64)
        parent = np.zeros(len(visits), np.int64)
        above = np.zeros(0, np.int64)
        for depth in range(int(visits["depth"].max()) + 1):
            rows = np.flatnonzero(visits["depth"] == depth)
            if depth:  # visits are in order: the last visit of the depth above before a visit is around it
                parent[rows] = path[above[np.searchsorted(above, rows) - 1]]
            pairs, which = np.unique(np.stack([parent[rows], visits["region"][rows]]), axis=1, return_inverse=True)
            numbers = np.array([self._number(*pair) for pair in pairs.T.tolist()], np.int64)
            path[rows] = numbers[which.ravel()]
            above = rows
        return path, parent

    def _number(self, parent: int, region: int) -> int:
        if (parent, region) not in self._numbers:
            self._numbers[parent, region] = len(self.texts)
            name = self._trace.extra(Regions).names[region]
            self.texts.append(f"{self.texts[parent]}/{name}" if parent else name)
        return self._numbers[parent, region]


@dataclass(frozen=True)
class PathChanges:
    """Changes of path of the threads of some ranks, sorted by thread and time (ns).

    `thread` is numbered from 0 through the threads of all these ranks. `path` is the new path.
    """

    thread: np.ndarray
    time: np.ndarray
    path: np.ndarray

    @classmethod
    def collect(cls, paths: RegionPaths, ranks: range) -> PathChanges:
        """Collect the changes of path of all threads of some ranks."""
        every = list(chain.from_iterable(paths.changes(rank) for rank in ranks))
        thread = np.repeat(np.arange(len(every)), [len(times) for times, _ in every])
        times, numbers = (np.concatenate([np.zeros(0, np.int64), *column]) for column in zip(*every, strict=True))
        return cls(thread, times, numbers)

    def path_at(self, thread: np.ndarray, time: np.ndarray) -> np.ndarray:
        """Return the path of each (thread, time in ns), which are sorted by both.

        At the time of a change it is the new path.
        """
        found = np.full(len(thread), OUTSIDE)
        for one in np.unique(self.thread).tolist():
            own, mine = (slice(*np.searchsorted(of, [one, one + 1])) for of in (self.thread, thread))
            found[mine] = path_at((self.time[own], self.path[own]), time[mine])
        return found


def path_at(changes: tuple[np.ndarray, np.ndarray], times: np.ndarray) -> np.ndarray:
    """Return the path of a thread at each time (ns). At the time of a change it is the new path.

    Args:
        changes: Times of the changes (ascending), and new paths, of one thread.
        times: The times.
    """
    when, paths = changes
    at = np.searchsorted(when, times, side="right") - 1
    return np.where(at >= 0, paths[at], OUTSIDE) if len(when) else np.zeros(len(times), np.int64)


def _last_of_each(times: np.ndarray) -> np.ndarray:
    return np.flatnonzero(np.append(np.diff(times) != 0, True)[: len(times)])
