"""Useful time: the time in Paraver's state Running, on which all efficiencies are based.

docs/computing.md has the definition that all analyses share. Also statistics of bursts, and the time that threads of a
prediction waited for a CPU.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from analyzer.metrics.sums import Sums, add_up
from analyzer.pairing.parts import Part
from analyzer.parallel import Team
from analyzer.trace import CpuWaits, State, Trace


@dataclass(frozen=True)
class UsefulTime:
    """Useful time of each thread, int64 ns of shape (threads of all ranks,), in order of rank and thread."""

    rank: np.ndarray
    time_ns: np.ndarray
    tracer_ns: np.ndarray  # time of the tracer after calls (state TRACER)
    lived_ns: np.ndarray  # time in all states in which the thread exists, not idle or not created

    def room_ns(self, runtime_ns: int) -> np.ndarray:
        """Return the time in which each thread could have computed, int64 ns of the shape of `time_ns`.

        For the first thread of a rank this is the runtime, for other threads the time that they existed.
        """
        first = np.diff(self.rank, prepend=-1) > 0
        return np.where(first, runtime_ns, np.minimum(self.lived_ns, runtime_ns))

    def of_ranks(self, runtime_ns: int) -> np.ndarray:
        """Return the mean useful time of the threads of each rank, float64 ns of shape (ranks,).

        Each thread counts with weight room_ns / runtime. So a thread that lived for a short time changes the mean
        little.
        """
        count = np.bincount(self.rank, self.room_ns(runtime_ns)) / max(runtime_ns, 1)
        return np.bincount(self.rank, self.time_ns) / np.maximum(count, 1)

    def by_rank(self) -> np.ndarray:
        """Sum the useful time of the threads of each rank, int64 ns of shape (ranks,)."""
        return self._summed(self.time_ns)

    def tracer_by_rank(self) -> np.ndarray:
        """Sum the tracer's time after calls over the threads of each rank, int64 ns of shape (ranks,)."""
        return self._summed(self.tracer_ns)

    def lived_by_rank(self) -> np.ndarray:
        """Sum the time that the threads of each rank existed, int64 ns of shape (ranks,)."""
        return self._summed(self.lived_ns)

    def least_tracer_by_rank(self) -> np.ndarray:
        """Return the smallest time of the tracer after calls among the threads of each rank, in ns.

        It is int64 of shape (ranks,).
        """
        least = np.full(int(self.rank.max(initial=-1)) + 1, np.iinfo(np.int64).max)
        np.minimum.at(least, self.rank, self.tracer_ns)
        return least

    def _summed(self, of_thread: np.ndarray) -> np.ndarray:
        total = np.zeros(int(self.rank.max(initial=-1)) + 1, np.int64)
        np.add.at(total, self.rank, of_thread)
        return total


def useful(trace: Trace, team: Team) -> UsefulTime:
    """Sum the time in state Running of each thread. Collective."""
    return add_up(trace, team, UsefulSums(trace))


_NOT_THERE = (State.IDLE, State.NOT_CREATED)


class UsefulSums(Sums[UsefulTime]):
    """Sums of the time in state Running of each thread.

    In measured runs this is the time outside MPI from the start of the process to its last event, less flushes, the
    tracer's own time and times in which nothing was recorded. In traces of other tools it is what the trace calls
    Running.
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

    def total(self, team: Team) -> UsefulTime:
        return UsefulTime(self._rank, *team.total(self._sums))


STEPS = 64
"""Number of histogram classes for each power of two. So a percentile is at most 1/64 (1.6 %) too large."""
PERCENTILES = (5, 25, 50, 75, 95)
"""Percentiles of the lengths of bursts that are computed."""


@dataclass(frozen=True)
class Bursts:
    """Statistics of the lengths of all bursts of all threads."""

    count: int
    time_ns: int
    longest_ns: int
    percentiles_ns: dict[int, int]  # percent -> length in ns that this share of the bursts does not exceed
    by_length: tuple[int, ...] = field(default=(), compare=False)
    """Number of bursts that last at least 2^(k-1) ns and less than 2^k ns, for k from 0."""

    @property
    def mean_ns(self) -> float:
        return self.time_ns / self.count if self.count else 0.0


def bursts(trace: Trace, team: Team) -> Bursts:
    """Compute number, mean and percentiles of the lengths of all bursts. Collective.

    A burst is an interval of positive length in state Running.
    """
    return add_up(trace, team, BurstSums())


class BurstSums(Sums[Bursts]):
    """Sums of bursts.

    Percentiles come from a histogram of 64 classes for each power of two, since not all lengths need fit into memory.
    The 50th percentile is the smallest upper bound of a class that half of the bursts do not exceed.
    """

    def __init__(self) -> None:
        self._histogram = np.zeros(64 * STEPS, np.int64)
        self._time_ns = self._longest = 0

    def add(self, part: Part) -> None:
        states = part.states
        length = (states["end"] - states["begin"])[states["state"] == State.RUNNING]
        length = length[length > 0]
        self._histogram += np.bincount(_class(length), minlength=len(self._histogram))
        self._time_ns += int(length.sum())
        self._longest = max(self._longest, int(length.max(initial=0)))

    def total(self, team: Team) -> Bursts:
        members = team.allgather((self._histogram, self._time_ns, self._longest))
        histogram = sum(m[0] for m in members)
        longest = max(m[2] for m in members)
        count = int(histogram.sum())
        below = np.cumsum(histogram)
        at = {p: int(np.searchsorted(below, count * p / 100)) for p in PERCENTILES} if count else {}
        percentiles = {p: min(_bound(k), longest) for p, k in at.items()}
        by_length = tuple(histogram.reshape(64, STEPS).sum(axis=1).tolist())
        return Bursts(count, sum(m[1] for m in members), longest, percentiles, by_length)


def _class(length: np.ndarray) -> np.ndarray:
    """Return the class of each length (ns): class k * STEPS + s ends at (1 + s / STEPS) * 2^(k - 1)."""
    mantissa, exponent = np.frexp(length.astype(np.float64))
    return exponent.astype(np.int64) * STEPS + np.ceil((2 * mantissa - 1) * STEPS).astype(np.int64)


def _bound(index: int) -> int:
    """Return the largest length of a class, ns."""
    exponent, step = divmod(index, STEPS)
    return int((1 + step / STEPS) * 2.0 ** (exponent - 1))


def cpu_waits(trace: Trace, team: Team) -> np.ndarray:
    """Sum the ns that the threads of each rank waited for a CPU outside MPI, int64 of shape (ranks,). Collective.

    The time for switching the CPU is included. It is 0 for measured runs, whose traces do not distinguish such waiting
    from computing.
    """
    sums, found = np.zeros(trace.size, np.int64), trace.extra(CpuWaits)
    for rank in trace.share(team):
        rows = found.of(rank)
        if len(rows):
            sums[rank] = (rows["end"] - rows["begin"]).sum()
    return team.total(sums)
