"""The findings of a run in one sentence each."""

from __future__ import annotations

import re
import shlex
from typing import Any

import numpy as np

from analyzer.findings import FACTORS, LEAST, Certainty, Evidence, Finding, FindingKind, find_findings, largest_findings
from analyzer.metrics.messages import SIZE_CLASSES
from analyzer.report.imbalance import in_words
from analyzer.report.look.sentences import ThreadNames, asleep_part, sufficient_buffer_bytes
from analyzer.report.look.summary import Summary
from analyzer.report.words.cpus import crowds, crowds_of_threads
from analyzer.report.words.units import count, percent, plural, size, time
from analyzer.trace import Chosen, Losses, ranks_named
from analyzer.trace.chosen import unreadable
from tracelib.schema.procedures import FINALIZE, INIT, is_of_files

_SMALL_CLASS = 11
"""Size class below which messages are small: it begins at 1 KiB."""
_MOSTLY_SMALL = 0.5
_ALSO_ASLEEP = 0.5
"""Share of the longest sleep from which on other ranks count as sleeping, too."""
_MOST_CALLS = 4
"""Largest number of calls that are named for a hang."""
_SURE = {
    Certainty.MEASURED: "measured",
    Certainty.BOUND: "a bound: it may also have slept",
    Certainty.REPLAYED: "by a replay on an ideal network",
    Certainty.ESTIMATED: "an estimate, because CPU times were not recorded",
    Certainty.UNKNOWN: "or more",
}
_COMMANDS = {
    FindingKind.SERIALIZATION: "critical-path",
    FindingKind.TRANSFER: "limits",
    FindingKind.COMMUNICATION: "waits",
    FindingKind.NEITHER: "profile",
    FindingKind.NOT_THERE: "check",
    FindingKind.STARTING: "structure",
    FindingKind.MOVING: "structure",
    FindingKind.SLOW: "structure",
    FindingKind.DRIFT: "structure",
    FindingKind.PIPELINE: "critical-path",
    FindingKind.CPUS: "efficiency",
    FindingKind.THREADS: "hot",
    FindingKind.ASLEEP: "efficiency",
    FindingKind.HANG: "check",
}
_SENTENCE_END = re.compile(r"\. (?=[A-Z])")
OVERLAP = "Costs overlap: do not add them."
NOTHING = f"Nothing was found that costs {percent(LEAST)} of the run."


def findings(summary: Summary) -> list[Finding]:
    """Return all findings of the first look, the most expensive first."""
    return find_findings(evidence(summary))


def evidence(summary: Summary) -> Evidence:
    """Collect the numbers from which findings are made."""
    threads = ThreadNames(summary)
    return Evidence(
        efficiency=summary.efficiency,
        useful=summary.useful,
        computed_ns=threads.time_ns,
        computed_by=threads.rank,
        profile=summary.profile,
        waits=summary.waits,
        regions=summary.regions,
        cpus=summary.cpus,
        others_ns=summary.others_ns,
        even=summary.even,
        threads=np.asarray(summary.trace.threads, np.int64),
        present=summary.present,
        after_ns=summary.trace.extra(Losses).after_ns,
        unfinished=summary.trace.extra(Losses).unfinished,
        tracer_ns=summary.tracer_ns if summary.trace.origin.tracer_times else np.zeros(summary.trace.size, np.int64),
    )


def findings_lines(summary: Summary) -> list[str]:
    """Return the largest findings as sentences, the most expensive first."""
    told = largest_findings(findings(summary))
    if not told and summary.efficiency.parallel_efficiency is not None:
        return [NOTHING]
    return [sentence(one, summary) for one in told]


def overlap_note(summary: Summary) -> str:
    """Say that costs of findings may overlap, and that missing ranks are not covered.

    Only the factors of the efficiency (FACTORS) do not overlap.
    """
    told = largest_findings(findings(summary))
    overlap = OVERLAP if len(told) > 1 and any(one.kind not in FACTORS for one in told) else ""
    missing = len(unreadable(summary.trace.extra(Losses).missing, summary.trace.extra(Chosen).ranks))
    without = f"Costs are without {plural(missing, 'rank that is', 'ranks that are')} missing." if missing else ""
    return " ".join(note for note in (overlap, without if told else "") if note)


