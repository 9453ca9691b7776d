"""Time in which ranks had a CPU, waited for one, or slept, as the kernel or a counter reported during the run."""

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
    """CPU use of each rank in ns, int64 of shape (ranks,), sum over the threads that call MPI.

    Calls that start MPI do not count. All values are 0 for ranks without records. CPU time is limited to the time by
    the clock. A thread without a CPU waits for a CPU, or sleeps: in MPI until a message comes, outside MPI for a file,
    a child or a timer. The kernel's run delay distinguishes the two.

    Attributes:
        computing_ns: Time in computing by the clock.
        computing_cpu_ns: Part of computing_ns with a CPU.
        mpi_ns: Time in MPI by the clock.
        mpi_cpu_ns: Part of mpi_ns with a CPU.
        computing_delay_ns: Part of computing_ns in which threads were ready to run and waited for a CPU. None: not
            known.
        mpi_delay_ns: The same part of mpi_ns. None: not known.
    """

    computing_ns: np.ndarray
    computing_cpu_ns: np.ndarray
    mpi_ns: np.ndarray
    mpi_cpu_ns: np.ndarray
    computing_delay_ns: np.ndarray | None = None
    mpi_delay_ns: np.ndarray | None = None

    @property
    def tells_sleep(self) -> bool:
        """Return true if sleeping can be distinguished from waiting for a CPU: the delays are known."""
        return self.computing_delay_ns is not None

    @property
    def computing_without_ns(self) -> np.ndarray:
        """Return the ns that each rank was outside MPI without a CPU."""
        return self.computing_ns - self.computing_cpu_ns

    @property
    def computing_waits_ns(self) -> np.ndarray:
        """Return the ns that each rank waited for a CPU outside MPI.

        It is an upper bound, which includes sleep, if the delays are not known.
        """
        return self.computing_without_ns if self.computing_delay_ns is None else self.computing_delay_ns

    @property
    def computing_asleep_ns(self) -> np.ndarray:
        """Return the ns that each rank slept outside MPI. It is 0 if the delays are not known."""
        return self.computing_without_ns - self.computing_waits_ns

    @property
    def mpi_without_ns(self) -> np.ndarray:
        """Return the ns that each rank was in MPI without a CPU."""
        return self.mpi_ns - self.mpi_cpu_ns

    @property
    def mpi_waits_ns(self) -> np.ndarray:
        """Return the ns that each rank waited for a CPU in MPI.

        It is an upper bound, which includes sleep, if the delays are not known.
        """
        return self.mpi_without_ns if self.mpi_delay_ns is None else self.mpi_delay_ns


@dataclass(frozen=True)
class Switches:
    """Numbers of context switches of all threads of each rank, also of threads without calls; int64 of shape (ranks,).

    `voluntary`: the thread gave up its CPU to wait for something. `involuntary`: the kernel gave the CPU to another
    thread. 0: not known for the rank.
    """

    voluntary: np.ndarray
    involuntary: np.ndarray


def starts_mpi(procedures: Sequence[str]) -> np.ndarray:
    """Return a mask of the procedures that start MPI (MPI_Init, ...). No counter counts what ranks do in them."""
    return np.array([name in INIT for name in procedures], bool)


@dataclass(frozen=True)
class CpuSharing:
    """Use of CPUs in a run. None or empty: not recorded.

    Attributes:
        sharing: Ranks of a node that share CPUs.
        use: Time of each rank with and without a CPU.
        crowds: Ranks whose threads share CPUs.
        switches: Context switches of each rank.
    """

    sharing: tuple[Sharing, ...] = ()
    use: RankCpuUse | None = None
    crowds: tuple[Crowd, ...] = ()
    switches: Switches | None = None

    def of_transfer_ns(self, efficiency: Efficiency, longest: int) -> int | None:
        """Return how many ns of the time that an ideal network would save may be waiting for a CPU. None: not known.

        Args:
            efficiency: The efficiencies of the run.
            longest: The rank that computes longest, which the factors describe.

        On the ideal network this rank waits for others for ideal runtime - ideal useful time. This much of its time in
        MPI without a CPU remains; the rest is saved.
        """
        runtime, useful = efficiency.ideal.runtime_ns, efficiency.ideal.useful_ns
        if self.use is None or not runtime or useful is None:
            return None
        saved = max(efficiency.runtime_ns - runtime, 0)
        return min(max(int(self.use.mpi_waits_ns[longest]) - (runtime - useful), 0), saved)


