"""Useful computation: the time in Paraver's state Running, the base of all efficiencies. docs/computing.md has the
definition that all analyses share."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analyzer.metrics.sums import Sums, add_up
from analyzer.pairing.parts import Part
from analyzer.parallel import Team
from analyzer.trace import State, Trace


@dataclass(frozen=True)
class Useful:
    """Useful time of every thread, int64 of shape (threads of all ranks,), in order of rank and thread."""

    rank: np.ndarray
    time_ns: np.ndarray
    tracer_ns: np.ndarray  # what the tracer took after calls (state TRACER)
    lived_ns: np.ndarray  # from its begin to its end, whatever it did: in all states in which it is there

    def room_ns(self, runtime_ns: int) -> np.ndarray:
        """How much time each thread had, int64 of the shape of `time_ns`: the first thread of a rank all the runtime,
        the others from their begin to their end."""
        first = np.diff(self.rank, prepend=-1) > 0
        return np.where(first, runtime_ns, np.minimum(self.lived_ns, runtime_ns))

    def of_ranks(self, runtime_ns: int) -> np.ndarray:
        """Useful time of a thread of each rank, float64 of shape (ranks,): the mean over its threads, each of which
        counts for the part of the runtime that it lives. So it does not matter who else lived a moment: a thread
        changes it by no more than its own life."""
        count = np.bincount(self.rank, self.room_ns(runtime_ns)) / max(runtime_ns, 1)
        return np.bincount(self.rank, self.time_ns) / np.maximum(count, 1)

    def by_rank(self) -> np.ndarray:
        """Summed over the threads of each rank, shape (ranks,)."""
        return self._summed(self.time_ns)

    def tracer_by_rank(self) -> np.ndarray:
        """The same of the tracer."""
        return self._summed(self.tracer_ns)

    def lived_by_rank(self) -> np.ndarray:
        """The same of their lives."""
        return self._summed(self.lived_ns)

    def least_tracer_by_rank(self) -> np.ndarray:
        """What the tracer took of the thread of each rank that lost least, shape (ranks,)."""
        least = np.full(int(self.rank.max(initial=-1)) + 1, np.iinfo(np.int64).max)
        np.minimum.at(least, self.rank, self.tracer_ns)
        return least

    def _summed(self, of_thread: np.ndarray) -> np.ndarray:
        total = np.zeros(int(self.rank.max(initial=-1)) + 1, np.int64)
        np.add.at(total, self.rank, of_thread)
        return total


def useful(trace: Trace, team: Team) -> Useful:
    """The sum of state 1 (Running) of each thread."""
    return add_up(trace, team, UsefulSums(trace))


_NOT_THERE = (State.IDLE, State.NOT_CREATED)


class UsefulSums(Sums[Useful]):
    """Adds up state 1 (Running) of each thread.

    In measured runs this is the time outside MPI from the start of the process to its last event, less
    flushes, the tracer's own time and times in which nothing was recorded; in traces of other tools what the trace
    calls Running.
    """

    def __init__(self, trace: Trace) -> None:
        self._rank = np.repeat(np.arange(trace.size), trace.threads)
        self._first = np.concatenate(([0], np.cumsum(trace.threads)))
        self._sums = np.zeros((3, len(self._rank)), np.int64)

    def add(self, part: Part) -> None:
        states = part.states
        kinds = states["state"]
        chosen = kinds == State.RUNNING, kinds == State.TRACER, ~np.isin(kinds, _NOT_THERE)
        for of_state, rows in zip(self._sums, map(states.compress, chosen), strict=True):
            np.add.at(of_state, self._first[rows["rank"]] + rows["thread"], rows["end"] - rows["begin"])

    def total(self, team: Team) -> Useful:
        return Useful(self._rank, *team.total(self._sums))