def sentence(one: Finding, summary: Summary) -> str:
    """Describe a finding with its cost, and the command to type next.

    For example "Rank 1 computes 50.0 % longer than the mean, the others wait for it in MPI_Allreduce: up to 2.12 s
    (31.9 % of the run), measured; next: analyze waits run.h5".
    """
    text = what(one, summary)
    cost = f"up to {time(one.cost_ns)} ({percent(one.share)} of the run), {_SURE[one.sure]}"
    if one.sure is Certainty.UNKNOWN:
        cost = "nothing tells how long, but with tracelib run --sample 10ms it is recorded"
    return f"{text[0].upper()}{text[1:]}: {cost}; next: {command(one, summary)}"


def command(one: Finding, summary: Summary) -> str:
    """Return the command line that a user should type next."""
    if one.kind is FindingKind.TRACER:
        buffer = sufficient_buffer_bytes(summary) if summary.flushes.during.any() else 0
        paths, writing = (int(of[one.rank]) for of in (summary.flushes.paths_ns, summary.flushes.writing_ns))
        if paths > writing:
            setting = "TRACELIB_STACK=1"
        else:
            setting = f"TRACELIB_BUFFER={buffer >> 20}M" if buffer else "TRACELIB_STACK=0"
        return f"{setting} tracelib run -- mpirun -n {summary.trace.size} {summary.trace.origin.command or 'PROGRAM'}"
    name = _of_imbalance(one, summary) if one.kind is FindingKind.IMBALANCE else _COMMANDS[one.kind]
    return f"analyze {name} {shlex.quote(str(summary.trace.path))}"


def _of_imbalance(one: Finding, summary: Summary) -> str:
    """Return the subcommand that explains an imbalance. `waits` has no waiting in MPI_Init and MPI_Finalize."""
    if len(summary.hot.rows):
        return "hot"
    return "critical-path" if one.call in INIT or one.call in FINALIZE else "waits"


def what(one: Finding, summary: Summary) -> str:
    """Describe a finding by kind, rank and place, without its cost."""
    if one.kind is FindingKind.IMBALANCE:
        return _imbalance(one, summary)
    if one.kind is FindingKind.SERIALIZATION:
        return _serialization(one, summary)
    if one.kind in (FindingKind.TRANSFER, FindingKind.COMMUNICATION):
        return _transfer(one, summary)
    if one.kind is FindingKind.NEITHER:
        return f"rank {one.rank}, which computes longest, does not compute all the time; there are no MPI calls"
    if one.kind is FindingKind.NOT_THERE:
        last = time(summary.trace.duration_ns - summary.trace.extra(Losses).after_ns)
        return f"the trace ends before the run, and what happened after {last} is not in it"
    if one.kind is FindingKind.STARTING:
        return "every rank spends time in MPI_Init and MPI_Finalize; a longer run spends no more there"
    if one.kind is FindingKind.CPUS:
        return _cpus(one, summary)
    if one.kind is FindingKind.THREADS:
        return crowds_of_threads(summary.cpus.crowds)
    if one.kind is FindingKind.ASLEEP:
        return _asleep(one, summary)
    if one.kind is FindingKind.HANG:
        return _hang(summary)
    if one.kind is FindingKind.TRACER:
        paths = int(summary.flushes.paths_ns[one.rank])
        flushed = int(summary.flushes.time_ns[one.rank]) - paths
        parts = [
            f"{time(flushed)} of it for writing and clocks" if flushed else "",
            f"{time(paths)} for finding the callers of calls" if paths else "",
        ]
        return ", ".join([f"the tracer itself held rank {one.rank}", *filter(None, parts)])
    return _iterations(one, summary)


def _cpus(one: Finding, summary: Summary) -> str:
    """Say which ranks share CPUs. If no ranks do, other programs use the CPUs."""
    if summary.cpus.sharing:
        which = f", and rank {one.rank}, which computes longest, waits for one" if one.rank >= 0 else ""
        return f"{crowds(summary.cpus.sharing)}{which}"
    others = "" if summary.cpus.crowds else ": other programs run on its CPUs"
    return f"rank {one.rank}, which computes longest, waits for a CPU{others}"


