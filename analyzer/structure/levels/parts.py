"""Parts of a run's time, the parts inside one iteration of these, and so on; cost of a part, agreement of signals."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum
from itertools import pairwise
from statistics import median

import numpy as np

from analyzer.metrics.regions import lost_times
from analyzer.pairing.requests import window_calls, windows_of_rank
from analyzer.structure.iterations import Iterations, TaskPasses
from analyzer.structure.perturbations import PerturbedTime, PerturbingSignal
from analyzer.structure.signals import RunSignal
from analyzer.trace import State, Trace


def spent(trace: Trace, rank: int, times: np.ndarray) -> np.ndarray:
    """Return what a rank has computed, spent in MPI and lost to the tracer before each time, int64 (3, times).

    times: in order. It is the mean of its threads.
    """
    lost = lost_times(trace, rank)
    sums = np.stack([*np.zeros((2, len(times)), np.int64), time_before(lost["begin"], lost["end"], times)])
    tracer_times = trace.origin.tracer_times
    for begin, end in pairwise(windows_of_rank(trace, rank).tolist()):
        states = trace.states(begin, end, range(rank, rank + 1))
        running = states[states["state"] == State.RUNNING]
        calls = window_calls(trace, rank, begin, end)
        sums[0] += time_before(running["begin"], running["end"], times)
        if tracer_times:
            tracer = states[states["state"] == State.TRACER]
            sums[2] += time_before(tracer["begin"], tracer["end"], times)
        sums[1] += time_before(calls["enter"], calls["enter"] + calls["inside"], times)
    return sums // max(int(trace.threads[rank]), 1)


def time_before(begin: np.ndarray, end: np.ndarray, times: np.ndarray) -> np.ndarray:
    """Return for each time how much of all intervals together lies before it (int64), of all threads at once.

    That is the time since all begins before it, less the time since all ends before it. Products may overflow: int64
    is exact modulo 2**64, and the result is small.
    """
    return _time_since(begin, times) - _time_since(end, times)


def _time_since(points: np.ndarray, times: np.ndarray) -> np.ndarray:
    ordered = np.sort(points.astype(np.int64))
    count = np.searchsorted(ordered, times, "right").astype(np.int64)
    return count * times - np.concatenate([np.zeros(1, np.int64), np.cumsum(ordered)])[count]


class PartKind(Enum):
    """Kind of a part."""

    INITIALISATION = "initialisation"
    LOOP = "loop"
    BETWEEN = "between"
    FINAL = "final"


@dataclass(frozen=True)
class PartCost:
    """Time of the ranks in a part of the run, by use."""

    span_ns: int
    useful_ns: np.ndarray  # int64 (ranks,): computation
    mpi_ns: np.ndarray  # int64 (ranks,)
    tracer_ns: int = 0  # what every rank lost to the tracer, at least
    flushed_ns: int = 0  # of all ranks together

    @property
    def efficiency(self) -> float | None:
        """Parallel efficiency, as in efficiency/factors.py: mean computation / (span - what all lost to the tracer)."""
        span = self.span_ns - self.tracer_ns
        return float(self.useful_ns.mean()) / span if span > 0 and len(self.useful_ns) else None

    @property
    def mpi(self) -> float | None:
        """Share of the ranks' time in MPI."""
        return float(self.mpi_ns.mean()) / self.span_ns if self.span_ns > 0 and len(self.mpi_ns) else None


@dataclass(frozen=True)
class RunPart:
    """A part of a run: a loop with its iterations, or what comes before, between and after loops."""

    kind: PartKind
    level: int
    begin_ns: int
    end_ns: int
    cost: PartCost
    iterations: Iterations | None = None  # of a loop
    every: tuple[int, ...] = ()  # each so many-th iteration does something more
    fewest: int = 0  # of an inner loop: passes in the shortest and the longest iteration around it
    most: int = 0
    total: int = 0  # passes of an inner loop in the whole run
    slow: tuple[tuple[int, float], ...] = ()  # (number from 1, times as long as the typical one), the longest first
    representative: int = 0  # the typical iteration, from 0
    tasks: TaskPasses | None = None  # of ranks that are each handed their share of the passes
    calls: float = 0.0  # of a loop found by calls: its share of those of a rank
    inside: tuple[RunPart, ...] = field(default=())  # of the representative iteration

    @property
    def span_ns(self) -> int:
        return self.end_ns - self.begin_ns

    @property
    def count(self) -> int:
        """Iterations; 1: it is no loop."""
        return self.iterations.count if self.iterations else 1

    def walk(self) -> Iterator[RunPart]:
        """Yield this part and all parts inside, in order of time."""
        yield self
        for part in self.inside:
            yield from part.walk()


@dataclass(frozen=True)
class SignalPeriod:
    """Period that one signal gives to the main loop."""

    name: str
    period_ns: float | None  # None: not found
    iterations: int
    correlation: float  # of the signal with itself a period later; 0: not found


@dataclass(frozen=True)
class Structure:
    """The structure of a run."""

    file: str
    ranks: int
    duration_ns: int
    parts: tuple[RunPart, ...]  # level 1, in order of time: they make up the whole run
    agreement: float  # share of the ranks whose calls say the same of the main loop; 0: no loop
    metrics: tuple[SignalPeriod, ...] = ()  # by signal
    perturbed: tuple[PerturbedTime, ...] = ()
    signals: tuple[RunSignal, ...] = ()
    disturbing: tuple[PerturbingSignal, ...] = ()

    @property
    def loops(self) -> list[RunPart]:
        """All loops in the order of their numbers, from 1.

        The main loop, the others of level 1 by time, the loops of level 2, and so on; inner loops are from the typical
        iteration around them.
        """
        main = self.main
        every = [part for top in self.parts for part in top.walk() if part.iterations]
        return sorted(every, key=lambda part: (part.level, part is not main, part.begin_ns))

    def number(self, part: RunPart) -> int | None:
        """Return the number of a loop of this structure, from 1; None: the part is no loop."""
        return next((number for number, loop in enumerate(self.loops, 1) if loop is part), None)

    @property
    def main(self) -> RunPart | None:
        """The loop of level 1 that has most of the run's time and calls, by the sum of both shares: one that others on
        the machine have slowed down is not the main one for that. None: there is none."""
        top = [part for part in self.parts if part.iterations]
        whole = max(sum(part.span_ns for part in top), 1)
        return max(top, key=lambda part: part.span_ns / whole + 2 * part.calls, default=None)


def off_by(metric: SignalPeriod, main: RunPart | None) -> float | None:
    """Compute the relative difference of a signal's period from the main loop's. None: one of them has none."""
    if main is None or main.iterations is None or metric.period_ns is None or not main.iterations.period_ns:
        return None
    return abs(metric.period_ns / main.iterations.period_ns - 1)


def ranked(structure: Structure) -> list[SignalPeriod]:
    """Return the signals, those that agree best first; last those without a period."""
    off = [(off_by(metric, structure.main), metric) for metric in structure.metrics]
    return [metric for by, metric in sorted(off, key=lambda one: (one[0] is None, one[0] or 0.0))]


@dataclass(frozen=True)
class Agreement:
    """Agreement of all signals: how many have a period, and the relative differences of these."""

    found: int
    of: int
    median: float
    most: float


def agreement(structure: Structure) -> Agreement | None:
    """Return how signals agree; None: no signal was examined, or none has a period beside a main loop."""
    off = [by for metric in structure.metrics if (by := off_by(metric, structure.main)) is not None]
    return Agreement(len(off), len(structure.metrics), median(off), max(off)) if off else None
