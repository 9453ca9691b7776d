"""How long ranks had a CPU, where they share CPUs and their CPU time was recorded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from analyzer.efficiency.factors import Efficiency
from analyzer.metrics.regions import Accumulated
from analyzer.operations.bursts import CPU_TIME, is_any_measured, is_measured
from analyzer.pairing.requests import windows_of_rank
from analyzer.parallel import Team
from analyzer.trace import UNKNOWN, Counters, Losses, State, Trace, TracerTime
from analyzer.trace.sharing import Sharing, sharing
from tracelib.schema.procedures import INIT


@dataclass(frozen=True)
class CpuUse:
    """ns of each rank, int64 of shape (ranks,): how long it computed and was in MPI by the clock, and for how much of
    that it had a CPU. All 0 for ranks whose CPU time was not recorded.

    Counted are the bursts and calls whose CPU time is known, and no call that starts MPI: polls that fail have no
    readings. As in a replay, no burst and no call has a CPU for longer than it lasts (`op_burst_of`). A rank without a
    CPU waits for one, or sleeps: in MPI until a message comes, outside of it until a file is read or a timer ends.
    """

    computing_ns: np.ndarray
    computing_cpu_ns: np.ndarray
    mpi_ns: np.ndarray
    mpi_cpu_ns: np.ndarray

    @property
    def computing_waits_ns(self) -> np.ndarray:
        """The most that each rank waited for a CPU while it computed."""
        return self.computing_ns - self.computing_cpu_ns

    @property
    def mpi_without_ns(self) -> np.ndarray:
        """The time that each rank was in MPI without a CPU."""
        return self.mpi_ns - self.mpi_cpu_ns


def starts_mpi(procedures: Sequence[str]) -> np.ndarray:
    """Which of the procedures start MPI: no counter counts what ranks do in them."""
    return np.array([name in INIT for name in procedures], bool)


@dataclass(frozen=True)
class Cpus:
    """Where ranks share CPUs, and how long they had one (None: not recorded)."""

    sharing: tuple[Sharing, ...] = ()
    use: CpuUse | None = None

    def of_transfer_ns(self, efficiency: Efficiency, longest: int) -> int | None:
        """How much of the time that an ideal network would save may be waiting for a CPU; None where that is not known.

        longest: the rank that computes longest, of which the factors speak. On the ideal network it waits for others
        for ideal runtime - ideal useful time; of its time in MPI without a CPU that stays, and the rest is saved.
        """
        runtime, useful = efficiency.ideal.runtime_ns, efficiency.ideal.useful_ns
        if self.use is None or not runtime or useful is None:
            return None
        saved = max(efficiency.runtime_ns - runtime, 0)
        return min(max(int(self.use.mpi_without_ns[longest]) - (runtime - useful), 0), saved)


NOT_KNOWN = Cpus()
"""Nothing is known about CPUs."""


def cpus(trace: Trace, team: Team) -> Cpus:
    """Those of a trace. Collective over the team."""
    return Cpus(sharing(trace), cpu_use(trace, team))


def cpu_use(trace: Trace, team: Team) -> CpuUse | None:
    """The sums of each rank; None where no CPU time was recorded. Collective over the team."""
    if not is_any_measured(trace):
        return None
    sums = np.zeros((4, trace.size), np.int64)
    missing = set(trace.extra(Losses).missing)
    for rank in trace.share(team):
        if rank not in missing and is_measured(trace, rank):
            sums[:, rank] = _of_rank(trace, rank)
    return CpuUse(*np.sum(team.allgather(sums), axis=0))


def _of_rank(trace: Trace, rank: int) -> np.ndarray:
    """The four sums of one rank, whose only thread is 0."""
    column = [counter.name for counter in trace.extra(Counters).known].index(CPU_TIME)
    starts = starts_mpi(trace.procedures)
    overhead_ns = trace.extra(TracerTime).after_call_cpu_ns(rank)
    running, sums, before = Accumulated(), np.zeros(4, np.int64), 0
    for begin, end in pairwise(windows_of_rank(trace, rank).tolist()):
        states = trace.states(begin, end, range(rank, rank + 1))
        states = states[states["state"] == State.RUNNING]
        running.append(states["begin"], states["end"], states["end"] - states["begin"])
        for counts in trace.extra(Counters).counts(rank, begin, end):
            read = counts.exit[:, column] != UNKNOWN  # polls are not: what lies between them is of the next burst
            calls, burst, inside = counts.calls[read], counts.burst[read, column], counts.inside[read, column]
            until = running.until(calls["enter"])
            counted = (inside != UNKNOWN) & ~starts[calls["call"]]
            sums += (
                *_sums(np.diff(until, prepend=before), burst - overhead_ns, burst != UNKNOWN),
                *_sums(calls["inside"], inside, counted),
            )
            before = int(until[-1]) if len(until) else before
    return sums


def _sums(time_ns: np.ndarray, cpu_ns: np.ndarray, counted: np.ndarray) -> tuple[int, int]:
    """What some intervals last in sum, and for how much of it there was a CPU."""
    time_ns, cpu_ns = time_ns[counted], cpu_ns[counted]
    return int(time_ns.sum()), int(np.clip(cpu_ns, 0, time_ns).sum())