def _asleep(one: Finding, summary: Summary) -> str:
    """Say which ranks sleep outside MPI, and between which calls."""
    use = summary.cpus.use
    assert use is not None, "sleep is known from the use of CPUs"
    asleep = use.computing_asleep_ns[summary.present]
    several = int((asleep >= _ALSO_ASLEEP * asleep.max(initial=0)).sum())
    who = f"rank {one.rank} sleeps" if several < 2 else f"{several} of {plural(len(asleep), 'rank')} sleep"
    place = f", most {summary.asleep[0].text}" if summary.asleep else ""
    longest = "" if several < 2 else f"; rank {one.rank} longest"
    return f"{who} outside MPI (files, children, timers, locks){place}{longest}"


def _hang(summary: Summary) -> str:
    """Say which ranks did not come back from which calls.

    For example "ranks 0-3 did not come back from MPI_Recv before the end".
    """
    ranks: dict[str, list[int]] = {}
    for call in summary.trace.extra(Losses).unfinished:
        if call.thread == 0:
            ranks.setdefault(call.procedure, []).append(call.rank)
    every = ranks_named(sorted(rank for some in ranks.values() for rank in some))
    if len(ranks) == 1:
        return f"{every} did not come back from {next(iter(ranks))} before the end"
    each = ", ".join(f"{ranks_named(some)} from {name}" for name, some in list(ranks.items())[:_MOST_CALLS])
    more = ", ..." if len(ranks) > _MOST_CALLS else ""
    return f"{every} did not come back from MPI before the end ({each}{more})"


def _imbalance(one: Finding, summary: Summary) -> str:
    where = f" in region {one.region}" if one.region else ""
    waiting = f", the others wait for it in {one.call}" if one.call else ""
    return f"{ThreadNames(summary).longest()}{where}{asleep_part(summary, one.rank)}{waiting}"


def _serialization(one: Finding, summary: Summary) -> str:
    """Describe serialization and the call in which ranks wait. Calls on files take their time in the replay, too."""
    whom = f"each other, and in {one.call} for files," if one.call else "each other"
    waits = time(int(summary.waits.time_ns[one.rank].sum()))
    return f"ranks wait for {whom} even where messages take no time; rank {one.rank} waits most, {waits} in all"


def _transfer(one: Finding, summary: Summary) -> str:
    call = f", on rank {one.rank} most of it in {one.call}" if one.call else ""
    messages = summary.messages
    small = int(messages.size_count[: min(_SMALL_CLASS, SIZE_CLASSES)].sum())
    few = ""
    if messages.count and small >= _MOSTLY_SMALL * messages.count:
        share = f"{percent(small / messages.count)} of {count(messages.count)} messages are"
        few = f"; {share if messages.count > 1 else 'the one message is'} smaller than {size(1024)}"
    if one.kind is FindingKind.TRANSFER:
        what_takes = "files, messages" if is_of_files(one.call) else "messages"
        return f"{what_takes} and calls themselves take time{call}{few}"
    return f"rank {one.rank}, which computes longest, does not compute all the time{call}{few}"


def _iterations(one: Finding, summary: Summary) -> str:
    even = summary.even
    assert even is not None, "findings about iterations come from their evenness"
    if one.kind is FindingKind.PIPELINE:
        text = in_words(even.pipelines[one.number], even.place[one.number])
    else:
        uneven = even.uneven
        found = {FindingKind.MOVING: uneven.moving, FindingKind.DRIFT: uneven.drift}.get(one.kind) or uneven.slow[
            one.number
        ]
        text = in_words(found)
    first, *further = _SENTENCE_END.split(text.rstrip("."))
    return "; ".join((first, *(f"{part[0].lower()}{part[1:]}" for part in further)))


def findings_json(summary: Summary) -> list[dict[str, Any]]:
    """Return all findings for JSON. Times are in s, shares are fractions."""
    every = findings(summary)
    shown = largest_findings(every)
    return [
        {
            "kind": one.kind.value,
            "cost_s": one.cost_ns / 1e9,
            "share": one.share,
            "sure": one.sure.value,
            "rank": one.rank if one.rank >= 0 else None,
            "call": one.call or None,
            "region": one.region or None,
            "shown": one in shown,
            "text": sentence(one, summary),
            "next": command(one, summary),
        }
        for one in every
    ]
