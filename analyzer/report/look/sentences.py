"""Sentences on the efficiencies of a run: which rank and which call matter.

Also the buffer size that a run would have needed, and names of ranks. In traces of other tools, threads stand for
ranks.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from analyzer.findings import waiting_call
from analyzer.metrics.checks import FEWER_CALLERS
from analyzer.places.paths import shortened
from analyzer.report.look.summary import Summary
from analyzer.report.words.groups import few_lines
from analyzer.report.words.units import count, percent, plural, size, time
from analyzer.trace import Losses, TracerTime, Unmatched
from analyzer.trace.chosen import one_sided
from analyzer.trace.error_classes import error_name
from tracelib.schema import CALL_WAS_LEFT


def sufficient_buffer_bytes(summary: Summary) -> int:
    """Return the buffer size in bytes that would have held all records of the busiest thread; 0: unknown.

    It is a power of two, and at least 1 MiB. A thread that flushed n times before the end filled n buffers and part of
    another.
    """
    needed = summary.trace.extra(TracerTime).buffer_bytes * (int(summary.flushes.during.max(initial=0)) + 1)
    return 1 << max(20, (needed - 1).bit_length()) if needed else 0


class ThreadNames:
    """Names and useful times of the ranks or threads that the efficiencies are computed from.

    In measured runs these are the ranks that could be read, with the mean over their threads (`Useful.of_ranks`). In
    traces of other tools they are threads. `time_ns` is their useful time in ns, `rank` their rank.
    """

    def __init__(self, summary: Summary) -> None:
        useful = summary.useful
        self.time_ns, self.rank = useful.time_ns, useful.rank
        if summary.trace.origin.tracer_times:
            of_ranks = useful.of_ranks(summary.efficiency.runtime_ns)
            self.time_ns, self.rank = np.round(of_ranks).astype(np.int64), np.arange(len(of_ranks))
        chosen = np.isin(self.rank, summary.present)
        self.time_ns, self.rank = self.time_ns[chosen], self.rank[chosen]
        self.single = len(self.rank) == len(summary.present)
        self.kind = "rank" if self.single else "thread"

    def name(self, index: int) -> str:
        """Return the name of an entry, such as "rank 3" or "thread 1 of rank 3"."""
        rank = int(self.rank[index])
        if self.single:
            return f"rank {rank}"
        return f"thread {index - int(np.searchsorted(self.rank, rank))} of rank {rank}"

    def longest(self) -> str:
        """Say which entry computes longest, such as "rank 1 computes 50.0 % longer than the mean"."""
        index = int(self.time_ns.argmax())
        ratio = self.time_ns[index] / float(self.time_ns.mean())
        by = f"{ratio:.1f} times as long as" if ratio >= 1.5 else f"{percent(ratio - 1)} longer than"
        return f"{self.name(index)} computes {by} the mean"


GOOD = 0.98
"""Efficiency factor (0 to 1) from which on sentences call it good."""
MUCH_TRACING = 0.01
"""Share of the run from which on the report mentions the tracer's own time."""


def parallel_efficiency(summary: Summary) -> str:
    """Say how much of the time of all threads is not computation."""
    runtime, threads = summary.efficiency.runtime_ns, ThreadNames(summary)
    number = len(threads.time_ns)
    rest = runtime * number - int(threads.time_ns.sum())
    had = f"{plural(number, threads.kind)} x {time(runtime)}" if number > 1 else f"the {time(runtime)}"
    return f"{time(rest)} of {had} is not computation"


def load_balance(summary: Summary) -> str:
    """Say which rank or thread computes longest, and where the others wait for it."""
    threads = ThreadNames(summary)
    useful = threads.time_ns
    if len(useful) == 1:
        return "there is only one rank"
    longest, shortest, mean = int(useful.argmax()), int(useful.argmin()), float(useful.mean())
    ratio, who = useful[longest] / mean, threads.name(longest)
    if (summary.efficiency.load_balance or 0) >= GOOD:
        above = f"{who} computes longest, {percent(ratio - 1)} above the mean"
        return f"all {threads.kind}s compute for about the same time; {above}"
    if ratio < 1.5 and useful[shortest] < mean / 2:
        start = f"{threads.name(shortest)} computes only {percent(useful[shortest] / mean)} of the mean"
        start += f", {who} computes {percent(ratio - 1)} longer than the mean"
    else:
        start = f"{threads.longest()} ({time(useful[longest])} against {time(mean)})"
    if not threads.single:
        return start
    rank = int(threads.rank[longest])
    start += _without_cpu(summary, rank)
    where = waiting_call(summary.profile, summary.useful, summary.present, rank)
    return f"{start}; the others wait for it in {where}" if where else start


