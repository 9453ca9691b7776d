"""Findings: reasons why a run takes longer, each with the time that it costs at most, on one scale.

Three findings add up to all time that is no computation. T is the runtime, u the useful times of all threads. U is the
longest useful time and I the runtime of the replay on an ideal network.

    T - mean(u) = (max(u) - mean(u)) + (I - U) + (T - I), but for max(u) - U, which rounding makes

These are load imbalance, serialization and transfer, the additive form of the POP efficiencies. The other findings are
reasons for these three (a pipeline, a slow iteration), or times that the efficiencies do not cover (the tracer).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import Enum

import numpy as np

from analyzer.efficiency.cpu_use import CpuSharing
from analyzer.efficiency.factors import Efficiency
from analyzer.imbalance.analysis import Imbalance
from analyzer.in_notebook import InNotebook
from analyzer.metrics.profile import Profile
from analyzer.metrics.regions import RegionProfile
from analyzer.metrics.useful import UsefulTime
from analyzer.trace import UnfinishedCall
from analyzer.waits.analysis import Waits
from tracelib.schema.procedures import FINALIZE, INIT, is_of_files


class FindingKind(Enum):
    """Kind of a finding: a reason why a run takes longer."""

    IMBALANCE = "load imbalance"  # the thread that computes longest computes longer than the mean
    SERIALIZATION = "serialization"  # ranks wait for each other even where messages take no time
    TRANSFER = "transfer"  # messages and calls take time
    COMMUNICATION = "communication"  # both together, where no replay tells them apart
    NEITHER = "neither computing nor MPI"  # of a run without MPI calls
    NOT_THERE = "not in the trace"  # the run went on after the last record
    STARTING = "starting and ending MPI"
    MOVING = "moving imbalance"  # even sums, uneven iterations
    SLOW = "slow iterations"
    DRIFT = "drift"  # iterations that become longer, or shorter
    PIPELINE = "pipeline"  # ranks that wait one for the other
    CPUS = "shared CPUs"
    THREADS = "threads that share CPUs"
    ASLEEP = "sleep outside MPI"  # for files, children, timers, locks
    TRACER = "the tracer"
    HANG = "calls that did not return"  # killed ranks were in them until the end


FACTORS = (
    FindingKind.IMBALANCE,
    FindingKind.SERIALIZATION,
    FindingKind.TRANSFER,
    FindingKind.COMMUNICATION,
    FindingKind.NEITHER,
    FindingKind.NOT_THERE,
    FindingKind.STARTING,
)
"""Kinds whose costs do not overlap, and add up to the time that is not computation."""

PART_OF = {
    FindingKind.MOVING: (FindingKind.SERIALIZATION, FindingKind.COMMUNICATION),
    FindingKind.SLOW: (FindingKind.SERIALIZATION, FindingKind.COMMUNICATION),
    FindingKind.PIPELINE: (FindingKind.SERIALIZATION, FindingKind.COMMUNICATION),
    FindingKind.HANG: (FindingKind.SERIALIZATION, FindingKind.TRANSFER, FindingKind.COMMUNICATION),
    FindingKind.CPUS: (FindingKind.TRANSFER, FindingKind.COMMUNICATION),
}
"""For each reason: the kinds that it explains. A kind is not reported if its reason costs at least half as much."""


class Certainty(Enum):
    """How certain the cost of a finding is, by its origin."""

    MEASURED = "measured"  # times of the run
    BOUND = "bound"  # measured, but it includes more than is meant: a CPU was lacking, needed or not
    REPLAYED = "replayed"  # the run on an ideal network
    ESTIMATED = "estimated"
    UNKNOWN = "not known"  # at least this much, but nothing says how much more


@dataclass(frozen=True)
class Evidence:
    """Facts about a run from which findings are made. Arrays by rank are int64 of shape (ranks,); times are ns."""

    efficiency: Efficiency
    useful: UsefulTime
    computed_ns: np.ndarray  # base of the efficiencies: useful time of ranks, or of threads,
    computed_by: np.ndarray  # and the rank of each
    profile: Profile
    waits: Waits
    regions: RegionProfile
    cpus: CpuSharing
    others_ns: np.ndarray  # time that threads without calls had or wanted a CPU, by rank
    even: Imbalance | None  # None: the run has no iterations, or they were not looked for
    threads: np.ndarray
    present: np.ndarray  # numbers of the ranks that could be read
    after_ns: int  # time that the run went on after the last record
    unfinished: tuple[UnfinishedCall, ...]  # calls from which killed ranks did not return
    tracer_ns: np.ndarray  # the tracer's own time, as far as it is no computation


@dataclass(frozen=True)
class Finding(InNotebook):
    """One reason why a run takes longer.

    Attributes:
        kind: Kind of the finding.
        cost_ns: How much shorter the run would be without it, at most. Costs of several findings may overlap.
        share: cost_ns / runtime of the efficiencies.
        sure: How certain the cost is.
        rank: Rank to look at. -1: all ranks, or none.
        call: Procedure in which the time passes, or in which others wait. "": none.
        region: Region of the program. "": none.
        number: Number of the finding among the findings of its kind, from 0.
    """

    kind: FindingKind
    cost_ns: int
    share: float  # of the run: cost_ns / runtime of the efficiencies
    sure: Certainty
    rank: int = -1  # the rank to look at; -1: all, or none
    call: str = ""  # procedure in which the time goes, or others wait
    region: str = ""  # of the program
    number: int = 0  # number of the finding among those of this kind, from 0


LEAST = 0.01
"""A cause that costs less than this share of the run is no finding."""
MOST = 3
"""Largest number of findings that are reported."""
_EXPLAINS = 0.5
"""If a reason costs at least this share of a kind that it explains, only the reason is reported."""
_EVIDENCE = 0.25
"""Smallest share of the imbalance that others must spend in one call to count as waiting there."""
_MAINLY = 0.5
"""A region is the origin of a cost if at least this share of the cost comes from it."""


def find_findings(of: Evidence) -> list[Finding]:
    """Find all reasons that cost at least LEAST (1 %) of the run.

    Returns:
        The findings, the most expensive first. A hang comes before all others.
    """
    runtime = of.efficiency.runtime_ns
    if runtime <= 0 or not len(of.present):
        return []
    every = (*_hang(of), *_factors(of), *_iterations(of), *_cpus(of), *_tracer(of))
    told = (replace(one, cost_ns=min(one.cost_ns, runtime)) for one in every)
    found = [replace(one, share=one.cost_ns / runtime) for one in told if _counts(one, runtime)]
    return sorted(found, key=lambda one: (one.kind is not FindingKind.HANG, -one.cost_ns, one.kind.value, one.number))


def largest_findings(found: list[Finding], most: int = MOST) -> list[Finding]:
    """Select the findings to report.

    A finding is left out if one of its reasons (`PART_OF`) costs at least half as much.

    Args:
        found: Findings, the most expensive first.
        most: Largest number of findings.
    """
    explained = {
        whole
        for reason in found
        for whole in PART_OF.get(reason.kind, ())
        if any(one.kind is whole and reason.cost_ns >= _EXPLAINS * one.cost_ns for one in found)
    }
    return [one for one in found if one.kind not in explained][:most]


def _counts(one: Finding, runtime_ns: int) -> bool:
    """Return True if a finding costs enough to be reported.

    A hang always counts, because its length may not be known.
    """
    return one.kind is FindingKind.HANG or one.cost_ns >= LEAST * runtime_ns


def _hang(of: Evidence) -> Iterator[Finding]:
    """Find calls in which killed ranks were until their end.

    The cost is the time in which all these ranks were inside.
    """
    main = [call for call in of.unfinished if call.thread == 0]
    if not main:
        return
    cost = max(min(call.until_ns for call in main) - max(call.enter_ns for call in main), 0)
    is_all = {call.rank for call in main} >= set(of.present.tolist())
    if cost >= LEAST * of.efficiency.runtime_ns:
        yield Finding(FindingKind.HANG, cost, 0.0, Certainty.MEASURED, main[0].rank, main[0].procedure)
    elif is_all and not any(call.seen for call in main):
        yield Finding(FindingKind.HANG, cost, 0.0, Certainty.UNKNOWN, main[0].rank, main[0].procedure)


def _factors(of: Evidence) -> Iterator[Finding]:
    """Find load imbalance, serialization and transfer; starting and ending MPI is separate from transfer."""
    useful, rank, efficiency = of.computed_ns, of.computed_by, of.efficiency
    if not efficiency.useful_max_ns:
        return
    longest = int(rank[useful.argmax()])
    if len(useful) > 1:
        cost = round(efficiency.useful_max_ns - efficiency.useful_mean_ns)
        region = _uneven_region(of, longest, cost)
        call = waiting_call(of.profile, of.useful, of.present, longest)
        yield Finding(FindingKind.IMBALANCE, cost, 0.0, Certainty.MEASURED, longest, call, region)
    unseen = min(of.after_ns, efficiency.runtime_ns - round(efficiency.useful_max_ns))
    yield Finding(FindingKind.NOT_THERE, unseen, 0.0, Certainty.MEASURED)
    if not of.profile.count.any():
        rest = efficiency.runtime_ns - round(efficiency.useful_max_ns) - unseen
        yield Finding(FindingKind.NEITHER, rest, 0.0, Certainty.MEASURED, longest)
        return
    yield from _communication(of, longest, unseen)


def _communication(of: Evidence, longest: int, unseen_ns: int) -> Iterator[Finding]:
    """Find what a run with MPI calls loses on the rank `longest`, which computes longest.

    The time after the last record, `unseen_ns`, is not counted.
    """
    efficiency = of.efficiency
    ideal, waiting = efficiency.ideal, of.waits.time_ns.sum(axis=1)
    calls = _costly_call(of, longest, _starts_or_ends(of))
    if ideal.runtime_ns and ideal.useful_ns is not None:
        most = int(of.present[waiting[of.present].argmax()])
        cost = ideal.runtime_ns - ideal.useful_ns
        files = _costly_call(of, longest, ~_are_of_files(of))
        yield Finding(FindingKind.SERIALIZATION, cost, 0.0, Certainty.REPLAYED, most, files)
        rest, kind, sure = max(efficiency.runtime_ns - ideal.runtime_ns, 0), FindingKind.TRANSFER, Certainty.REPLAYED
        calls = _costly_call(of, longest, _starts_or_ends(of) | _are_of_files(of))
    else:
        lost = efficiency.runtime_ns - round(efficiency.useful_max_ns) - unseen_ns
        rest, kind, sure = lost, FindingKind.COMMUNICATION, Certainty.MEASURED
    starting = starting_ns(of, rest)
    yield Finding(FindingKind.STARTING, starting, 0.0, Certainty.MEASURED)
    yield Finding(kind, rest - starting, 0.0, sure, longest, calls)


def starting_ns(of: Evidence, rest_ns: int) -> int:
    """Return the time that every rank spends starting and ending MPI, ns; at most `rest_ns`."""
    columns = np.flatnonzero(_starts_or_ends(of))
    inside = of.profile.inside_ns[of.present][:, columns].sum(axis=1)
    return min(int(inside.min(initial=rest_ns)), rest_ns)


def waiting_call(calls: Profile, computed: UsefulTime, present: np.ndarray, longest: int) -> str:
    """Find the procedure in which the other ranks spend most time beyond the time of rank `longest` there.

    Args:
        calls: Profile of the run.
        computed: Useful time of the run.
        present: Numbers of the ranks that could be read.
        longest: Rank that computes longest.

    Returns:
        Name of the procedure. "": the time is at most a quarter of what the others compute less than `longest`; then
        they
        did not wait in MPI.
    """
    inside, useful = calls.inside_ns, computed.by_rank()
    if not inside.shape[1]:
        return ""
    beyond = (inside - inside[longest]).clip(min=0).sum(axis=0)
    less = int((useful[longest] - useful)[present].sum())
    return calls.procedures[int(beyond.argmax())] if beyond.max() > less * _EVIDENCE else ""


def _costly_call(of: Evidence, rank: int, but_for: np.ndarray) -> str:
    """Find the procedure in which a rank spends most time, except for the procedures in the mask `but_for`."""
    inside = np.where(but_for, 0, of.profile.inside_ns[rank])
    return of.profile.procedures[int(inside.argmax())] if inside.any() else ""


def _starts_or_ends(of: Evidence) -> np.ndarray:
    """Return a mask of the procedures that start or end MPI."""
    return np.array([name in INIT or name in FINALIZE for name in of.profile.procedures], bool)


def _are_of_files(of: Evidence) -> np.ndarray:
    """Return a mask of the procedures on files, whose time a replay on an ideal network does not change."""
    return np.array([is_of_files(name) for name in of.profile.procedures], bool)


def _uneven_region(of: Evidence, longest: int, cost_ns: int) -> str:
    """Find the innermost (shortest) region from which at least half of an imbalance comes. "": none."""
    useful = of.regions.useful_ns[of.present]
    more = of.regions.useful_ns[longest] - useful.mean(axis=0) if useful.size else np.zeros(0)
    chosen = np.flatnonzero(more >= _MAINLY * max(cost_ns, 1))
    times = of.regions.time_ns.sum(axis=0)
    return of.regions.names[min(chosen.tolist(), key=lambda r: int(times[r]))] if len(chosen) else ""


def _iterations(of: Evidence) -> Iterator[Finding]:
    """Find what is uneven in the iterations of the main loop."""
    if of.even is None:
        return
    uneven = of.even.uneven
    if uneven.moving:
        yield Finding(FindingKind.MOVING, uneven.moving.cost_ns, 0.0, Certainty.MEASURED)
    for number, slow in enumerate(uneven.slow):
        yield Finding(FindingKind.SLOW, slow.cost_ns, 0.0, Certainty.MEASURED, slow.rank, number=number)
    if uneven.drift:
        yield Finding(FindingKind.DRIFT, uneven.drift.cost_ns, 0.0, Certainty.MEASURED, uneven.drift.rank)
    for number, one in enumerate(of.even.pipelines):
        last = int(one.ranks[-1])
        yield Finding(FindingKind.PIPELINE, one.last_ns, 0.0, Certainty.MEASURED, last, one.procedure, number=number)


def _cpus(of: Evidence) -> Iterator[Finding]:
    """Find waiting for a CPU, and sleep outside MPI, on the rank that computes longest.

    The rank waits while it computes, and in the time that an ideal network saves; or threads of a rank wait for each
    other.
    If waiting was not recorded, it is estimated as the loss of R ranks on C CPUs if no rank ever sleeps: 1 - C / R.
    If only
    CPU time was recorded, waiting and sleep cannot be told apart; then ranks count as waiting only if they share
    CPUs.
    """
    use, longest = of.cpus.use, int(of.computed_by[of.computed_ns.argmax()]) if len(of.computed_ns) else 0
    ratio = max((s.ranks / max(s.cpus, 1) for s in of.cpus.sharing), default=0.0)
    if of.cpus.crowds:
        worst = max(of.cpus.crowds, key=lambda crowd: (crowd.delay_ns, crowd.threads / crowd.cpus))
        if worst.delay_ns > 0:
            yield Finding(FindingKind.THREADS, worst.delay_ns, 0.0, Certainty.MEASURED, worst.rank)
    if use is not None and (use.tells_sleep or ratio > 1):
        in_mpi = of.cpus.of_transfer_ns(of.efficiency, longest) or 0
        cost = int(use.computing_waits_ns[longest]) + in_mpi
        yield Finding(FindingKind.CPUS, cost, 0.0, Certainty.MEASURED if use.tells_sleep else Certainty.BOUND, longest)
    elif use is None and ratio > 1:
        yield Finding(FindingKind.CPUS, round(of.efficiency.runtime_ns * (1 - 1 / ratio)), 0.0, Certainty.ESTIMATED)
    if use is not None and use.tells_sleep:
        # a thread that sleeps while another one of its rank works waits for that one
        asleep = (use.computing_asleep_ns - of.others_ns).clip(min=0)[of.present]
        most = int(asleep.argmax())
        yield Finding(FindingKind.ASLEEP, int(asleep[most]), 0.0, Certainty.MEASURED, int(of.present[most]))


def _tracer(of: Evidence) -> Iterator[Finding]:
    """Find the tracer's own time on the rank whose threads it delays most."""
    by_thread = of.tracer_ns[of.present] / np.maximum(of.threads[of.present], 1)
    worst = int(by_thread.argmax())
    yield Finding(FindingKind.TRACER, round(float(by_thread[worst])), 0.0, Certainty.MEASURED, int(of.present[worst]))
