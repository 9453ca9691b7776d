"""E8 and E9: real traces in pairs, and one trace on half of its processors, under four policies.

The study's seven traces are lost, so the traces are one's own: .dim files with the changes of priority that `analyze
critical-path -o` writes, which CP_FIFO and CP_RR follow.

Source: "Dimemas specification", section 4.8 (the real traces; claims of E8; Table 14 of E9).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from analyzer.machine.description import Machine
from analyzer.opening import open_trace
from analyzer.program.model import Program
from analyzer.program.operation import OperationKind
from analyzer.replay import program_of
from analyzer.replay.simulate import simulate
from analyzer.scheduling.sharing import SharingTimes, closed
from benchmarks.scheduling.claims import Answer, Claim, Verdict, largest, least, verdict
from benchmarks.scheduling.experiments import STUDIED, Policy

POLICIES = tuple(policy for policy in STUDIED if policy.name in ("FIFO", "RR", "CP_FIFO", "CP_RR"))
SLICE_US = 50.0
"""A twentieth of the study's: traces of a twentieth of its iterations have about such a part of its bursts."""
ABOUT = 0.1
HALF_AGAIN = 1.5


@dataclass(frozen=True)
class Folded:
    """One trace on half of its processors: time (s) and share of them that is used, and with all of them."""

    whole_s: float
    whole_used: float
    neighbours_s: float
    neighbours_used: float
    interleaved_s: float
    interleaved_used: float


Pairs = dict[str, dict[str, SharingTimes]]
"""policy -> "cg, mg" -> what both did."""
Folds = dict[str, dict[str, Folded]]
"""policy -> trace -> what it did."""


def read(paths: Sequence[str]) -> list[Program]:
    """Read the traces.

    Args:
        paths: .dim files with priorities, of the same even number of tasks.

    Raises:
        ValueError: A trace has no priorities, or another number of tasks.
    """
    programs = [program_of(open_trace(path)) for path in paths]
    for path, program in zip(paths, programs, strict=True):
        if not (program.ops["kind"] == OperationKind.PRIORITY).any():
            raise ValueError(f"{path} has no changes of priority: write them by analyze critical-path RUN -o FILE.dim")
        if program.ranks != programs[0].ranks or program.ranks % 2:
            raise ValueError(f"{path} has {program.ranks} tasks: all traces need the same even number")
    return programs


def pairs(programs: dict[str, Program], repetitions: int = 10) -> Pairs:
    """Run each two of the traces together, a task of each on a processor (E8)."""
    nodes = next(iter(programs.values())).ranks
    found: Pairs = {}
    for policy in POLICIES:
        machine = policy.machine(nodes, "round-robin", SLICE_US)
        for both in combinations(programs, 2):
            two = [programs[name] for name in both]
            prediction = simulate(two, machine, repetitions=repetitions)
            found.setdefault(policy.name, {})[", ".join(both)] = closed(two, machine, prediction)
    return found


def folds(programs: dict[str, Program]) -> Folds:
    """Run each trace on half of its processors (E9)."""
    return {policy.name: {name: _fold(program, policy) for name, program in programs.items()} for policy in POLICIES}


def _fold(program: Program, policy: Policy) -> Folded:
    half = program.ranks // 2
    tasks = np.arange(program.ranks)
    found: list[float] = []
    for processors, of_task in ((program.ranks, tasks), (half, tasks // 2), (half, tasks % half)):
        machine: Machine = policy.machine(processors, tuple(of_task.tolist()), SLICE_US)
        end_ns = simulate(program, machine).end_ns
        found += [end_ns / 1e9, int(program.ops["burst"].sum()) / (end_ns * processors)]
    return Folded(*found)


@dataclass(frozen=True)
class RealView:
    """The results of one experiment."""

    results: Pairs | Folds

    def pairs(self, policy: str) -> list[SharingTimes]:
        return [one for one in self.results[policy].values() if isinstance(one, SharingTimes)]

    def folds(self, policy: str) -> list[Folded]:
        return [one for one in self.results[policy].values() if isinstance(one, Folded)]


def gain(v: RealView, policy: str) -> float:
    """Return jobs/s of pairs over jobs/s of one after the other, mean."""
    return float(np.mean([one.shared_throughput / one.batch_throughput for one in v.pairs(policy)]))


def unfairness(v: RealView, policy: str) -> float:
    """Return SR, mean."""
    return float(np.mean([one.ratio for one in v.pairs(policy)]))


def interleaving(v: RealView, policy: str) -> Answer:
    """Say how much longer each takes with neighbours on a processor."""
    return least((one.neighbours_s / one.interleaved_s for one in v.folds(policy)), 1.0)


def beside_fifo(v: RealView, policy: str) -> list[float]:
    """Return times of folded traces, interleaved, as multiples of their times under FIFO."""
    both = zip(v.folds(policy), v.folds("FIFO"), strict=True)
    return [one.interleaved_s / fifo.interleaved_s for one, fifo in both]


_UNFAIR = ("CP_FIFO", "CP_RR")
REAL_CLAIMS = (
    Claim("E8", "gains over batch, on average", lambda v, p: least([gain(v, p)], 1.0), ("FIFO", "RR")),
    Claim("E8", "gains half again as much as batch, on average (to 10 %)",
          lambda v, p: least([gain(v, p)], HALF_AGAIN * (1 - ABOUT)), ("RR",)),
    Claim("E8", "does about the same as RR, on average",
          lambda v, p: largest([abs(gain(v, p) / gain(v, "RR") - 1)], ABOUT), ("FIFO",)),
    Claim("E8", "is much less fair than RR: twice its SR and more, on average",
          lambda v, p: least([unfairness(v, p) / unfairness(v, "RR")], 2), ("FIFO", *_UNFAIR)),
    Claim("E8", "gains less than RR, on average", lambda v, p: largest([gain(v, p) / gain(v, "RR")], 0.99), _UNFAIR),
    Claim("E9", "is faster interleaved than with neighbours", interleaving, ("FIFO", "RR")),
    Claim("E9", "is no faster than FIFO, interleaved", lambda v, p: least(beside_fifo(v, p), 0.999), ("RR",)),
    Claim("E9", "is the fastest, interleaved", lambda v, p: largest(
        (mine / min(others) for mine, *others in
         zip(beside_fifo(v, p), *(beside_fifo(v, name) for name in v.results), strict=True)), 1.001), ("CP_FIFO",)),
    Claim("E9", "uses more of the processors when folded",
          lambda v, p: least((max(one.neighbours_used, one.interleaved_used) / one.whole_used
                              for one in v.folds(p)), 1.01), ("FIFO", "RR")),
)  # fmt: skip


def real_verdicts(programs: dict[str, Program], repetitions: int = 10) -> list[Verdict]:
    """Say of each claim whether it holds for these traces.

    Args:
        programs: The traces by name, all of the same number of tasks.
        repetitions: Complete runs of each in a pair, at least.
    """
    views = {"E8": RealView(pairs(programs, repetitions)), "E9": RealView(folds(programs))}
    return [verdict(claim, views[claim.experiment], views[claim.experiment].results) for claim in REAL_CLAIMS]
