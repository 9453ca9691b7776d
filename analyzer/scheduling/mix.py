"""Rings that share processors: what each gets done in a stretch of time in which all run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from analyzer.machine.description import Machine
from analyzer.replay.simulate import simulate
from analyzer.scheduling.ring import RingProgram
from analyzer.scheduling.sharing import stretch_ratio, stretches


@dataclass(frozen=True)
class RingProgress:
    """Progress of rings that share a machine from `begin_ns` to `end_ns`; arrays have one element for each ring."""

    rings: tuple[RingProgram, ...]
    begin_ns: int
    end_ns: int
    done: tuple[np.ndarray, ...]  # when each iteration of each ring sent its first message, ns

    @property
    def rates(self) -> np.ndarray:
        """Iterations/s of each."""
        return np.array([self._rate(done) for done in self.done])

    @property
    def throughput(self) -> float:
        """Iterations/s of all: an iteration is a job."""
        return float(self.rates.sum())

    @property
    def stretches(self) -> np.ndarray:
        """Factor by which an iteration takes longer than alone (F11), for each ring."""
        with np.errstate(divide="ignore"):
            return stretches((1 / self.rates).tolist(), [ring.cycle_ns / 1e9 for ring in self.rings])

    @property
    def ratio(self) -> float:
        """SR: 1 is fair (F12); infinite where one gets nothing done."""
        return stretch_ratio(self.stretches.tolist())

    def _rate(self, done: np.ndarray) -> float:
        """Return iterations/s; the iterations at both ends count by the part of them that lies inside."""
        inside = float(np.count_nonzero((done >= self.begin_ns) & (done <= self.end_ns)))
        if inside >= 2:
            first, last = np.interp([self.begin_ns, self.end_ns], done, np.arange(len(done))).tolist()
            inside = last - first
        return inside * 1e9 / (self.end_ns - self.begin_ns)


def share(
    rings: Sequence[RingProgram],
    machine: Machine,
    horizon_ns: int,
    *,
    priorities: Sequence[int] = (),
    settled: float = 0.5,
) -> RingProgress:
    """Run the rings at once on the machine, each with enough iterations to be busy for `horizon_ns` at its best.

    priorities: of each ring, for policies that go by them; the smaller the better. settled: the share of the
    horizon that is left out at its begin, until they have settled. Raises TracelibError where the machine does not fit.
    """
    busy = [replace(ring, iterations=-(-horizon_ns // ring.cycle_ns) + 1) for ring in rings]
    given = priorities or [0] * len(busy)
    programs = [
        replace(ring.program(), priority=np.full(ring.tasks, priority))
        for ring, priority in zip(busy, given, strict=True)
    ]
    times = simulate(programs, machine, times=True).times
    assert times is not None
    first = np.cumsum([0, *(len(program.ops) for program in programs)])
    done = tuple(times["begin"][at + ring.sends()] for at, ring in zip(first[:-1].tolist(), busy, strict=True))
    return RingProgress(tuple(busy), int(horizon_ns * settled), horizon_ns, done)