def asleep_part(summary: Summary, rank: int) -> str:
    """Say how long a rank slept outside MPI. "": less than 1 - GOOD of its useful time, or not recorded."""
    useful, use = int(summary.useful.by_rank()[rank]), summary.cpus.use
    asleep = 0 if use is None else int(use.computing_asleep_ns[rank])
    return f" (asleep for {time(asleep)} of its {time(useful)})" if asleep > (1 - GOOD) * useful else ""


def _without_cpu(summary: Summary, rank: int) -> str:
    """Say how long a rank waited for a CPU outside MPI, or may have waited.

    "": less than 1 - GOOD of its useful time.
    """
    useful, use = int(summary.useful.by_rank()[rank]), summary.cpus.use
    waits = 0 if use is None else int(use.computing_waits_ns[rank])
    if use is None or waits <= (1 - GOOD) * useful:
        return asleep_part(summary, rank)
    if not use.tells_sleep:
        return f"; for {time(waits)} of its {time(useful)} it had no CPU: it waited for one, or slept"
    return f"; {time(waits)} of its {time(useful)} is waiting for a CPU{asleep_part(summary, rank)}"


def communication_efficiency(summary: Summary) -> str:
    """Say what the rank or thread that computes longest does when it does not compute."""
    threads, efficiency = ThreadNames(summary), summary.efficiency
    longest = int(threads.time_ns.argmax())
    inside = summary.profile.inside_ns[int(threads.rank[longest])]
    mpi = int(inside.sum())
    who = f"{threads.name(longest)}, which computes longest," if len(threads.time_ns) > 1 else "the rank"
    if mpi == 0:
        return f"{who} spends no time in MPI"
    share = percent(mpi / efficiency.runtime_ns) if efficiency.runtime_ns else ""
    where, there = summary.profile.procedures[int(inside.argmax())], time(int(inside.max()))
    if not threads.single:
        for_ = f"{threads.name(longest)} computes longest, {time(int(threads.time_ns[longest]))}"
        return f"{for_}; all threads of its rank together spend {time(mpi)} in MPI, {there} of it in {where}"
    if (efficiency.communication_efficiency or 0) >= GOOD:
        return f"{who} spends only {share} of the run in MPI, most of it in {where}"
    rest = efficiency.runtime_ns - int(threads.time_ns[longest]) - mpi
    elsewhere = f", and {time(rest)} neither in MPI nor computing" if rest > mpi else ""
    return f"{who} spends {time(mpi)} ({share}) in MPI, {there} of it in {where}{elsewhere}"


def bursts(summary: Summary) -> str:
    """Say how long the program computes between MPI calls: the number of bursts, their mean, and percentiles."""
    bursts = summary.bursts
    text = f"{plural(bursts.count, 'burst')} of computation, {time(bursts.mean_ns)} on average"
    if bursts.count < 2:
        return text
    low, middle, high = (time(bursts.percentiles_ns[p]) for p in (5, 50, 95))
    longest = f"the longest takes {time(bursts.longest_ns)}"
    return f"{text}; half of them are shorter than {middle}, 90 % take {low} to {high}, {longest}"


def tracer(summary: Summary) -> str:
    """Say what the tracer's own time consists of. "": it is at most MUCH_TRACING of the run, or not in the trace."""
    present, lost = summary.present, summary.flushes
    whole, own = summary.whole_ns, int(summary.tracer_ns[present].sum())
    if not summary.trace.origin.tracer_times or own <= whole * MUCH_TRACING:
        return ""
    clocks, paths = int(lost.clocks_ns[present].sum()), int(lost.paths_ns[present].sum())
    parts = {
        "after calls": int(summary.useful.tracer_by_rank()[present].sum()),
        "writing its buffers": int(lost.writing_ns[present].sum()),
        "measuring clocks": clocks,
        "finding the callers of calls": paths,
    }
    text = ", ".join(f"{time(ns)} {what}" for what, ns in parts.items() if ns)
    return (
        f"the tracer itself took {percent(own / whole)} of the run, which does not count as the program's time: {text}"
    )