NOT_KNOWN = CpuSharing()
"""The CpuSharing of a run for which nothing is known about CPUs."""


def cpus(trace: Trace, team: Team) -> CpuSharing:
    """Collect the use of CPUs in a run. Collective."""
    return CpuSharing(sharing(trace), cpu_use(trace, team), crowds_of_threads(trace, team), switches(trace, team))


def switches(trace: Trace, team: Team) -> Switches | None:
    """Count the context switches of each rank. None: the kernel did not report them. Collective."""
    sums = np.zeros((3, trace.size), np.int64)
    for rank in trace.share(team):
        tasks = trace.extra(KernelsCpuUse).tasks(rank)
        known = tasks[(tasks["voluntary"] != UNKNOWN) & (tasks["involuntary"] != UNKNOWN)]
        sums[:, rank] = known["voluntary"].sum(), known["involuntary"].sum(), len(known)
    voluntary, involuntary, threads = np.sum(team.allgather(sums), axis=0)
    return Switches(voluntary, involuntary) if threads.any() else None


def cpu_use(trace: Trace, team: Team) -> RankCpuUse | None:
    """Sum the CPU use of each rank. None: it was not recorded. Collective."""
    kernels = trace.extra(KernelsCpuUse)
    if kernels.is_any_known():
        return _by_kernel(trace, team, kernels)
    return _by_counter(trace, team) if reads_cpu_time(trace) else None


def _by_counter(trace: Trace, team: Team) -> RankCpuUse:
    """Sum the CPU use from the CPU time that was read at the entry and exit of calls."""
    sums = np.zeros((4, trace.size), np.int64)
    missing = set(trace.extra(Losses).missing)
    for rank in trace.share(team):
        if rank not in missing:
            for thread in range(int(trace.threads[rank])):
                sums[:, rank] += _of_thread(trace, rank, thread)
    return RankCpuUse(*np.sum(team.allgather(sums), axis=0))


def _of_thread(trace: Trace, rank: int, thread: int) -> np.ndarray:
    """Return computing_ns, computing_cpu_ns, mpi_ns and mpi_cpu_ns of one thread. Polls that fail have no readings."""
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
    """Return the length of the counted intervals in sum, and the part of it with a CPU, in ns."""
    time_ns, cpu_ns = time_ns[counted], cpu_ns[counted]
    return int(time_ns.sum()), int(np.clip(cpu_ns, 0, time_ns).sum())


def _by_kernel(trace: Trace, team: Team, kernels: KernelsCpuUse) -> RankCpuUse:
    """Sum the CPU use from what the kernel reported after long bursts and calls.

    During shorter ones, threads count as having a CPU.
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
    """Return the time in computing, the part without a CPU and the delay in it, then the same three of MPI, in ns."""
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
    """Sum the ns that threads without calls had or waited for a CPU, int64 of shape (ranks,). Collective."""
    found = np.zeros(trace.size, np.int64)
    for rank in trace.share(team):
        tasks = trace.extra(KernelsCpuUse).tasks(rank)
        mine = tasks[tasks["thread"] < 0]
        found[rank] = mine["cpu"].clip(min=0).sum() + mine["delay"].clip(min=0).sum()
    return team.total(found)


_LATE_NS = 1_000_000
"""Largest time in ns between a call and the moment when its thread asks the kernel."""
