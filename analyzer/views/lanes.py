"""Rows of views: threads, and the tasks (ranks), applications, CPUs and nodes to which they belong."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from itertools import pairwise

import numpy as np

from analyzer.errors import TracelibError
from analyzer.trace import Losses, Trace


class Level(StrEnum):
    """Level of a view: the thing that one row stands for, named as in Paraver. A task is a rank."""

    THREAD = "thread"
    TASK = "task"
    APPLICATION = "application"
    CPU = "cpu"
    NODE = "node"
    SYSTEM = "system"


CHAINS: dict[Level, tuple[Level, ...]] = {
    Level.THREAD: (),
    Level.TASK: (Level.TASK,),
    Level.APPLICATION: (Level.TASK, Level.APPLICATION),
    Level.CPU: (Level.CPU,),
    Level.NODE: (Level.NODE,),
    Level.SYSTEM: (Level.NODE, Level.SYSTEM),
}
"""Levels through which the values of threads are combined, in order, by the level of the view."""


@dataclass(frozen=True)
class ViewRows:
    """Rows of a view on one level: their names, and the row of each lane (thread)."""

    level: Level
    names: tuple[str, ...]
    of_lane: np.ndarray  # int64 (lanes,)

    def __len__(self) -> int:
        return len(self.names)

    def parents(self, above: ViewRows) -> np.ndarray:
        """Return the row of a coarser level that contains each row, int64 of shape (rows,).

        All threads of a row must be in the same row of the coarser level.
        """
        found = np.zeros(len(self), np.int64)
        found[self.of_lane] = above.of_lane
        return found


def names_of(names: tuple[str, ...], shown: np.ndarray) -> tuple[str, ...]:
    """Return the names of the rows that a bool mask of shape (rows,) chooses."""
    return tuple(name for name, is_shown in zip(names, shown.tolist(), strict=True) if is_shown)


class ViewLanes:
    """Threads of all ranks that could be read, numbered by rank and thread. Such a number is a lane."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        present = np.ones(trace.size, bool)
        present[list(trace.extra(Losses).missing)] = False
        self.ranks = np.flatnonzero(present)
        threads = np.asarray(trace.threads, np.int64)
        self.rank = np.repeat(self.ranks, threads[self.ranks])
        firsts = np.concatenate(([0], np.cumsum(threads[self.ranks])))[:-1]
        self.thread = np.arange(len(self.rank)) - np.repeat(firsts, threads[self.ranks])
        self._first = np.full(trace.size, -1, np.int64)
        self._first[self.ranks] = firsts

    def __len__(self) -> int:
        return len(self.rank)

    def lane_numbers(self, rank: np.ndarray, thread: np.ndarray) -> np.ndarray:
        """Return the lane of each pair (rank, thread); -1: the rank could not be read."""
        first = self._first[rank]
        return np.where(first >= 0, first + thread, -1)

    @property
    def in_run(self) -> np.ndarray:
        """Number of each lane among the threads of all ranks, int64. Ranks that could not be read are counted, too."""
        threads = np.asarray(self.trace.threads, np.int64)
        return (np.cumsum(threads) - threads)[self.rank] + self.thread

    def rows(self, level: Level) -> ViewRows:
        """Return the rows of a level.

        Raises:
            TracelibError: The trace does not record this level, e.g. CPUs.
        """
        return self._rows[level] if level in self._rows else self._made(level)

    @cached_property
    def _rows(self) -> dict[Level, ViewRows]:
        return {}

    def _made(self, level: Level) -> ViewRows:
        names, of_lane = getattr(self, f"_{level.value}s")()
        self._rows[level] = ViewRows(level, tuple(names), np.asarray(of_lane, np.int64))
        return self._rows[level]

    def _threads(self) -> tuple[Sequence[str], np.ndarray]:
        several = bool((np.asarray(self.trace.threads) > 1).any())
        pairs = zip(self.rank.tolist(), self.thread.tolist(), strict=True)
        return [f"{rank}.{thread}" if several else str(rank) for rank, thread in pairs], np.arange(len(self))

    def _tasks(self) -> tuple[Sequence[str], np.ndarray]:
        return [str(rank) for rank in self.ranks.tolist()], np.searchsorted(self.ranks, self.rank)

    def _applications(self) -> tuple[Sequence[str], np.ndarray]:
        ends = np.cumsum(self.trace.origin.applications or (self.trace.size,))
        which, of_lane = np.unique(np.searchsorted(ends, self.rank, side="right"), return_inverse=True)
        return [f"application {number + 1}" for number in which.tolist()], of_lane

    def _nodes(self) -> tuple[Sequence[str], np.ndarray]:
        which, of_lane = np.unique(np.asarray(self.trace.nodes.of_rank)[self.rank], return_inverse=True)
        return [self.trace.nodes.names[number] for number in which.tolist()], of_lane

    def _systems(self) -> tuple[Sequence[str], np.ndarray]:
        return ["all nodes"], np.zeros(len(self), np.int64)

    def _cpus(self) -> tuple[Sequence[str], np.ndarray]:
        """Return the names of CPUs, and the row of the CPU on which each thread is seen first."""
        cpu = np.zeros(len(self), np.int64)
        for begin, end in pairwise(self.trace.windows().tolist()):
            states = self.trace.states(begin, end)[::-1]
            lane = self.lane_numbers(states["rank"], states["thread"])
            known = (lane >= 0) & (states["cpu"] > 0)  # a waiting thread that shares its CPU has CPU 0: none
            states, lane = states[known], lane[known]
            seen = np.zeros(len(self), np.int64)
            seen[lane] = states["cpu"]
            cpu = np.where(cpu, cpu, seen)
            if cpu.all():
                break
        if not cpu.all():
            raise TracelibError(f"{self.trace.path}: it does not say on which CPU each thread is", "take level node", 2)
        which, of_lane = np.unique(cpu, return_inverse=True)
        return [f"CPU {number}" for number in which.tolist()], of_lane
