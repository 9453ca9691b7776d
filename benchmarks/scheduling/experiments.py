"""Experiments E1 to E7: rings on one-CPU nodes and an ideal network, under each policy."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from analyzer.machine.description import Machine, Node
from analyzer.machine.policies import policy_of
from analyzer.scheduling.mix import RingProgress, share
from analyzer.scheduling.ring import PriorityRecords, RingProgram

A_US = 4200.0
SLICE_US = 1000.0
DEMANDS = (20, 30, 40, 50, 60, 70, 80, 90, 100)
COMPUTES_US = (200, 500, 1000, 2100, 4200, 8400, 21000, 44200)


@dataclass(frozen=True)
class Policy:
    """A policy of section 1.10, and what the applications say to it."""

    name: str
    options: dict[str, object]
    favours: int = 0  # which application, from 1; 0: none
    records: PriorityRecords = PriorityRecords.PATH

    def machine(self, nodes: int, mapping: str | tuple[int, ...], slice_us: float) -> Machine:
        """Make an ideal machine of one-CPU nodes."""
        options = self.options | ({"slice_us": slice_us} if "slice_us" in self.options else {})
        return Machine(nodes=(Node(),) * nodes, mapping=mapping, scheduling=policy_of(options))


def _named(name: str, policy: str, *, slices: bool = False, **more: object) -> Policy:
    return Policy(name, {"policy": policy, **({"slice_us": SLICE_US} if slices else {})}, **more)  # type: ignore[arg-type]


STUDIED = (
    _named("FIFO", "fcfs"),
    _named("RR", "rr", slices=True),
    _named("PF_1", "fixed-rr", slices=True, favours=1),
    _named("PF_2", "fixed-rr", slices=True, favours=2),
    _named("PP_1", "fixed-rr-preemptive", slices=True, favours=1),
    _named("PP_2", "fixed-rr-preemptive", slices=True, favours=2),
    _named("CP_FIFO", "cp-fifo"),
    _named("CP_RR", "cp-rr", slices=True),
    _named("CP_FIFO_DEP", "cp-fifo-dep", records=PriorityRecords.LAXITY),
    _named("CP_RR_DEP", "cp-rr-dep", slices=True, records=PriorityRecords.LAXITY),
)
"""Policies that the study compares: the claims are about them."""
OTHERS = (
    _named("FCFS_P_1", "fixed", favours=1),
    _named("FCFS_P_2", "fixed", favours=2),
    _named("FCFS_PP_1", "fixed-preemptive", favours=1),
    _named("FCFS_PP_2", "fixed-preemptive", favours=2),
    _named("SVR4", "svr4"),
    _named("DECAY", "decay", slices=True),
    *(_named(f"BOOST{k}", f"boost{k}") for k in (1, 2, 3)),
    *(_named(f"BOOST{k}_RR", f"boost{k}-rr", slices=True) for k in (1, 2, 3)),
)
"""The others of section 1.10."""
POLICIES = STUDIED + OTHERS
NAMES = tuple(policy.name for policy in STUDIED)

EIGHT = "round-robin"
NEIGHBOURS = (0, 0, 1, 1, 2, 2, 3, 3)
OPPOSITES = (0, 1, 2, 3, 0, 1, 2, 3)
EXPERIMENTS = ("E1", "E2", "E3", "E4", "E5", "E6", "E7")
_VARY_COMPUTATION = ("E3", "E5", "E7")
"""a; the others vary the demand."""

Results = dict[str, dict[str, dict[float, RingProgress]]]
"""experiment -> policy -> demand in % or computation in us -> what came out."""


@dataclass(frozen=True)
class Setting:
    """How much of the experiments is done."""

    demands: Sequence[float] = DEMANDS
    computes_us: Sequence[float] = COMPUTES_US
    policies: Sequence[Policy] = POLICIES
    cycles: int = 120  # that the slowest application would do alone

    def points(self, experiment: str) -> Sequence[float]:
        """Return the values of the varied parameter."""
        return self.computes_us if experiment in _VARY_COMPUTATION else self.demands

    def run(self, experiment: str, policy: Policy, x: float, slice_us: float = SLICE_US) -> RingProgress:
        """Run one point."""
        rings = [replace(ring, records=policy.records) for ring in rings_of(experiment, x)]
        nodes, mapping = (8, EIGHT) if len(rings) == 2 else (4, NEIGHBOURS if experiment in ("E4", "E5") else OPPOSITES)
        horizon = self.cycles * max(ring.cycle_ns for ring in rings)
        priorities = [1 if policy.favours and k != policy.favours else 0 for k in range(1, len(rings) + 1)]
        return share(rings, policy.machine(nodes, mapping, slice_us), horizon, priorities=priorities)

    def results(self) -> Iterator[tuple[str, str, float, RingProgress]]:
        """Yield all points of all experiments."""
        for experiment in EXPERIMENTS:
            for policy in self.policies:
                for x in self.points(experiment):
                    yield experiment, policy.name, x, self.run(experiment, policy, x)

    def all(self) -> Results:
        """Return all points by experiment, policy and point."""
        found: Results = {}
        for experiment, policy, x, shared in self.results():
            found.setdefault(experiment, {}).setdefault(policy, {})[x] = shared
        return found


def rings_of(experiment: str, x: float) -> list[RingProgram]:
    """Return the applications at one point."""
    varied = RingProgram(x, 60) if experiment in _VARY_COMPUTATION else RingProgram(A_US, x)
    first = {"E1": [varied], "E2": [RingProgram(A_US, 60)], "E3": [RingProgram(A_US, 60)]}
    return [*first.get(experiment, []), varied]


def most(experiment: str, x: float) -> float:
    """Return the iterations/s that no policy can pass: the sum of the rings alone, and the limit of the processors."""
    rings = rings_of(experiment, x)
    if len(rings) == 1:
        cycle = rings[0].cycle_ns / 1e9
        return 1 / max(cycle, 2 * cycle * rings[0].demand / 100)
    capacity, total = 1.0, 0.0
    for ring in sorted(rings, key=lambda ring: ring.cycle_ns * ring.demand):
        cycle, share_of_cpu = ring.cycle_ns / 1e9, ring.demand / 100
        rate = min(1 / cycle, capacity / (cycle * share_of_cpu))
        capacity -= rate * cycle * share_of_cpu
        total += rate
    return total
