"""How the clocks of a run's nodes were synchronized, in words and for JSON."""

from __future__ import annotations

from typing import Any

from analyzer.report.words.units import plural, time
from analyzer.trace import Clocks, NodeClock, Trace

MOST_CLOCKS = 8


def clock_lines(trace: Trace) -> list[str]:
    """Describe each clock other than rank 0's, one line each, and the times that --repair-clocks moved.

    Empty: all ranks have rank 0's clock, and no repair was asked for.
    """
    clocks = trace.extra(Clocks)
    lines = [_line(trace, clock) for clock in clocks.known[:MOST_CLOCKS]]
    if len(clocks.known) > MOST_CLOCKS:
        lines.append(f"and {len(clocks.known) - MOST_CLOCKS} more clocks")
    if (repair := clocks.repair) is not None:
        ranks, furthest = plural(repair.ranks, "rank"), time(repair.furthest_ns)
        moved = f"times of {ranks} were moved so that causes come before their effects, by {furthest} at most"
        lines.append(moved if repair.ranks else "no time had to be moved: all causes come before their effects")
    return lines


def _line(trace: Trace, clock: NodeClock) -> str:
    first = clock.ranks[0]
    ranks = f"rank {first}" if len(clock.ranks) == 1 else f"{len(clock.ranks)} ranks from rank {first} on"
    text = f"{trace.nodes.names[trace.nodes.of_rank[first]]} ({ranks}): clock {_ahead(clock.ahead_ns)} that of rank 0"
    if not clock.readings:
        return f"{text}, compared by wall clock only"
    if clock.drift_ppm is not None:
        text += f", drift {clock.drift_ppm:+.2f} ppm"
    if clock.accuracy_ns is not None:
        text += f", error about {time(clock.accuracy_ns)}"
    if clock.bound_ns is not None:
        text += f", at most {time(clock.bound_ns)}"
    return f"{text} ({plural(clock.readings, 'reading')})"


def _ahead(ns: int) -> str:
    return f"{time(abs(ns))} {'ahead of' if ns >= 0 else 'behind'}"


def clocks_json(trace: Trace) -> list[dict[str, Any]]:
    """Return the clocks other than rank 0's for JSON. Times are in s, drift in parts per million; None: unknown."""
    return [
        {
            "node": trace.nodes.names[trace.nodes.of_rank[clock.ranks[0]]],
            "ranks": list(clock.ranks),
            "ahead_s": clock.ahead_ns / 1e9,
            "drift_ppm": clock.drift_ppm,
            "accuracy_s": None if clock.accuracy_ns is None else clock.accuracy_ns / 1e9,
            "bound_s": None if clock.bound_ns is None else clock.bound_ns / 1e9,
            "readings": clock.readings,
        }
        for clock in trace.extra(Clocks).known
    ]


def repair_json(trace: Trace) -> dict[str, Any] | None:
    """Return the result of --repair-clocks for JSON. None: no repair was asked for."""
    repair = trace.extra(Clocks).repair
    return None if repair is None else {"ranks": repair.ranks, "furthest_s": repair.furthest_ns / 1e9}
