"""The time that ranks had a CPU, waited for one, and slept, as the kernel reported while the run was recorded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from analyzer.efficiency.factors import Efficiency
from analyzer.metrics.regions import AccumulatedWeights
from analyzer.operations.bursts import CPU_TIME, reads_cpu_time
from analyzer.pairing.requests import windows_of_rank
from analyzer.parallel import Team
from analyzer.trace import UNKNOWN, Counters, Losses, State, Trace, TracerTime
from analyzer.trace import CpuUse as KernelsCpuUse
from analyzer.trace.sharing import Crowd, Sharing, crowds_of_threads, sharing
from tracelib.schema import OffCpuState
from tracelib.schema.procedures import INIT


@dataclass(frozen=True)
class RankCpuUse:
    """CPU use of each rank in ns, int64 of shape (ranks,), sum of its threads that call MPI.

    The fields are the time by the clock in computing and in MPI, the part of it with a CPU, and the part in which the
    rank could have run and waited for a CPU (delay).

    All are 0 for ranks of which nothing was recorded. Calls that start MPI do not count. No time has a CPU for longer
    than it lasts. Without a CPU a rank waits for one, or sleeps: in MPI until a message comes, outside of it until a
    file is read, a child ends, or a timer. The kernel's run delay tells which. The delays are None where it was not
    recorded.
    """

    computing_ns: np.ndarray
    computing_cpu_ns: np.ndarray
    mpi_ns: np.ndarray
    mpi_cpu_ns: np.ndarray
    computing_delay_ns: np.ndarray | None = None
    mpi_delay_ns: np.ndarray | None = None

    @property
    def tells_sleep(self) -> bool:
        """Return true if sleeping can be told from waiting for a CPU."""
        return self.computing_delay_ns is not None

    @property
    def computing_without_ns(self) -> np.ndarray:
        """Return the time that each rank was outside MPI without a CPU."""
        return self.computing_ns - self.computing_cpu_ns

    @property
    def computing_waits_ns(self) -> np.ndarray:
        """Return the time that each rank waited for a CPU outside MPI; where sleep is not told from it, at most."""
        return self.computing_without_ns if self.computing_delay_ns is None else self.computing_delay_ns

    @property
    def computing_asleep_ns(self) -> np.ndarray:
        """Return the time that each rank slept outside MPI, as far as it is known: else 0."""
        return self.computing_without_ns - self.computing_waits_ns

    @property
    def mpi_without_ns(self) -> np.ndarray:
        """Return the time that each rank was in MPI without a CPU."""
        return self.mpi_ns - self.mpi_cpu_ns

    @property
    def mpi_waits_ns(self) -> np.ndarray:
        """Return the time that each rank waited for a CPU in MPI; where sleep is not told from it, at most."""
        return self.mpi_without_ns if self.mpi_delay_ns is None else self.mpi_delay_ns


@dataclass(frozen=True)
class Switches:
    """Numbers of context switches of the threads of each rank, int64 of shape (ranks,).

    Threads without calls count. `voluntary`: the thread gave its CPU up to wait for something. `involuntary`: the
    kernel gave the CPU to others. 0 for ranks of which that is not known.
    """

    voluntary: np.ndarray
    involuntary: np.ndarray


def starts_mpi(procedures: Sequence[str]) -> np.ndarray:
    """Return a mask of the procedures that start MPI: no counter counts what ranks do in them."""
    return np.array([name in INIT for name in procedures], bool)


@dataclass(frozen=True)
class CpuSharing:
    """Use of CPUs: shared by ranks or by threads of a rank, time with a CPU, context switches (None: not recorded)."""

    sharing: tuple[Sharing, ...] = ()
    use: RankCpuUse | None = None
    crowds: tuple[Crowd, ...] = ()
    switches: Switches | None = None

    def of_transfer_ns(self, efficiency: Efficiency, longest: int) -> int | None:
        """Return how much of the time that an ideal network would save may be waiting for a CPU; None: not known.

        `longest` is the rank that computes longest, which the factors describe. On the ideal network it waits for
        others for ideal runtime - ideal useful time. That part of its time in MPI without a CPU stays, and the rest is
        saved.
        """
        runtime, useful = efficiency.ideal.runtime_ns, efficiency.ideal.useful_ns
        if self.use is None or not runtime or useful is None:
            return None
        saved = max(efficiency.runtime_ns - runtime, 0)
        return min(max(int(self.use.mpi_waits_ns[longest]) - (runtime - useful), 0), saved)


NOT_KNOWN = CpuSharing()
"""The result where nothing is known about CPUs."""


def cpus(trace: Trace, team: Team) -> CpuSharing:
    """Collect the use of CPUs in a trace. Collective."""
    return CpuSharing(sharing(trace), cpu_use(trace, team), crowds_of_threads(trace, team), switches(trace, team))


def switches(trace: Trace, team: Team) -> Switches | None:
    """Count each rank's context switches; None where the kernel did not report them. Collective."""
    sums = np.zeros((3, trace.size), np.int64)
    for rank in trace.share(team):
        tasks = trace.extra(KernelsCpuUse).tasks(rank)
        known = tasks[(tasks["voluntary"] != UNKNOWN) & (tasks["involuntary"] != UNKNOWN)]
        sums[:, rank] = known["voluntary"].sum(), known["involuntary"].sum(), len(known)
    voluntary, involuntary, threads = np.sum(team.allgather(sums), axis=0)
    return Switches(voluntary, involuntary) if threads.any() else None


