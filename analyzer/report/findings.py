"""What the efficiencies mean for this run, in one sentence each: the rank and the call that matter."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from analyzer.error_classes import error_name
from analyzer.metrics.sharing import Sharing
from analyzer.report.summary import Summary
from analyzer.report.units import percent, plural, size, time

GOOD = 0.98
"""Above this a factor is not worth anybody's time."""
MOST_NODES = 3
EVIDENCE = 0.25
"""The others wait in one call if they spend this share of the imbalance there, and more."""


class _Threads:
    """The useful time (ns) of each thread that could be read; the only thread of a rank is called by its rank."""

    def __init__(self, summary: Summary) -> None:
        chosen = np.isin(summary.useful.rank, summary.present)
        self.time_ns, self.rank = summary.useful.time_ns[chosen], summary.useful.rank[chosen]
        self.single = len(self.rank) == len(summary.present)
        self.kind = "rank" if self.single else "thread"

    def name(self, index: int) -> str:
        """ "rank 3", or "thread 1 of rank 3"."""
        rank = int(self.rank[index])
        if self.single:
            return f"rank {rank}"
        return f"thread {index - int(np.searchsorted(self.rank, rank))} of rank {rank}"


def parallel_efficiency(summary: Summary) -> str:
    """How much of the threads' time was computation."""
    runtime, threads = summary.efficiency.runtime_ns, _Threads(summary)
    number = len(threads.time_ns)
    rest = runtime * number - int(threads.time_ns.sum())
    had = f"{plural(number, threads.kind)} x {time(runtime)}" if number > 1 else f"the {time(runtime)}"
    return f"of {had}, {time(rest)} was not computation"


def load_balance(summary: Summary) -> str:
    """Who computes longest, and where the others wait."""
    threads = _Threads(summary)
    useful = threads.time_ns
    if len(useful) == 1:
        return "one rank, nothing to balance"
    longest, shortest, mean = int(useful.argmax()), int(useful.argmin()), float(useful.mean())
    ratio, who = useful[longest] / mean, threads.name(longest)
    if (summary.efficiency.load_balance or 0) >= GOOD:
        above = f"{who}, the longest, {percent(ratio - 1)} above the mean"
        return f"all {threads.kind}s compute about equally long; {above}"
    if ratio < 1.5 and useful[shortest] < mean / 2:
        start = f"{threads.name(shortest)} computes only {percent(useful[shortest] / mean)} of the mean"
        start += f", {who} {percent(ratio - 1)} more than it"
    else:
        by = f"{ratio:.1f} times as long as" if ratio >= 1.5 else f"{percent(ratio - 1)} longer than"
        start = f"{who} computes {by} the mean ({time(useful[longest])} against {time(mean)})"
    where = waiting_call(summary, int(threads.rank[longest])) if threads.single else ""
    return f"{start}; the others wait for it in {where}" if where else start


def waiting_call(summary: Summary, longest: int) -> str:
    """The procedure in which the other ranks spend most time beyond what rank `longest` spends there.

    None where that is a small part of what the others compute less: then they did not wait in MPI.
    """
    inside, useful = summary.profile.inside_ns, summary.useful.by_rank()
    if not inside.shape[1]:
        return ""
    beyond = (inside - inside[longest]).clip(min=0).sum(axis=0)
    less = int((useful[longest] - useful)[summary.present].sum())
    return summary.profile.procedures[int(beyond.argmax())] if beyond.max() > less * EVIDENCE else ""


def communication_efficiency(summary: Summary) -> str:
    """What keeps even the thread that computes longest from computing."""
    threads, efficiency = _Threads(summary), summary.efficiency
    longest = int(threads.time_ns.argmax())
    inside = summary.profile.inside_ns[int(threads.rank[longest])]
    mpi = int(inside.sum())
    who = f"{threads.name(longest)}, which computes longest," if len(threads.time_ns) > 1 else "the rank"
    if mpi == 0:
        return f"{who} spends no time in MPI"
    share = percent(mpi / efficiency.runtime_ns) if efficiency.runtime_ns else ""
    where, there = summary.profile.procedures[int(inside.argmax())], time(int(inside.max()))
    if not threads.single:
        for_ = f"{who} does so for {time(int(threads.time_ns[longest]))}"
        return f"{for_}; all threads of its rank spend {time(mpi)} in MPI, {there} of it in {where}"
    if (efficiency.communication_efficiency or 0) >= GOOD:
        return f"{who} spends only {share} of the run in MPI, most of it in {where}"
    rest = efficiency.runtime_ns - int(threads.time_ns[longest]) - mpi
    elsewhere = f", and {time(rest)} elsewhere" if rest > mpi else ""
    return f"{who} spends {time(mpi)} ({share}) in MPI, {there} of it in {where}{elsewhere}"


