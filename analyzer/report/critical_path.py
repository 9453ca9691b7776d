"""The critical path of a run, as text and for JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from rich.text import Text

from analyzer.critical.activities import (
    CALL,
    COMPUTATION,
    CPU_WAIT,
    LAUNCH,
    THREADS,
    TRACER,
    UNRECORDED,
    ThreadActivity,
)
from analyzer.critical.by_place import PlaceShare
from analyzer.critical.path import CriticalPath
from analyzer.critical.residences import Residence
from analyzer.critical.shares import PathShares, Slack
from analyzer.efficiency.cpu_use import NOT_KNOWN, CpuSharing
from analyzer.metrics.clusters import RankMeasure
from analyzer.places.phrases import place_json, stretch_json
from analyzer.report.words import units
from analyzer.report.words.cpus import cpus_json, waiting_for_cpus
from analyzer.report.words.groups import FEW, AlikeRanks, alike_ranks, print_alike
from analyzer.report.words.place_notes import print_place_notes
from analyzer.report.words.replays import NOT_ALL_KNOWN
from analyzer.report.words.table import plain_table
from analyzer.trace import CallPaths, Chosen, Losses, Regions, Trace

_OTHERS = {
    LAUNCH: "Before the process began",
    TRACER: "Tracer",
    UNRECORDED: "Not recorded",
    THREADS: "Waiting for threads",
    CPU_WAIT: "Waiting for a CPU",
}
MOST_FUNCTIONS = 15
MOST_PLACES = 10
_OF_MANY = 8
"""Number of ranks in a table if there are too many to list all."""


@dataclass(frozen=True)
class CriticalPathReport:
    """Everything that is shown of a run's critical path.

    Attributes:
        lacking: Parts of the run that the trace lacks, in one line.
        places: The path by place.
        place: Pattern to which `places` is restricted; "": all places.
    """

    file: str
    trace: Trace
    path: CriticalPath
    shares: PathShares
    stays: list[Residence]
    lacking: str = ""  # parts of the run that the trace lacks, in one line
    cpus: CpuSharing = NOT_KNOWN
    places: Sequence[PlaceShare] = ()
    place: str = ""  # pattern to which `places` is restricted; "": all


def print_critical_path(found: CriticalPathReport, console: Console) -> None:
    """Print what the path consists of, its ranks, which ranks have slack, and the longest stays on one rank."""
    run, path = found.trace, found.path
    console.print(
        f"{Path(found.file).name}: {units.plural(run.size, 'rank')}, {units.time(path.length_ns)}; "
        f"the critical path changes from one rank to another {units.plural(path.hops, 'time')}",
        markup=False,
    )
    if found.place:
        _print_at(found, console)
        return
    _print_tables(console, _functions(found), _places(found), _ranks(found))
    print_alike(ranks_alike(found), console, indent=0)
    _print_tables(console, _regions(found), _stays(found))
    console.print()
    console.print(Text(" ".join(_words(found))))
    _print_notes(found, console)


def _print_at(found: CriticalPathReport, console: Console) -> None:
    """Print the part of the critical path at the chosen places."""
    if (table := _places(found)) is None:
        console.print(f"\nNothing at {found.place} is on the critical path.", markup=False)
        return
    _print_tables(console, table)
    ns = sum(share.ns for share in found.places)
    said = f"Calls at {found.place}, and the computing around them, are {_share(ns, found)} of the critical path."
    console.print()
    console.print(Text(said))
    _print_notes(found, console)


def _print_notes(found: CriticalPathReport, console: Console) -> None:
    if found.places:
        paths = np.array([share.path for share in found.places], np.int64)
        print_place_notes(found.trace.extra(CallPaths).named().notes(paths), console, 0)


def _print_tables(console: Console, *tables: Table | None) -> None:
    for table in tables:
        if table is not None:
            console.print()
            console.print(table)


def label(function: ThreadActivity, regions: bool) -> str:
    """Return the name of an activity in tables, such as "Computing in solve" or "MPI_Waitall"."""
    if function.kind == COMPUTATION:
        outside = "Computing outside regions" if regions else "Computing"
        return f"Computing in {function.name}" if function.name else outside
    if function.kind == CALL:
        return function.name
    return _OTHERS[function.kind]


def _functions(found: CriticalPathReport) -> Table:
    table = plain_table("On the path", "share", "time", "mean of ranks", "imbalance")
    rows = found.shares.functions
    for share in rows[:MOST_FUNCTIONS]:
        name, imbalance = label(share.function, bool(found.trace.extra(Regions).names)), share.imbalance_ns
        times = (units.time(share.path_ns), units.time(share.mean_ns), units.time(imbalance) if imbalance else "-")
        table.add_row(Text(name), _share(share.path_ns, found), *times)
    if rest := sum(share.path_ns for share in rows[MOST_FUNCTIONS:]):
        table.add_row("...", _share(rest, found), units.time(rest), "", "")
    return table


def _places(found: CriticalPathReport) -> Table | None:
    """Make a table of the calls, and the computing between calls, with the longest times on the path. None: unknown."""
    if not found.places:
        return None
    table = plain_table("On the path, by place", "share", "time")
    for share in found.places[:MOST_PLACES]:
        text = share.text[0].upper() + share.text[1:]
        table.add_row(Text(text), _share(share.ns, found), units.time(share.ns))
    if rest := sum(share.ns for share in found.places[MOST_PLACES:]):
        table.add_row(f"{len(found.places) - MOST_PLACES} more", _share(rest, found), units.time(rest))
    return table


def _share(ns: int, found: CriticalPathReport) -> str:
    return units.percent(ns / found.path.length_ns) if found.path.length_ns else ""


def _ranks(found: CriticalPathReport) -> Table:
    """Make a table of all ranks. Of many ranks, it has those with the longest times on the path."""
    times = found.shares.rank_path_ns
    order = np.argsort(-times, kind="stable")[:_OF_MANY]
    ranks = _ranks_shown(found)
    few = len(ranks) <= FEW
    title = "Rank" if few else f"Rank (of {found.trace.size})"
    table = plain_table(title, "on path", "share", "computing", "no slack", "least slack", "mean slack")
    for rank in ranks if few else order.tolist():
        slack = _slack_cells(found.shares.rank_slack[rank])
        table.add_row(str(rank), units.time(int(times[rank])), _share(int(times[rank]), found), *slack)
    return table


def ranks_alike(found: CriticalPathReport) -> AlikeRanks | None:
    """Group the ranks by their time on the path and by slack. None: there are few ranks."""
    missing = set(found.trace.extra(Losses).missing)
    present = [rank for rank in range(found.trace.size) if rank not in missing]
    slack = [found.shares.rank_slack[rank] for rank in present]
    return alike_ranks(
        np.array(present, np.int64),
        RankMeasure("on path", found.shares.rank_path_ns[present]),
        RankMeasure("computing", np.array([s.computing_ns if s else 0 for s in slack], np.int64)),
        RankMeasure("least slack", np.array([s.least_ns if s else 0 for s in slack], np.int64)),
    )


def _ranks_shown(found: CriticalPathReport) -> Sequence[int]:
    chosen = found.trace.extra(Chosen).ranks
    return range(found.trace.size) if chosen is None else chosen


def _slack_cells(slack: Slack | None) -> Iterator[str]:
    if slack is None:
        return iter(("0 s", "", "", ""))
    none = units.percent(slack.none_ns / slack.computing_ns)
    return iter((units.time(slack.computing_ns), none, units.time(slack.least_ns), units.time(slack.mean_ns)))


def _regions(found: CriticalPathReport) -> Table | None:
    """Make a table of slack by region. None: the program has no regions."""
    if not found.trace.extra(Regions).names:
        return None
    table = plain_table("Region", "computing", "no slack", "least slack", "mean slack")
    rows = sorted(found.shares.function_slack.items(), key=lambda row: -row[1].computing_ns)
    for function, slack in rows[:MOST_FUNCTIONS]:
        table.add_row(Text(function.name or "(outside)"), *_slack_cells(slack))
    return table


def _stays(found: CriticalPathReport) -> Table | None:
    if not found.stays:
        return None
    threaded = any(stay.thread for stay in found.stays)
    table = plain_table("Longest stays: from", "to", "time", "rank", *(("thread",) if threaded else ()), "mostly")
    if any(stay.place for stay in found.stays):  # places are long, so they are wrapped
        table.columns[0].no_wrap, table.columns[-1].no_wrap, table.columns[-1].justify = True, False, "left"
    for stay in found.stays:
        share = units.percent(stay.mostly_ns / (stay.end_ns - stay.begin_ns))
        cells = [f"{stay.begin_ns / 1e9:.6f} s", f"{stay.end_ns / 1e9:.6f} s"]
        cells += [units.time(stay.end_ns - stay.begin_ns), str(stay.rank), *([str(stay.thread)] if threaded else [])]
        mostly = f"{label(stay.mostly, bool(found.trace.extra(Regions).names))} {share} {stay.place}"
        table.add_row(*cells, Text(mostly.rstrip()))
    return table


def _words(found: CriticalPathReport) -> Iterator[str]:
    """Yield sentences on what the path consists of, and what follows from it."""
    path, shares, length = found.path, found.shares, max(found.path.length_ns, 1)
    computing = sum(s.path_ns for s in shares.functions if s.function.kind == COMPUTATION)
    yield f"{units.percent(computing / length)} of the path is computation,"
    calls = [s for s in shares.functions if s.function.kind == CALL]
    of_calls = sum(s.path_ns for s in calls)
    worst = f", most of it in {calls[0].function.name}" if calls else ""
    yield f"{units.percent(of_calls / length)} is MPI{worst}. Waiting for a later rank is not on the path."
    rank = int(np.argmax(shares.rank_path_ns))
    fair = 1 / max(found.trace.size - len(found.trace.extra(Losses).missing), 1)
    share = shares.rank_path_ns[rank] / length
    if found.trace.size > 1:
        even = units.percent(fair)
        yield f"The path is longest on rank {rank}: {units.percent(share)} of it (an even share is {even})."
    if shares.imbalance_ns > 0.005 * length:
        yield (
            f"If the computation on the path were spread evenly over the ranks, the run would be "
            f"{units.time(shares.imbalance_ns)} shorter."
        )
    yield from _who_has_slack(found)
    yield from waiting_for_cpus(found.cpus)
    if found.lacking:
        yield NOT_ALL_KNOWN.format(found.lacking)
    if path.contradictions:
        yield (
            f"The clocks contradict {units.plural(path.contradictions, 'dependence')}, which "
            f"{'was' if path.contradictions == 1 else 'were'} left out: try --repair-clocks 0."
        )


def _who_has_slack(found: CriticalPathReport) -> Iterator[str]:
    known = [(slack.least_ns, rank) for rank, slack in enumerate(found.shares.rank_slack) if slack]
    if not known or found.trace.size < 2:
        return
    least, rank = max(known)
    if least:
        yield f"Any single burst of rank {rank} could be {units.time(least)} longer, and the run would not be longer."
    else:
        yield "Each rank has a burst without slack: if this burst were longer, the run would be longer."


def critical_path_json(found: CriticalPathReport) -> dict[str, Any]:
    """Return the critical path for JSON. Times are in s."""
    path, shares = found.path, found.shares
    return cpus_json(found.cpus) | {
        "file": found.file,
        "ranks": found.trace.size,
        "length_s": path.length_ns / 1e9,
        "hops": path.hops,
        "eager_limit": path.eager_limit,
        "contradictions": path.contradictions,
        "lacking": found.lacking or None,
        "imbalance_s": shares.imbalance_ns / 1e9,
        "functions": [
            {
                **_function_json(share.function),
                "path_s": share.path_ns / 1e9,
                "mean_s": share.mean_ns / 1e9,
                "total_s": shares.total_ns.get(share.function, 0) / 1e9,
                "imbalance_s": share.imbalance_ns / 1e9,
            }
            for share in shares.functions
        ],
        "place": found.place or None,
        "places": [_place_json(share, found.trace) for share in found.places],
        "others": [
            {**_function_json(function), "total_s": ns / 1e9}
            for function, ns in shares.total_ns.items()
            if all(function != share.function for share in shares.functions)
        ],
        "by_rank": [
            {"rank": rank, "path_s": int(ns) / 1e9, "slack": _slack_json(slack)}
            for rank, ns, slack in (
                (rank, shares.rank_path_ns[rank], shares.rank_slack[rank]) for rank in _ranks_shown(found)
            )
        ],
        "slack": [
            {**_function_json(function), **(_slack_json(slack) or {})}
            for function, slack in shares.function_slack.items()
        ],
        "stays": [
            {
                "begin_s": stay.begin_ns / 1e9,
                "end_s": stay.end_ns / 1e9,
                "rank": stay.rank,
                "thread": stay.thread,
                "mostly": _function_json(stay.mostly),
                "mostly_s": stay.mostly_ns / 1e9,
                "place": stay.place or None,
            }
            for stay in found.stays
        ],
    }


def _place_json(share: PlaceShare, trace: Trace) -> dict[str, Any]:
    of_call = place_json(trace.extra(CallPaths).named(), share.path)
    return {
        **(stretch_json(share.stretch) if share.stretch else of_call),
        "kind": COMPUTATION if share.stretch else CALL,
        "call": share.procedure or None,
        "name": share.text,
        "path_s": share.ns / 1e9,
    }


def _function_json(function: ThreadActivity) -> dict[str, str]:
    return {"kind": function.kind, "name": function.name}


def _slack_json(slack: Slack | None) -> dict[str, float] | None:
    if slack is None:
        return None
    return {
        "computing_s": slack.computing_ns / 1e9,
        "none_s": slack.none_ns / 1e9,
        "least_s": slack.least_ns / 1e9,
        "mean_s": slack.mean_ns / 1e9,
    }