def cpu_use(trace: Trace, team: Team) -> RankCpuUse | None:
    """Sum the CPU use of each rank; None where nothing was recorded. Collective."""
    kernels = trace.extra(KernelsCpuUse)
    if kernels.is_any_known():
        return _by_kernel(trace, team, kernels)
    return _by_counter(trace, team) if reads_cpu_time(trace) else None


def _by_counter(trace: Trace, team: Team) -> RankCpuUse:
    """Sum the CPU time that was read at the entry and the exit of calls."""
    sums = np.zeros((4, trace.size), np.int64)
    missing = set(trace.extra(Losses).missing)
    for rank in trace.share(team):
        if rank not in missing:
            for thread in range(int(trace.threads[rank])):
                sums[:, rank] += _of_thread(trace, rank, thread)
    return RankCpuUse(*np.sum(team.allgather(sums), axis=0))


def _of_thread(trace: Trace, rank: int, thread: int) -> np.ndarray:
    """Compute the four sums of one thread. Polls that fail have no readings."""
    column = [counter.name for counter in trace.extra(Counters).known].index(CPU_TIME)
    starts = starts_mpi(trace.procedures)
    overhead_ns = trace.extra(TracerTime).after_call_cpu_ns(rank)
    running, sums, before = AccumulatedWeights(), np.zeros(4, np.int64), 0
    for begin, end in pairwise(windows_of_rank(trace, rank).tolist()):
        states = trace.states(begin, end, range(rank, rank + 1))
        states = states[(states["state"] == State.RUNNING) & (states["thread"] == thread)]
        running.append(states["begin"], states["end"], states["end"] - states["begin"])
        for counts in trace.extra(Counters).counts(rank, begin, end):
            # polls are not read: the time between them belongs to the next burst
            read = (counts.exit[:, column] != UNKNOWN) & (counts.calls["thread"] == thread)
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
    """Return the length of some intervals in sum, and the part of it with a CPU."""
    time_ns, cpu_ns = time_ns[counted], cpu_ns[counted]
    return int(time_ns.sum()), int(np.clip(cpu_ns, 0, time_ns).sum())


def _by_kernel(trace: Trace, team: Team, kernels: KernelsCpuUse) -> RankCpuUse:
    """Sum the times that threads asked the kernel for after long computations and calls.

    In shorter ones threads count as having a CPU.
    """
    sums = np.zeros((6, trace.size), np.int64)
    told = True
    for rank in trace.share(team):
        if kernels.is_known(rank):
            rows = kernels.of(rank)
            told = told and not (rows["delay"] == UNKNOWN).any()
            sums[:, rank] = _of_rank(trace, rank, rows)
    computing, computing_off, computing_delay, mpi, mpi_off, mpi_delay = np.sum(team.allgather(sums), axis=0)
    delays = (computing_delay, mpi_delay) if all(team.allgather(told)) else (None, None)
    return RankCpuUse(computing, computing - computing_off, mpi, mpi - mpi_off, *delays)


def _of_rank(trace: Trace, rank: int, rows: np.ndarray) -> np.ndarray:
    """Return computing, its time off the CPU and its delay; then the same three of MPI."""
    starts, sums = starts_mpi(trace.procedures), np.zeros(6, np.int64)
    initializing = []
    for begin, end in pairwise(windows_of_rank(trace, rank).tolist()):
        states = trace.states(begin, end, range(rank, rank + 1))
        states = states[states["state"] == State.RUNNING]
        sums[0] += (states["end"] - states["begin"]).sum()
        for calls in trace.calls(rank, begin, end):
            sums[3] += calls["inside"].sum()
            for first in calls[starts[calls["call"]]]:
                sums[3] -= first["inside"]
                initializing.append((int(first["thread"]), int(first["enter"]), int(first["exit"]) + _LATE_NS))
    inside = rows["where"] == OffCpuState.INSIDE
    for thread, enter, until in initializing:
        inside &= ~((rows["thread"] == thread) & (rows["time"] >= enter) & (rows["time"] <= until))
    for place, which in ((0, rows["where"] == OffCpuState.OUTSIDE), (3, inside)):
        off = min(int(rows["off"][which].sum()), int(sums[place]))
        sums[place + 1], sums[place + 2] = off, min(int(rows["delay"][which].clip(min=0).sum()), off)
    return sums


def others(trace: Trace, team: Team) -> np.ndarray:
    """Sum the ns that threads without calls had or wanted a CPU, int64 of shape (ranks,). Collective."""
    found = np.zeros(trace.size, np.int64)
    for rank in trace.share(team):
        tasks = trace.extra(KernelsCpuUse).tasks(rank)
        mine = tasks[tasks["thread"] < 0]
        found[rank] = mine["cpu"].clip(min=0).sum() + mine["delay"].clip(min=0).sum()
    return team.total(found)


_LATE_NS = 1_000_000
"""Time in ns after a call within which a thread asks the kernel."""
