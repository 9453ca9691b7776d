"""What a run is made of: parts of time, the parts inside one iteration of these, and so on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum

import numpy as np

from analyzer.structure.iterations import Iterations, Tasks
from analyzer.structure.perturbed.perturbed import Disturbing, Perturbed
from analyzer.structure.signals import Signal


class Kind(Enum):
    """What a part is."""

    INITIALISATION = "initialisation"
    LOOP = "loop"
    BETWEEN = "between"
    FINAL = "final"


@dataclass(frozen=True)
class Cost:
    """How the ranks spent a part of the run."""

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
class Part:
    """A part of a run: a loop with its iterations, or what comes before, between and after loops."""

    kind: Kind
    level: int
    begin_ns: int
    end_ns: int
    cost: Cost
    iterations: Iterations | None = None  # of a loop
    every: tuple[int, ...] = ()  # each so many-th iteration does something more
    fewest: int = 0  # of an inner loop: passes in the shortest and the longest iteration around it
    most: int = 0
    total: int = 0  # passes of an inner loop in the whole run
    slow: tuple[tuple[int, float], ...] = ()  # (number from 1, times as long as the typical one), the longest first
    representative: int = 0  # the typical iteration, from 0
    tasks: Tasks | None = None  # of ranks that are each handed their share of the passes
    calls: float = 0.0  # of a loop found by calls: its share of those of a rank
    inside: tuple[Part, ...] = field(default=())  # of the representative iteration

    @property
    def span_ns(self) -> int:
        return self.end_ns - self.begin_ns

    @property
    def count(self) -> int:
        """Iterations; 1: it is no loop."""
        return self.iterations.count if self.iterations else 1

    def walk(self) -> Iterator[Part]:
        """This part and all parts inside, in order of time."""
        yield self
        for part in self.inside:
            yield from part.walk()


@dataclass(frozen=True)
class Metric:
    """What one signal says of the main loop."""

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
    parts: tuple[Part, ...]  # level 1, in order of time: they make up the whole run
    agreement: float  # share of the ranks whose calls say the same of the main loop; 0: no loop
    metrics: tuple[Metric, ...] = ()  # by signal
    perturbed: tuple[Perturbed, ...] = ()
    signals: tuple[Signal, ...] = ()
    disturbing: tuple[Disturbing, ...] = ()

    @property
    def loops(self) -> list[Part]:
        """All loops as they are numbered, from 1: the main one, the others of level 1 by time, those of level 2, and so
        on; of inner ones those of the typical iteration around them."""
        main = self.main
        every = [part for top in self.parts for part in top.walk() if part.iterations]
        return sorted(every, key=lambda part: (part.level, part is not main, part.begin_ns))

    def number(self, part: Part) -> int | None:
        """The number of a loop of this structure, from 1; None: the part is no loop."""
        return next((number for number, loop in enumerate(self.loops, 1) if loop is part), None)

    @property
    def main(self) -> Part | None:
        """The loop of level 1 that has most of the run's time and calls, by the sum of both shares: one that others on
        the machine have slowed down is not the main one for that. None: there is none."""
        top = [part for part in self.parts if part.iterations]
        whole = max(sum(part.span_ns for part in top), 1)
        return max(top, key=lambda part: part.span_ns / whole + 2 * part.calls, default=None)
