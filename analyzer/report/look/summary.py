"""All results that the first look shows, computed once and without formatting."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from analyzer.efficiency.cpu_use import CpuSharing, cpus, others
from analyzer.efficiency.factors import Efficiency, efficiency
from analyzer.efficiency.ideal import ideal_replay
from analyzer.imbalance.analysis import Imbalance, analyze_imbalance
from analyzer.metrics.accesses import AccessTotals, FailedCalls, accesses, failed
from analyzer.metrics.callers import CallerRows, CallerSums, CallsFromPlace, from_places
from analyzer.metrics.collectives import CollectiveSums, CollectiveTotals
from analyzer.metrics.computing import SleepSums, SleepTotals, asleep_at
from analyzer.metrics.counters import CounterTotals, counted
from analyzer.metrics.hot import HotRows, HotSums
from analyzer.metrics.messages import Messages, messages
from analyzer.metrics.overhead import AskedDriver, Flushes, asked_drivers, flushes
from analyzer.metrics.profile import Profile, ProfileSums
from analyzer.metrics.regions import RegionProfile, region_profile
from analyzer.metrics.sums import add_all
from analyzer.metrics.system import NodeSummary, summarize_nodes
from analyzer.metrics.unrecorded import UnrecordedTime, unrecorded
from analyzer.metrics.useful import Bursts, BurstSums, UsefulSums, UsefulTime, cpu_waits
from analyzer.parallel import Team
from analyzer.places import Places
from analyzer.structure.levels.parts import Structure
from analyzer.structure.levels.run_structure import IterationMethod, structure
from analyzer.trace import CallPaths, Chosen, Leftovers, Losses, Relative, Trace, Unmatched
from analyzer.trace.at_places import AtPlaces, PlaceChoice
from analyzer.waits.analysis import Waits, analyze_waits

Step = Callable[[str], AbstractContextManager]


def no_step(label: str) -> AbstractContextManager[None]:
    """Return a context that shows no progress."""
    del label
    return nullcontext()


MOST_CALLS = 300_000
"""Largest number of calls of a run in which the first look looks for iterations. `analyze structure` has no limit."""


@dataclass(frozen=True)
class Summary:
    """Results of all metrics of one trace. Fields with "by rank" have shape (ranks,)."""

    trace: Trace
    profile: Profile
    useful: UsefulTime
    flushes: Flushes
    unrecorded: UnrecordedTime
    efficiency: Efficiency
    bursts: Bursts
    messages: Messages
    collectives: list[CollectiveTotals]
    accesses: list[AccessTotals]
    failed: list[FailedCalls]
    unmatched: list[Unmatched]
    elsewhere: list[Unmatched]
    relatives: list[Relative]
    system: list[NodeSummary]
    regions: RegionProfile
    drivers: tuple[AskedDriver, ...]  # drivers that the program asked while it ran
    counted: CounterTotals
    cpus: CpuSharing
    waits: Waits
    cpu_waits_ns: np.ndarray  # (ranks,): waiting for a CPU outside MPI
    asleep: list[SleepTotals]  # sleep outside MPI by place, the longest first
    others_ns: np.ndarray  # (ranks,): threads without calls had or wanted a CPU
    callers: CallerRows
    hot: HotRows
    structure: Structure | None  # None: iterations were not looked for
    even: Imbalance | None  # imbalance of the main loop; None: there is no main loop
    shown: Profile
    """Profile of the calls through the chosen places. `profile` has all calls."""
    place: str = ""
    """Pattern of places that calls were restricted to; "": all calls.

    With a pattern, `messages`, `collectives`, `accesses`, `callers` and `unmatched` cover only the chosen calls.
    """

    @property
    def present(self) -> np.ndarray:
        """Numbers of the ranks that could be read, int64 in increasing order."""
        return np.setdiff1d(np.arange(self.trace.size), self.trace.extra(Losses).missing)

    @property
    def is_long(self) -> bool:
        """Whether the run has more than MOST_CALLS calls, so that iterations were not looked for."""
        return int(self.profile.count.sum()) > MOST_CALLS

    @property
    def transfer_waits_ns(self) -> int | None:
        """Upper bound in ns of the waiting for a CPU within the time that an ideal network would save.

        None: not known.
        """
        return self.cpus.of_transfer_ns(self.efficiency, int(self.useful.of_ranks(self.efficiency.runtime_ns).argmax()))

    @property
    def mpi_ns(self) -> np.ndarray:
        """Time in MPI by rank in ns, int64 of shape (ranks,).

        In measured runs it is the time that remains after all other kinds (docs/computing.md), because the buffers that
        the tracer wrote inside calls are its own time.
        """
        if not self.trace.origin.tracer_times:
            return self.profile.mpi_ns()
        others = self.useful.by_rank() + self.tracer_ns + self.unrecorded.time_ns + self.cpu_waits_ns
        return self.useful.lived_by_rank() - others

    @property
    def tracer_ns(self) -> np.ndarray:
        """Tracer's own time by rank in ns: after calls and, in measured runs, writing buffers and measuring clocks."""
        flushed = self.flushes.time_ns if self.trace.origin.tracer_times else 0
        return self.useful.tracer_by_rank() + flushed

    @cached_property
    def places(self) -> Places:
        """Names of the places of all calls."""
        return self.trace.extra(CallPaths).named()

    @cached_property
    def from_places(self) -> list[CallsFromPlace]:
        """Cost of calls by place, the most expensive place first."""
        return from_places(self.callers, self.places, self.trace)

    @property
    def room_ns(self) -> np.ndarray:
        """Time that the threads of each rank had, in ns. In measured runs a thread has the time that it lived."""
        if not self.trace.origin.tracer_times:
            return self.trace.duration_ns * np.asarray(self.trace.threads, np.int64)
        room = self.useful.room_ns(self.trace.duration_ns)
        return np.bincount(self.useful.rank, room, self.trace.size).astype(np.int64)

    @property
    def whole_ns(self) -> int:
        """Time of all threads of the ranks that could be read, in ns. Shares of the run refer to it."""
        return int(self.room_ns[self.present].sum())

    @property
    def threads(self) -> int:
        """Number of threads of the ranks that could be read."""
        return int(self.trace.threads[self.present].sum())


