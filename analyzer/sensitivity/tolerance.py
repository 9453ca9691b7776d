"""The worst network that a run tolerates: latency, bandwidth and buses with which the run becomes 5 % longer.

Latency and bandwidth are varied alone on an otherwise ideal network (sections 7.2 and 7.3 of the thesis). Buses are
varied with the machine's latency and bandwidth (section 7.4).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from analyzer.in_notebook import InNotebook
from analyzer.machine.description import Machine
from analyzer.machine.parameters import vary
from analyzer.parallel import Team
from analyzer.program.model import Program
from analyzer.replay.replays import at_once, end_times
from analyzer.sensitivity.knees import THRESHOLD
from analyzer.sensitivity.limits import only, pinned

PRECISION = 1.03
"""Ratio of upper to lower bound at which a search ends."""
_MOST_AHEAD = 3
"""Number of steps of a search that are tried at once. Three steps take seven replays, of which three are used."""
_LATENCIES_S = (1e-9, 1.0)
_BANDWIDTHS = (1e13, 1e5)


@dataclass(frozen=True)
class Tolerance(InNotebook):
    """The network with which the run is just not longer by more than `THRESHOLD` (5 %).

    None: in the whole range that was tried, the run is not longer. The ranges are 1 ns to 1 s, 10 TB/s to 100 kB/s, and
    down to one bus.
    """

    latency_s: float | None
    bandwidth: float | None  # bytes/s
    buses: int | None


@dataclass
class _Search:
    """Bisection between a value with which the run is not longer than the limit, and a value with which it is.

    Attributes:
        machine: Returns the machine with a value of the parameter.
        limit_ns: Largest allowed time of the run.
        whole: The parameter is a whole number.
    """

    machine: Callable[[float], Machine]
    limit_ns: float
    good: float
    bad: float
    whole: bool = False

    @property
    def done(self) -> bool:
        """True if the bound is known to the factor `PRECISION`; for whole numbers, exactly."""
        if self.whole:
            return self.good - self.bad <= 1
        return max(self.good / self.bad, self.bad / self.good) <= PRECISION

    @property
    def middle(self) -> float:
        """Value to try next: the geometric mean of the bounds, or the middle for whole numbers."""
        return (self.good + self.bad) // 2 if self.whole else math.sqrt(self.good * self.bad)

    def ahead(self, steps: int) -> list[float]:
        """Return all values that the next `steps` steps may try, for all possible results of earlier steps."""
        if not steps or self.done:
            return []
        middle = self.middle
        halves = replace(self, bad=middle), replace(self, good=middle)
        return [middle, *(value for half in halves for value in half.ahead(steps - 1))]

    def tell(self, end_ns: Mapping[float, int]) -> None:
        """Take all steps whose values have been tried. `end_ns` has the run's time by value."""
        while not self.done and (middle := self.middle) in end_ns:
            if end_ns[middle] <= self.limit_ns:
                self.good = middle
            else:
                self.bad = middle


def tolerance(program: Program, machine: Machine, team: Team, jobs: int | None = None) -> Tolerance:
    """Find the worst network that a run tolerates on a machine.

    This takes 30 to 50 replays. If many replays run at once, it takes up to twice as many in a third of the steps.

    Args:
        program: The program.
        machine: The machine.
        team: Processes that share the replays.
        jobs: Number of replays at the same time. None: as many as the CPUs allow.

    Raises:
        TracelibError: The program cannot be replayed on the machine.
    """
    machine = pinned(machine, program.ranks)
    ideal, free = only(machine), only(machine, latency=True, bandwidth=True)
    ideal_ns, free_ns = (end * (1 + THRESHOLD) for end in end_times([(program, ideal), (program, free)], team, jobs))
    pairs = max(program.ranks**2, 2)
    latency = _Search(lambda v: vary(ideal, {"latency": v, "wan_latency": v}), ideal_ns, *_LATENCIES_S)
    bandwidth = _Search(lambda v: vary(ideal, {"bandwidth": v, "wan_bandwidth": v}), ideal_ns, *_BANDWIDTHS)
    buses = _Search(lambda v: vary(free, {"buses": v}), free_ns, pairs, 1, whole=True)
    searches = [latency, bandwidth, buses]
    worst = end_times([(program, s.machine(s.bad)) for s in searches], team, jobs)
    bounded = [s for s, end in zip(searches, worst, strict=True) if end > s.limit_ns]
    while running := [s for s in bounded if not s.done]:
        steps = (at_once(team, jobs) // len(running) + 1).bit_length() - 1
        steps = min(max(steps, 1), _MOST_AHEAD)
        values = [s.ahead(steps) for s in running]
        cases = [(program, s.machine(v)) for s, of in zip(running, values, strict=True) for v in of]
        ends = iter(end_times(cases, team, jobs))
        for search, of in zip(running, values, strict=True):
            search.tell(dict(zip(of, ends, strict=False)))
    return Tolerance(
        latency.good if latency in bounded else None,
        bandwidth.good if bandwidth in bounded else None,
        int(buses.good) if buses in bounded else None,
    )
