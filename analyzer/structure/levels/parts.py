"""Parts of a run's time, which contain the parts of one iteration, and so on; with costs and agreement of signals."""

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
    """Sum what a rank has computed, spent in MPI and lost to the tracer before each time.

    Args:
        trace: The trace.
        rank: The rank.
        times: Times in ascending order, ns, shape (n,).

    Returns:
        int64 of shape (3, n), in ns: computing, in MPI, lost to the tracer; the mean of the rank's threads.
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
    """Return, for each time, how much of all intervals together lies before that time.

    This is the time since all begins before it, less the time since all ends before it. Products may overflow: int64 is
    exact modulo 2**64, and the result is small.

    Args:
        begin: Begins of the intervals of all threads, ns.
        end: Ends of the intervals, ns.
        times: Times in ascending order, ns, shape (n,).

    Returns:
        int64 of shape (n,), ns.
    """
    return _time_since(begin, times) - _time_since(end, times)


def _time_since(points: np.ndarray, times: np.ndarray) -> np.ndarray:
    ordered = np.sort(points.astype(np.int64))
    count = np.searchsorted(ordered, times, "right").astype(np.int64)
    return count * times - np.concatenate([np.zeros(1, np.int64), np.cumsum(ordered)])[count]


class PartKind(Enum):
    """Kind of a part of a run: initialisation, a loop, the time between two loops, or the final part."""

    INITIALISATION = "initialisation"
    LOOP = "loop"
    BETWEEN = "between"
    FINAL = "final"


@dataclass(frozen=True)
class PartCost:
    """Time of the ranks in a part of the run, by use. All times are ns.

    Attributes:
        span_ns: Length of the part.
        useful_ns: Computing time of each rank, int64 of shape (ranks,).
        mpi_ns: Time of each rank in MPI, int64 of shape (ranks,).
        tracer_ns: Smallest time that a rank lost to the tracer: every rank lost at least this.
        flushed_ns: Time of flushes, summed over all ranks.
    """

    span_ns: int
    useful_ns: np.ndarray  # int64 (ranks,): computation
    mpi_ns: np.ndarray  # int64 (ranks,)
    tracer_ns: int = 0  # what every rank lost to the tracer, at least
    flushed_ns: int = 0  # of all ranks together

    @property
    def efficiency(self) -> float | None:
        """Parallel efficiency, mean useful time / (span - tracer_ns), as in efficiency/factors.py. None: no span."""
        span = self.span_ns - self.tracer_ns
        return float(self.useful_ns.mean()) / span if span > 0 and len(self.useful_ns) else None

    @property
    def mpi(self) -> float | None:
        """Share of the span that the ranks spend in MPI, on average. None: the span is 0, or there are no ranks."""
        return float(self.mpi_ns.mean()) / self.span_ns if self.span_ns > 0 and len(self.mpi_ns) else None


@dataclass(frozen=True)
class RunPart:
    """Part of a run: a loop with its iterations, or the time before, between or after loops.

    Attributes:
        kind: Kind of the part.
        level: 1 for a part of the run, 2 for a part of an iteration of level 1, and so on.
        begin_ns: Begin, ns since the begin of the run.
        end_ns: End.
        cost: Time of the ranks in the part.
        iterations: Iterations of a loop. None: the part is no loop.
        every: Numbers n such that each n-th iteration does something more.
        fewest: Fewest passes of an inner loop in one iteration around it.
        most: Most passes of an inner loop in one iteration around it.
        total: Passes of an inner loop in the whole run.
        slow: Slow iterations, the longest first: number from 1, and duration / duration of the typical iteration.
        representative: Number of the typical iteration, from 0.
        tasks: Passes of ranks that are each handed their share of the passes. None: all ranks pass equally often.
        calls: Share of a rank's calls that lie in a loop found by calls, 0 to 1.
        inside: Parts of the representative iteration.
    """

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
        """Length of the part, ns."""
        return self.end_ns - self.begin_ns

    @property
    def count(self) -> int:
        """Number of iterations of a loop; 1 if the part is no loop."""
        return self.iterations.count if self.iterations else 1

    def walk(self) -> Iterator[RunPart]:
        """Yield this part and all parts inside it, in order of time."""
        yield self
        for part in self.inside:
            yield from part.walk()


@dataclass(frozen=True)
class SignalPeriod:
    """Period of the main loop as one signal shows it.

    Attributes:
        name: Name of the signal.
        period_ns: The period. None: the signal shows no period.
        iterations: Number of iterations.
        correlation: Correlation of the signal with itself one period later. 0: no period was found.
    """

    name: str
    period_ns: float | None  # None: not found
    iterations: int
    correlation: float  # of the signal with itself a period later; 0: not found


@dataclass(frozen=True)
class Structure:
    """Structure of a run: its parts and loops, the periods of its signals, and its perturbations.

    Attributes:
        file: Name of the run.
        ranks: Number of ranks.
        duration_ns: Length of the run.
        parts: Parts of level 1, in order of time. Together they cover the whole run.
        agreement: Share of the ranks whose calls show the same main loop, 0 to 1. 0: there is no loop.
        metrics: Period of each signal.
        perturbed: Times at which the run was disturbed.
        signals: Signals that were examined.
        disturbing: Signals that show the disturbances.
    """

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

        The main loop, the others of level 1 by time, the loops of level 2, and so on. Inner loops are loops of the
        typical iteration around them.
        """
        main = self.main
        every = [part for top in self.parts for part in top.walk() if part.iterations]
        return sorted(every, key=lambda part: (part.level, part is not main, part.begin_ns))

    def number(self, part: RunPart) -> int | None:
        """Return the number of a loop of this structure, from 1. None: the part is no loop of this structure."""
        return next((number for number, loop in enumerate(self.loops, 1) if loop is part), None)

    @property
    def main(self) -> RunPart | None:
        """The main loop: the loop of level 1 with the largest (share of the loops' time + 2 * share of the calls).

        A loop that is long only because other programs slowed it down has few calls, and is not chosen. None: no
        loop.
        """
        top = [part for part in self.parts if part.iterations]
        whole = max(sum(part.span_ns for part in top), 1)
        return max(top, key=lambda part: part.span_ns / whole + 2 * part.calls, default=None)


def off_by(metric: SignalPeriod, main: RunPart | None) -> float | None:
    """Return |period of a signal / period of the main loop - 1|. None: the signal or the main loop has no period."""
    if main is None or main.iterations is None or metric.period_ns is None or not main.iterations.period_ns:
        return None
    return abs(metric.period_ns / main.iterations.period_ns - 1)


def ranked(structure: Structure) -> list[SignalPeriod]:
    """Return the signals sorted by `off_by`: the best agreement first, signals without a period last."""
    off = [(off_by(metric, structure.main), metric) for metric in structure.metrics]
    return [metric for by, metric in sorted(off, key=lambda one: (one[0] is None, one[0] or 0.0))]


@dataclass(frozen=True)
class Agreement:
    """Agreement of the signals' periods with the main loop's period.

    Attributes:
        found: Number of signals that have a period.
        of: Number of signals.
        median: Median of the relative differences (`off_by`).
        most: Largest relative difference.
    """

    found: int
    of: int
    median: float
    most: float


def agreement(structure: Structure) -> Agreement | None:
    """Compute how the signals agree with the main loop. None: no signal can be compared with a main loop."""
    off = [by for metric in structure.metrics if (by := off_by(metric, structure.main)) is not None]
    return Agreement(len(off), len(structure.metrics), median(off), max(off)) if off else None