def summarize(trace: Trace, team: Team, step: Step = no_step, place: PlaceChoice | None = None) -> Summary:
    """Compute all metrics of a trace. Collective over the team.

    Args:
        trace: The trace.
        team: Processes that share the work.
        step: Function that is called with the label of each step and returns a context, to show progress.
        place: Restrict calls, their messages and their accesses to calls through these places; all else covers the
            whole run. None: all calls.
    """
    paths = place.paths(trace) if place else None
    some = trace if paths is None else AtPlaces(trace, paths)
    with step("Adding up calls and computation"):
        calls, computed, pieces, groups, callers, samples, asleep = _sums(trace, team)
        shown = calls
        if paths is not None:
            shown, groups, callers = _sums_of_calls(some, team)
        lost = flushes(trace, team)
    with step("Adding up messages"):
        sent = messages(some, team)
    with step("Adding up windows and files"):
        shared, errors = accesses(some, team), failed(trace, team)
    sums = counted(trace, team)
    missed = unrecorded(trace, team)
    with step("Replaying on an ideal network"):
        ideal = ideal_replay(trace, missed, team)
    factors = efficiency(trace, computed, lost, missed, ideal)
    with step("Adding up regions"):
        own = region_profile(trace, team)
    with step("Finding wait states"):
        waited = analyze_waits(trace, team, calls, causes=False)
    with step("Looking for iterations"):
        made_of, even = _structure(trace, team, calls)
    left = [u for u in trace.extra(Leftovers).unmatched() if paths is None or paths[u.path]]
    return Summary(
        trace,
        calls,
        computed,
        lost,
        missed,
        factors,
        pieces,
        sent,
        groups,
        shared,
        errors,
        left,
        trace.extra(Leftovers).elsewhere(),
        trace.extra(Leftovers).relatives(),
        summarize_nodes(trace),
        own,
        asked_drivers(trace, team),
        sums,
        cpus(trace, team),
        waited,
        cpu_waits(trace, team),
        asleep,
        others(trace, team),
        callers,
        samples,
        made_of,
        even,
        shown,
        place.text if place else "",
    )


def _structure(trace: Trace, team: Team, calls: Profile) -> tuple[Structure | None, Imbalance | None]:
    """Find iterations from the sequences of calls, and their imbalance, if the run has at most MOST_CALLS calls."""
    chosen = trace.extra(Chosen)
    if chosen.ranks is not None or chosen.cluster or not 0 < calls.count.sum() <= MOST_CALLS:
        return None, None
    found = structure(trace, team, IterationMethod.CALLS)
    iterations = found.main.iterations if found.main else None
    return found, analyze_imbalance(trace, team, iterations) if iterations else None


def _sums(
    trace: Trace, team: Team
) -> tuple[Profile, UsefulTime, Bursts, list[CollectiveTotals], CallerRows, HotRows, list[SleepTotals]]:
    """Compute in one pass all sums that need only one rank at a time."""
    calls, computed, pieces, groups = ProfileSums(trace), UsefulSums(trace), BurstSums(), CollectiveSums(trace)
    callers, samples, asleep = CallerSums(trace), HotSums(trace), SleepSums(trace)
    add_all(trace, team, calls, computed, pieces, groups, callers, samples, asleep)
    per_call = calls.total(team), computed.total(team), pieces.total(team), groups.total(team)
    return *per_call, callers.total(team), samples.total(team), asleep_at(asleep.total(team), trace)


def _sums_of_calls(trace: Trace, team: Team) -> tuple[Profile, list[CollectiveTotals], CallerRows]:
    """Compute the sums of calls only, in one pass."""
    calls, groups, callers = ProfileSums(trace), CollectiveSums(trace), CallerSums(trace)
    add_all(trace, team, calls, groups, callers)
    return calls.total(team), groups.total(team), callers.total(team)