def bursts(summary: Summary) -> str:
    """How long the program computes between MPI calls."""
    bursts = summary.bursts
    text = f"{plural(bursts.count, 'burst')} of {time(bursts.mean_ns)} on average"
    if bursts.count < 2:
        return text
    low, middle, high = (time(bursts.percentiles_ns[p]) for p in (5, 50, 95))
    return f"{text}; half of them below {middle}, 90 % from {low} to {high}, the longest {time(bursts.longest_ns)}"


def crowds(sharing: Sequence[Sharing]) -> str:
    """ "4 ranks share 2 CPUs of n0; ..."."""
    parts = [f"{s.ranks} ranks share {plural(s.cpus, 'CPU')} of {s.node}" for s in sharing[:MOST_NODES]]
    more = len(sharing) - MOST_NODES
    return "; ".join(parts) + (f"; and so on {plural(more, 'more node')}" if more > 0 else "")


def shared_cpus(summary: Summary) -> list[str]:
    """Where ranks outnumber the CPUs for them, and how long they had one."""
    if not summary.sharing:
        return []
    text, cpu = crowds(summary.sharing), summary.counted.sums("CPU_NS")
    counted = [k for k, name in enumerate(summary.profile.procedures) if not name.startswith("MPI_Init")]
    inside = int(summary.profile.inside_ns[summary.present][:, counted].sum())
    if cpu is None or not inside:
        return [f"{text}: times in MPI hold the wait for a CPU"]
    return [
        f"{text}: of {time(inside)} in MPI after MPI_Init they had one for {time(cpu[1])} "
        f"({percent(cpu[1] / inside)}); the rest is waiting for a CPU, or asleep"
    ]


def flushes(summary: Summary) -> str:
    """What flushing cost, and the buffer that would have avoided it."""
    count, lost = summary.flushes.count, summary.flushes.time_ns - summary.flushes.clocks_ns
    worst = int(lost.argmax())
    runtime = summary.trace.duration_ns
    share = percent(int(lost[worst]) / runtime) if runtime else "0 %"
    text = f"{plural(int(count.sum()), 'flush', 'flushes')}, {time(int(lost.sum()))} in all"
    text += f", at most {time(int(lost[worst]))} ({share} of the run) on rank {worst}"
    if summary.trace.flush_mode == "keep":
        return f"{text}; counted as computing, as the trace has it"
    if not summary.flushes.during.any():
        ended = "a thread ended or " if summary.threads > len(summary.present) else ""
        return f"{text}; all of them when {ended}the trace was closed"
    buffer = sufficient_buffer_bytes(summary)
    return f"{text}; none before the end with TRACELIB_BUFFER={buffer >> 20}M" if buffer else text


def sufficient_buffer_bytes(summary: Summary) -> int:
    """The buffer that would have held all records of the busiest thread: whole MiB, a power of two; 0: unknown.

    A thread that flushed n times before the end filled n buffers and part of another.
    """
    needed = summary.trace.buffer_bytes * (int(summary.flushes.during.max(initial=0)) + 1)
    return 1 << max(20, (needed - 1).bit_length()) if needed else 0


def left_out(summary: Summary) -> list[str]:
    """What the user or a limit kept from being recorded, one line each."""
    missed, whole = summary.unrecorded, summary.trace.duration_ns * summary.threads
    lines = []
    if missed.time_ns.any():
        lines.append(f"recording was off for {percent(int(missed.time_ns.sum()) / whole)} of the time")
    if missed.calls:
        lines.append(f"{plural(missed.calls, 'call')} dropped: TRACELIB_LIMIT")
    if missed.partners:
        have = plural(missed.partners, "send or receive has its", "sends and receives have their")
        lines.append(f"{have} other side where recording was off")
    if missed.summed:
        calls = plural(missed.summed, "call is", "calls are")
        lines.append(f"{calls} known in sums only: TRACELIB_CALLS, TRACELIB_BURSTS")
    return lines


def failed(summary: Summary, most: int = 8) -> list[str]:
    """One line for each call and class of error, the most frequent first."""
    rows = summary.failed
    lines = [f"rank {f.rank}: {f.count} x {f.procedure} returned {error_name(f.class_)}" for f in rows[:most]]
    return [*lines, f"and {plural(len(rows) - most, 'more kind')}"] if len(rows) > most else lines


def unmatched(summary: Summary, most: int = 8) -> list[str]:
    """One line for each kind of message that lacks its other half, the most frequent first."""
    rows = sorted(summary.unmatched, key=lambda u: (-u.count, u.rank, u.call, u.peer, u.tag, u.side))
    lines = [f"{u.text}, {size(u.bytes)}" for u in rows[:most]]
    return [*lines, f"and {plural(len(rows) - most, 'more kind')}"] if len(rows) > most else lines


def problems(summary: Summary, most: int = 8) -> list[str]:
    """What the source found wrong, one line each."""
    found = summary.trace.problems
    lines = [problem.line for problem in found[:most]]
    if summary.messages.backwards:
        late = f"{plural(summary.messages.backwards, 'message was', 'messages were')} received before being sent"
        lines.insert(0, f"{late}: clocks disagree")
    return [*lines, f"and {len(found) - most} more; `analyze check` lists all"] if len(found) > most else lines
