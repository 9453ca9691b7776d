"""What the efficiencies mean for this run, in one sentence each: the rank and the call that matter."""

from __future__ import annotations

from analyzer.report.summary import Summary
from analyzer.report.units import percent, plural, size, time

GOOD = 0.98
"""Above this a factor is not worth anybody's time."""


def parallel_efficiency(summary: Summary) -> str:
    """How much of the ranks' time was computation."""
    runtime, ranks = summary.efficiency.runtime_ns, summary.trace.size
    rest = runtime * len(summary.useful.time_ns) - int(summary.useful.time_ns.sum())
    had = f"{plural(ranks, 'rank')} x {time(runtime)}" if ranks > 1 else f"the {time(runtime)}"
    return f"of {had}, {time(rest)} was not computation"


def load_balance(summary: Summary) -> str:
    """Who computes longest, and where the others wait."""
    useful = summary.useful.by_rank()
    if len(useful) == 1:
        return "one rank, nothing to balance"
    longest, shortest, mean = int(useful.argmax()), int(useful.argmin()), float(useful.mean())
    ratio = useful[longest] / mean
    if (summary.efficiency.load_balance or 0) >= GOOD:
        return f"all ranks compute about equally long; rank {longest}, the longest, {percent(ratio - 1)} above the mean"
    if ratio < 1.5 and useful[shortest] < mean / 2:
        start = f"rank {shortest} computes only {percent(useful[shortest] / mean)} of the mean"
        start += f", rank {longest} {percent(ratio - 1)} more than it"
    else:
        by = f"{ratio:.1f} times as long as" if ratio >= 1.5 else f"{percent(ratio - 1)} longer than"
        start = f"rank {longest} computes {by} the mean ({time(useful[longest])} against {time(mean)})"
    where = waiting_call(summary, longest)
    return f"{start}; the others wait for it in {where}" if where else start


def waiting_call(summary: Summary, longest: int) -> str:
    """The procedure in which the other ranks spend most time beyond what rank `longest` spends there."""
    inside = summary.profile.inside_ns
    if not inside.shape[1]:
        return ""
    beyond = (inside - inside[longest]).clip(min=0).sum(axis=0)
    return summary.profile.procedures[int(beyond.argmax())] if beyond.max() > 0 else ""


def communication_efficiency(summary: Summary) -> str:
    """What keeps even the rank that computes longest from computing."""
    useful, efficiency = summary.useful.by_rank(), summary.efficiency
    longest = int(useful.argmax())
    inside = summary.profile.inside_ns[longest]
    mpi = int(inside.sum())
    who = f"rank {longest}, which computes longest," if len(useful) > 1 else "the rank"
    if mpi == 0:
        return f"{who} spends no time in MPI"
    main = int(inside.argmax())
    share = percent(mpi / efficiency.runtime_ns) if efficiency.runtime_ns else ""
    where = summary.profile.procedures[main]
    if (efficiency.communication_efficiency or 0) >= GOOD:
        return f"{who} spends only {share} of the run in MPI, most of it in {where}"
    return f"{who} spends {time(mpi)} ({share}) in MPI, {time(int(inside[main]))} of it in {where}"


def bursts(summary: Summary) -> str:
    """How long the program computes between MPI calls."""
    bursts = summary.bursts
    text = f"{plural(bursts.count, 'burst')} of {time(bursts.mean_ns)} on average"
    if bursts.count < 2:
        return text
    low, middle, high = (time(bursts.percentiles_ns[p]) for p in (5, 50, 95))
    return f"{text}; half of them below {middle}, 90 % from {low} to {high}, the longest {time(bursts.longest_ns)}"


def flushes(summary: Summary) -> str:
    """What flushing cost, and the buffer that would have avoided it."""
    count, lost = summary.flushes.count, summary.flushes.time_ns
    worst = int(lost.argmax())
    runtime = summary.trace.duration_ns
    share = percent(int(lost[worst]) / runtime) if runtime else "0 %"
    text = f"{plural(int(count.sum()), 'flush', 'flushes')}, {time(int(lost.sum()))} in all"
    text += f", at most {time(int(lost[worst]))} ({share} of the run) on rank {worst}"
    if summary.trace.flush_mode == "keep":
        return f"{text}; counted as computing, as the trace has it"
    if (count <= summary.flushes.closing).all():
        return f"{text}; all of them when the trace was closed"
    buffer = sufficient_buffer_bytes(summary)
    return f"{text}; none before the end with TRACELIB_BUFFER={buffer >> 20}M" if buffer else text


def sufficient_buffer_bytes(summary: Summary) -> int:
    """The buffer that would have held all records of the busiest rank: whole MiB, a power of two; 0: unknown.

    A rank that flushed n times before the end filled n buffers and part of another.
    """
    during = summary.flushes.count - summary.flushes.closing
    needed = summary.trace.buffer_bytes * (int(during.max(initial=0)) + 1)
    return 1 << max(20, (needed - 1).bit_length()) if needed else 0


def unmatched(summary: Summary, most: int = 8) -> list[str]:
    """One line for each kind of message that lacks its other half, the most frequent first."""
    rows = sorted(summary.unmatched, key=lambda u: (-u.count, u.rank, u.call, u.peer, u.tag, u.side))
    lines = [f"{u.text}, {size(u.bytes)}" for u in rows[:most]]
    return [*lines, f"and {plural(len(rows) - most, 'more kind')}"] if len(rows) > most else lines


def problems(summary: Summary, most: int = 8) -> list[str]:
    """What the source found wrong, one line each."""
    found = summary.trace.problems
    lines = [f"rank {p.rank}: {p.text}" if p.rank >= 0 else p.text for p in found[:most]]
    if summary.messages.backwards:
        lines.insert(0, f"{plural(summary.messages.backwards, 'message')} received before it was sent: clocks disagree")
    return [*lines, f"and {len(found) - most} more; `analyze check` lists all"] if len(found) > most else lines