def flushes(summary: Summary) -> str:
    """Say how long flushing took, and which buffer size would have avoided it."""
    count, lost = summary.flushes.count, summary.flushes.writing_ns
    worst = int(lost.argmax())
    runtime = summary.trace.duration_ns
    share = percent(int(lost[worst]) / runtime) if runtime else "0 %"
    written = f"The buffer was written to the file {plural(int(count.sum()), 'time')}"
    most = f"at most {time(int(lost[worst]))} ({share} of the run) on rank {worst}"
    text = f"{written}. That took {time(int(lost.sum()))}, {most}."
    if not summary.trace.origin.tracer_times:
        return f"{text} {_flushed_as(summary)}"
    if not summary.flushes.during.any():
        ended = "a thread ended or " if summary.threads > len(summary.present) else ""
        return f"{text} All of it was at the end, when {ended}the trace was closed."
    buffer = sufficient_buffer_bytes(summary)
    larger = f" TRACELIB_BUFFER={buffer >> 20}M would hold all records until the end of the run."
    return f"{text}{larger if buffer else ''}"


def _flushed_as(summary: Summary) -> str:
    """Say what flushes of an imported trace count as. The states of the trace decide this."""
    lost, computing = int((summary.flushes.time_ns - summary.flushes.clocks_ns).sum()), summary.flushes.computing_ns
    replayed = "a replay takes it as computing, as prv2dim does"
    if computing >= lost:
        return "This time counts as computing, because the trace says so."
    if not computing:
        return f"It is not computing, because the trace has other states then; {replayed}."
    part = f"{time(computing)} of it counts as computing, because the trace says so"
    return f"{part}; the rest is in other states, and {replayed}."


def left_out(summary: Summary) -> list[str]:
    """List what was not recorded because of settings or limits, one line each."""
    missed, whole = summary.unrecorded, summary.whole_ns
    lines = []
    if missed.time_ns.any():
        lines.append(f"recording was off for {percent(int(missed.time_ns.sum()) / whole)} of the time")
    if missed.calls:
        lines.append(f"{plural(missed.calls, 'call was', 'calls were')} left out because of TRACELIB_LIMIT")
    if missed.partners:
        have = plural(missed.partners, "send or receive was", "sends and receives were")
        lines.append(f"{have} recorded on one side only: recording was off on the other side")
    if missed.summed:
        calls = plural(missed.summed, "call was", "calls were")
        lines.append(f"{calls} recorded as sums only, not one by one (TRACELIB_CALLS, TRACELIB_BURSTS)")
    callers = summary.callers.rows
    if fewer := int(callers["count"][shortened(summary.places.paths)[callers["path"]]].sum()):
        lines.append(f"{plural(fewer, 'call')} {FEWER_CALLERS}")
    return lines + [said for said in (summary.trace.extra(Losses).left_out, one_sided(summary.trace)) if said]


def _end(error: int) -> str:
    if error == CALL_WAS_LEFT:
        return f"was {error_name(error)}: how long it took is not known"
    return f"returned {error_name(error)}"


def failed(summary: Summary, most: int = 8) -> list[str]:
    """List the failed calls, one line for each rank, call and error class, the most frequent first.

    If there are more than `most` lines, lines that differ only in numbers are joined.
    """
    rows = summary.failed
    lines = [f"rank {f.rank}: {f.count} x {f.procedure} {_end(f.class_)}" for f in rows]
    return few_lines(lines, most)


def messages_of(found: Sequence[Unmatched], most: int = 8) -> list[str]:
    """List the kinds of messages that lack their send or their receive, one line each, the most frequent first."""
    rows = sorted(found, key=lambda u: (-u.count, u.rank, u.call, u.peer, u.tag, u.side))
    return few_lines([f"{u.text}, {size(u.bytes)}" for u in rows], most)


def problems(summary: Summary, most: int = 8) -> list[str]:
    """List the problems that the reader of the trace found, one line each."""
    found = summary.trace.problems[len(summary.trace.extra(Losses).ending) :]
    lines = few_lines([problem.line for problem in found], most, "; `analyze check` says more")
    if summary.messages.backwards:
        late = plural(summary.messages.backwards, "message arrived before it was", "messages arrived before they were")
        lines.insert(0, f"{late} sent: the clocks disagree")
    return lines


def chosen_calls(summary: Summary) -> str:
    """Say how many of the calls are shown, for a report that is restricted to some places."""
    some, every = (int(of.count.sum()) for of in (summary.shown, summary.profile))
    return f"only {count(some)} of {count(every)} calls, through places that match {summary.place}"
