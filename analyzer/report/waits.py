"""Wait states and the delays that cause them: as tables, in sentences, and for JSON."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from analyzer.efficiency.cpu_use import NOT_KNOWN, CpuSharing, RankCpuUse
from analyzer.metrics.clusters import RankMeasure
from analyzer.places.phrases import call_at
from analyzer.places.place_table import BEFORE
from analyzer.report.words import units
from analyzer.report.words.cpus import cpus_json, waiting_for_cpus
from analyzer.report.words.groups import AlikeRanks, alike_ranks, print_alike
from analyzer.report.words.place_notes import print_place_notes
from analyzer.report.words.replays import NOT_ALL_KNOWN
from analyzer.waits.analysis import SingleWait, WaitCause, Waits
from analyzer.waits.kinds import LABELS, WaitKind

MOST_ROWS = 10
MOST_REASONS = 6
_NEARLY_ALL = 0.95
"""Share of a wait from which on its longest cause is named without a percentage."""
_NOT_LEFT = "in calls that ranks did not come back from"
NOTEWORTHY = 0.03
"""Share of the time of all threads from which on the first look mentions waiting."""


def print_waits(waits: Waits, console: Console, lacking: str = "", cpus: CpuSharing = NOT_KNOWN) -> None:
    """Print where the run waits, which ranks cause it, the longest waits, and what they mean.

    Args:
        waits: The wait states.
        console: The console to print on.
        lacking: Parts of the run that are not in the trace, in one line; "": none.
        cpus: CPUs that ranks share.
    """
    console.print(Text(_headline(waits), style="bold"))
    if waits.total_ns:
        _section(console, "Where ranks wait", _kinds_table(waits))
        print_alike(ranks_alike(waits), console)
        _section(console, "In which calls", _places_table(waits))
        if waits.reasons:
            _section(console, "Where, and what others did meanwhile", _reasons_table(waits))
        if waits.causes:
            _section(console, "Who makes them wait (delays, and the waiting that they cause)", _causes_table(waits))
        if waits.longest:
            _section(console, "The longest waits", _longest_table(waits.longest))
    console.print()
    unknown = [NOT_ALL_KNOWN.format(lacking)] if lacking else []
    console.print(Padding(Text(" ".join([*sentences(waits, cpus), *unknown])), (0, 0, 0, 0)))
    print_place_notes(waits.notes, console, 0)


def _headline(waits: Waits) -> str:
    threads = units.plural(waits.threads, "thread")
    whole = f"{threads} x {units.time(waits.runtime_ns)}"
    return f"{units.time(waits.total_ns)} of waiting for others, {units.percent(waits.share)} of {whole}"


def _kinds_table(waits: Waits) -> Table:
    table = _table("", ("share", "of MPI", "time", "waits", "mean", "most", "on rank"))
    whole, mpi = waits.runtime_ns * waits.threads, max(int(waits.mpi_ns.sum()), 1)
    for kind in sorted(WaitKind, key=lambda k: -int(waits.time_ns[:, k].sum())):
        of_rank = waits.time_ns[:, kind]
        total, count = int(of_rank.sum()), int(waits.count[:, kind].sum())
        if count:
            table.add_row(
                _capital(LABELS[kind]), units.percent(total / whole), units.percent(total / mpi), units.time(total),
                units.count(count), units.time(total / count), units.time(int(of_rank.max())), str(of_rank.argmax()),
            )  # fmt: skip
    return table


def ranks_alike(waits: Waits) -> AlikeRanks | None:
    """Group ranks by time in MPI, by waiting, and by its largest kind. None: there are few ranks."""
    present = np.arange(len(waits.mpi_ns)) if waits.present is None else waits.present
    times = waits.time_ns[present]
    kind = _largest(waits)
    kinds = [RankMeasure(LABELS[kind], times[:, kind])] if (np.count_nonzero(times.any(axis=0)) > 1) else []
    return alike_ranks(
        present, RankMeasure("in MPI", waits.mpi_ns[present]), RankMeasure("waiting", times.sum(axis=1)), *kinds
    )


def _places_table(waits: Waits) -> Table:
    at = any(place.place for place in waits.places)
    regions = not at or any(place.path for place in waits.places)
    texts = ("kind", *(("region",) if regions else ()), *(("place",) if at else ()))
    table = _table("call", ("share", "time", "waits", "indirect"), texts)
    for place in waits.places[:MOST_ROWS]:
        table.add_row(
            place.procedure.removeprefix("MPI_"), LABELS[place.kind], *((place.path or "-",) if regions else ()),
            *((Text(place.place or "-"),) if at else ()), units.percent(place.time_ns / waits.total_ns),
            units.time(place.time_ns), units.count(place.count), units.time(place.indirect_ns),
        )  # fmt: skip
    return _shortened(table, len(waits.places))


def _reasons_table(waits: Waits) -> Table:
    """Make a table of the calls in which ranks wait, with the activity of the rank that they wait for."""
    table = _table("wait", ("share", "time", "for rank"), ("for",))
    table.columns[0].overflow = "fold"
    for reason in waits.reasons[:MOST_REASONS]:
        wait = call_at(reason.procedure.removeprefix("MPI_"), reason.place)
        ranks = f"{reason.rank}, ..." if reason.ranks > 1 else str(reason.rank)
        share = units.percent(reason.time_ns / waits.total_ns)
        table.add_row(Text(wait), Text(reason.cause or "-"), share, units.time(reason.time_ns), ranks)
    if len(waits.reasons) > MOST_REASONS:
        rest = sum(reason.time_ns for reason in waits.reasons[MOST_REASONS:])
        table.add_row(
            f"... {len(waits.reasons) - MOST_REASONS} more", "", units.percent(rest / waits.total_ns), units.time(rest)
        )
    return table


def _causes_table(waits: Waits) -> Table:
    table = _table("rank", ("share", "directly", "indirectly"), ("doing", "region"))
    for cause in waits.causes[:MOST_ROWS]:
        share = units.percent(min(_cost(cause) / waits.total_ns, 1.0))
        costs = units.time(cause.direct_ns), units.time(cause.indirect_ns)
        table.add_row(str(cause.rank), cause.what.removeprefix("MPI_"), cause.path or "-", share, *costs)
    return _shortened(table, len(waits.causes))


def _longest_table(longest: Sequence[SingleWait]) -> Table:
    at = any(one.place for one in longest)
    where = ("call", "for") if at else ("kind", "call", "region")
    table = _table("at", ("time", "rank", "for rank", *(() if at else ("causes",))), where)
    for one in longest:
        call = one.procedure.removeprefix("MPI_")
        line, meanwhile = one.lines
        if meanwhile and one.cause_ns < _NEARLY_ALL * one.time_ns:
            meanwhile += f" ({units.percent(one.cause_ns / one.time_ns)})"
        texts = (f"{call} {line}".rstrip(), meanwhile or "-") if at else (LABELS[one.kind], call, one.path or "-")
        table.add_row(
            f"{one.begin_ns / 1e9:.6f} s", *map(Text, texts), units.time(one.time_ns),
            _thread(one.rank, one.thread), _thread(one.cause_rank, one.cause_thread),
            *(() if at else (units.time(one.caused_ns),)),
        )  # fmt: skip
    return table


def longest_in_words(one: SingleWait) -> str:
    """Describe the longest wait in one sentence.

    For example "The longest wait: rank 3 waits 1.40 s in MPI_Recv at x.c:12 in f, called from main at x.c:40, for rank
    2, which computes at y.c:3-9 in g before MPI_Send."
    """
    place, *callers = one.place.split(BEFORE)
    function, _, line = (callers or [""])[0].rpartition(" ")
    called = f", called from {f'{function} at {line}' if function else line}" if callers else ""
    doing = one.cause.replace("computing", "computes", 1) if one.cause.startswith("computing") else f"is in {one.cause}"
    part = "" if one.cause_ns >= _NEARLY_ALL * one.time_ns else f" for {units.time(one.cause_ns)} of that"
    which = f", which {doing}{part}" if one.cause else ""
    rank, other = _thread(one.rank, one.thread), _thread(one.cause_rank, one.cause_thread)
    waits = f"rank {rank} waits {units.time(one.time_ns)} in {call_at(one.procedure, place)}{called}"
    return f"The longest wait: {waits}, for rank {other}{which}."


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]


def _thread(rank: int, thread: int) -> str:
    return f"{rank}.{thread}" if thread else str(rank)


def _table(first: str, numbers: Iterable[str], texts: Iterable[str] = ()) -> Table:
    table = Table(box=None, padding=(0, 1, 0, 0), pad_edge=False, header_style="dim")
    table.add_column(first)
    for name in texts:
        table.add_column(name, overflow="fold")
    for name in numbers:
        table.add_column(name, justify="right", no_wrap=True)
    return table


def _shortened(table: Table, rows: int) -> Table:
    if rows > MOST_ROWS:
        table.add_row(f"... {rows - MOST_ROWS} more")
    return table


def _section(console: Console, title: str, content: Table) -> None:
    console.print()
    console.print(Text(title, style="bold"))
    console.print(Padding(content, (0, 0, 0, 2)))


def _cost(cause: WaitCause) -> float:
    return cause.direct_ns + cause.indirect_ns


def line(waits: Waits) -> str:
    """Summarize waiting in one line for the first look. "": less than NOTEWORTHY of the time."""
    if waits.share < NOTEWORTHY:
        return ""
    kind = _largest(waits)
    part = int(waits.time_ns[:, kind].sum()) / waits.total_ns
    rank = int(waits.time_ns.sum(axis=1).argmax())
    return (
        f"{units.percent(waits.share)} of the time is waiting for others, {units.percent(part)} of it as "
        f"{LABELS[kind]}; rank {rank} waits most, {units.time(int(waits.time_ns[rank].sum()))}; "
        "analyze waits shows who causes it"
    )


def _largest(waits: Waits) -> WaitKind:
    return WaitKind(int(waits.time_ns.sum(axis=0).argmax()))


def sentences(waits: Waits, cpus: CpuSharing = NOT_KNOWN) -> list[str]:
    """Say what the wait states mean for this run, in sentences."""
    if not waits.total_ns:
        return [*_nothing(waits), *waiting_for_cpus(cpus), *_not_counted(waits)]
    kind = _largest(waits)
    of_kind = waits.time_ns[:, kind]
    rank = int(of_kind.argmax())
    if waits.place:
        longest = [longest_in_words(waits.longest[0])] if waits.longest else []
        return [f"Only waits in calls through places that match {waits.place} are shown.", *longest]
    found = [
        _in_mpi(waits, cpus),
        f"Most of the waiting for others is {LABELS[kind]} ({units.percent(int(of_kind.sum()) / waits.total_ns)}), "
        f"longest on rank {rank} ({units.time(int(of_kind[rank]))}).",
    ]
    if waits.longest and waits.longest[0].place:
        found.append(longest_in_words(waits.longest[0]))
    return [*found, *_overlap(waits), *_blame(waits), *waiting_for_cpus(cpus), *_not_counted(waits)]


def _in_mpi(waits: Waits, cpus: CpuSharing) -> str:
    """Say what the time in MPI consists of: waiting for ranks, MPI_Init, unfinished calls, and the rest.

    The rest is MPI itself and the network, if ranks had a CPU. Without a CPU they waited for one, or slept.
    """
    mpi = int(waits.mpi_ns.sum())
    rest = max(mpi - waits.total_ns - waits.starting_ns - waits.unfinished_ns, 0)
    parts = [f"{units.time(waits.total_ns)} ({units.percent(waits.total_ns / mpi)}) is waiting for other ranks"]
    if waits.starting_ns:
        parts.append(f"{units.time(waits.starting_ns)} is MPI_Init")
    if waits.unfinished_ns:
        parts.append(f"{units.time(waits.unfinished_ns)} is {_NOT_LEFT}")
    if not cpus.sharing:
        parts.append(f"{units.time(rest)} is MPI itself and the network")
    elif cpus.use is None:
        parts.append(f"{units.time(rest)} is waiting for a CPU, MPI itself and the network")
    else:
        parts.append(f"{units.time(rest)} is the rest")
    said = f"Of the {units.time(mpi)} in MPI, {', '.join(parts[:-1])}, and {parts[-1]}."
    return f"{said} {_rest(rest, cpus.use)}" if cpus.sharing and cpus.use else said


def _rest(rest: int, use: RankCpuUse) -> str:
    """Describe the rest of the time in MPI for ranks that share CPUs. Both of its parts are upper bounds."""
    had, waits = (min(rest, int(ns.sum())) for ns in (use.mpi_cpu_ns, use.mpi_waits_ns))
    had_one = f"In this rest MPI had a CPU for at most {units.time(had)}"
    return f"{had_one}; up to {units.time(waits)} of it is waiting for a CPU."


def _overlap(waits: Waits) -> list[str]:
    overlap = int(waits.overlap_ns.sum())
    if overlap < waits.total_ns / 100:
        return []
    return [
        f"Ranks polled (MPI_Test, MPI_Iprobe) for what others had not done yet, and computed for {units.time(overlap)} "
        "between these polls: that does not count as waiting."
    ]


def _blame(waits: Waits) -> list[str]:
    if not waits.causes:
        return []
    first = waits.causes[0]
    where = f" in region {first.path}" if first.path else ""
    further = f", and others, who wait for them, {units.time(first.indirect_ns)}" if first.indirect_ns >= 1 else ""
    found = [
        f"The most expensive delay: rank {first.rank} {_doing(first.what)}{where} longer than the ranks that wait for "
        f"it. It costs these ranks {units.time(first.direct_ns)}{further}.",
    ]
    by_rank = np.zeros(len(waits.mpi_ns))
    for cause in waits.causes:
        by_rank[cause.rank] += _cost(cause)
    worst = int(by_rank.argmax())
    if len(by_rank) > 2 and by_rank[worst] < 1.5 * by_rank.mean():
        found.append("No rank causes much more waiting than others: the delays move from rank to rank.")
    elif worst != first.rank:
        found.append(f"All delays together, rank {worst} costs others most: {units.time(by_rank[worst])}.")
    for what in ("the tracer", "not recorded"):
        cost = sum(_cost(cause) for cause in waits.causes if cause.what == what)
        if cost > waits.total_ns / 100:
            why = what if what == "the tracer" else "times that were not recorded"
            found.append(f"{units.time(cost)} of the waiting is due to {why}.")
    return found


def _doing(what: str) -> str:
    """Turn the content of a delay (`WaitCause.what`) into a verb phrase."""
    if what.startswith("MPI_"):
        return f"is in {what}"
    others = {"computing": "computes", "waiting for a CPU": "waits for a CPU", "not recorded": "is not recorded"}
    return others.get(what, "is held up by the tracer")


def _nothing(waits: Waits) -> list[str]:
    if waits.unfinished_ns:
        said = f"{units.time(waits.unfinished_ns)} is {_NOT_LEFT}: what these waited for is not known"
        return [f"No call that returned waited for another rank; {said}."]
    return ["No call waited for another rank." if waits.mpi_ns.any() else "No MPI calls."]


def _not_counted(waits: Waits) -> list[str]:
    lost = waits.uncounted
    if not lost.count:
        return []
    return [
        f"Not counted: {units.plural(lost.count, 'wait')}, {units.time(lost.time_ns)} in all, shorter than the error "
        f"of the clocks that measured them (up to {units.time(lost.error_ns)})."
    ]


def waiting_json(waits: Waits) -> dict[str, Any]:
    """Return the time of waiting for JSON, in all and by kind."""
    return {
        "waiting_s": waits.total_ns / 1e9,
        "share": waits.share,
        "kinds": {_key(kind): _kind_json(waits, kind) for kind in WaitKind},
    }


def waits_json(waits: Waits, cpus: CpuSharing = NOT_KNOWN) -> dict[str, Any]:
    """Return all wait states and delays for JSON. Times are in s."""
    return waiting_json(waits) | {
        "runtime_s": waits.runtime_ns / 1e9,
        "threads": waits.threads,
        "mpi_s": int(waits.mpi_ns.sum()) / 1e9,
        "starting_s": waits.starting_ns / 1e9,
        "unfinished_s": waits.unfinished_ns / 1e9,
        "barrier_completion_s": int(waits.barrier_completion_ns.sum()) / 1e9,
        "n_to_n_completion_s": int(waits.n_to_n_completion_ns.sum()) / 1e9,
        "early_reduce_first_sender_s": waits.first_sender_ns / 1e9,
        "ranks": [
            {"rank": rank, "waiting_s": int(times.sum()) / 1e9, "mpi_s": int(waits.mpi_ns[rank]) / 1e9,
             "overlap_s": int(waits.overlap_ns[rank].sum()) / 1e9}
            | {_key(kind): int(times[kind]) / 1e9 for kind in WaitKind}
            for rank, times in ((rank, waits.time_ns[rank]) for rank in waits.chosen or range(len(waits.time_ns)))
        ],
        "places": [
            {"kind": _key(p.kind), "region": p.path or None, "call": p.procedure, "count": p.count,
             "time_s": p.time_ns / 1e9, "overlap_s": p.overlap_ns / 1e9, "indirect_s": p.indirect_ns / 1e9,
             "place": p.place or None}
            for p in waits.places
        ],
        "place": waits.place or None,
        "reasons": [
            {"call": r.procedure, "place": r.place or None, "meanwhile": r.cause or None, "rank": r.rank,
             "ranks": r.ranks, "count": r.count, "time_s": r.time_ns / 1e9}
            for r in waits.reasons
        ],
        "causes": [
            {"rank": c.rank, "region": c.path or None, "what": c.what, "direct_s": c.direct_ns / 1e9,
             "indirect_s": c.indirect_ns / 1e9}
            for c in waits.causes
        ],
        "longest": [_single_json(one) for one in waits.longest],
        "uncounted": {"count": waits.uncounted.count, "time_s": waits.uncounted.time_ns / 1e9,
                      "clock_error_s": waits.uncounted.error_ns / 1e9},
        **cpus_json(cpus),
        "text": " ".join(sentences(waits, cpus)),
    }  # fmt: skip


def _key(kind: WaitKind) -> str:
    return kind.name.lower()


def _kind_json(waits: Waits, kind: WaitKind) -> dict[str, Any]:
    times = {"time_s": waits.time_ns, "overlap_s": waits.overlap_ns}
    seconds = {name: int(ns[:, kind].sum()) / 1e9 for name, ns in times.items()}
    return seconds | {"count": int(waits.count[:, kind].sum())}


def _single_json(one: SingleWait) -> dict[str, Any]:
    return {
        "kind": _key(one.kind),
        "rank": one.rank,
        "thread": one.thread,
        "cause_rank": one.cause_rank,
        "cause_thread": one.cause_thread,
        "begin_s": one.begin_ns / 1e9,
        "time_s": one.time_ns / 1e9,
        "call": one.procedure,
        "region": one.path or None,
        "caused_s": one.caused_ns / 1e9,
        "place": one.place or None,
        "meanwhile": one.cause or None,
        "meanwhile_s": one.cause_ns / 1e9,
    }
