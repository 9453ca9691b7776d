"""Useful computation: the time in Paraver's state Running, the base of all efficiencies."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from analyzer.parallel import Team
from analyzer.trace import State, Trace


@dataclass(frozen=True)
class Useful:
    """Useful time of every thread, int64 of shape (threads of all ranks,), in order of rank and thread."""

    rank: np.ndarray
    time_ns: np.ndarray

    def by_rank(self) -> np.ndarray:
        """Summed over the threads of each rank, shape (ranks,)."""
        total = np.zeros(int(self.rank.max(initial=-1)) + 1, np.int64)
        np.add.at(total, self.rank, self.time_ns)
        return total


def useful(trace: Trace, team: Team) -> Useful:
    """The sum of state 1 (Running) of each thread.

    In measured runs this is the time outside MPI from the start of the process to its last event, less
    flushes, the tracer's own time and times in which nothing was recorded; in imported traces what the trace calls
    Running.
    """
    first = np.concatenate(([0], np.cumsum(trace.threads)))
    time_ns = np.zeros(int(first[-1]), np.int64)
    ranks = team.share(trace.size)
    for begin, end in pairwise(trace.windows().tolist() if len(ranks) else []):
        states = trace.states(begin, end, ranks)
        states = states[states["state"] == State.RUNNING]
        np.add.at(time_ns, first[states["rank"]] + states["thread"], states["end"] - states["begin"])
    rank_of = np.repeat(np.arange(trace.size), trace.threads)
    return Useful(rank_of, sum(team.allgather(time_ns)))
