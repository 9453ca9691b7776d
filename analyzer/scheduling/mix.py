"""Progress of rings that share the processors of a machine."""

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
    """Progress of rings that share a machine from `begin_ns` to `end_ns`.

    Attributes:
        rings: The rings.
        begin_ns: Begin of the stretch of time that is evaluated.
        end_ns: End of the stretch of time.
        done: For each ring: the time at which each iteration sent its first message, ns.
    """

    rings: tuple[RingProgram, ...]
    begin_ns: int
    end_ns: int
    done: tuple[np.ndarray, ...]  # when each iteration of each ring sent its first message, ns

    @property
    def rates(self) -> np.ndarray:
        """Iterations/s of each ring, shape (rings,)."""
        return np.array([self._rate(done) for done in self.done])

    @property
    def throughput(self) -> float:
        """Iterations/s of all rings together. An iteration counts as a job."""
        return float(self.rates.sum())

    @property
    def stretches(self) -> np.ndarray:
        """For each ring: time of an iteration / its time alone (F11). Infinite: the ring made no progress."""
        with np.errstate(divide="ignore"):
            return stretches((1 / self.rates).tolist(), [ring.cycle_ns / 1e9 for ring in self.rings])

    @property
    def ratio(self) -> float:
        """Largest stretch / smallest stretch, SR (F12). 1 is fair. Infinite: a ring made no progress."""
        return stretch_ratio(self.stretches.tolist())

    def _rate(self, done: np.ndarray) -> float:
        """Return iterations/s of a ring.

        Iterations at both ends count by the share that lies inside the stretch of time.
        """
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
    """Run rings at once on a machine, with enough iterations for each to be busy for `horizon_ns`.

    Args:
        rings: The rings.
        machine: The machine.
        horizon_ns: Simulated time, ns.
        priorities: Priority of each ring, for policies that use them. A smaller number is better. (): all equal.
        settled: Share of the horizon at its begin that is left out, until the rings have settled.

    Raises:
        TracelibError: The machine does not fit the rings.
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
