"""Where the program computes: functions and lines by samples, as tables and for JSON."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from analyzer.columns.arrays import by_index
from analyzer.metrics.hot import NOTEWORTHY_IDLE, HotRows
from analyzer.places import Places
from analyzer.places.sites import NOT_KNOWN
from analyzer.report.words import units
from analyzer.report.words.place_notes import print_place_notes
from analyzer.report.words.table import plain_table

MOST_ROWS = 20
FEW_SAMPLES = 100
"""Number of samples in computing below which the report says that they are few."""
_MOSTLY_BUSY = 0.98
"""Share of computing with a CPU above which a sentence says "computing" and not "computing with a CPU"."""
AGAIN = "no samples, run again with TRACELIB_SAMPLE=10ms (tracelib run --sample 10ms)"


@dataclass(frozen=True)
class HotPlace:
    """Computing time in a function or in a line of the program."""

    name: str
    function: str
    file: str
    line: int  # 0: a whole function, or not known
    ns: float  # without what it calls
    inclusive_ns: float  # with all that it calls
    samples: int
    by_rank_ns: np.ndarray  # (sampled ranks,): without what it calls

    @property
    def imbalance(self) -> float:
        """Imbalance over the ranks: (most - mean) / most, from 0 to 1. 0: no time."""
        most = float(self.by_rank_ns.max(initial=0.0))
        return (most - float(self.by_rank_ns.mean())) / most if most else 0.0


def stacks(hot: HotRows, places: Places) -> dict[int, list[tuple[str, str]]]:
    """Return for each sampled path its frames: function and `file:line`, the innermost first."""
    return {path: _frames(places, path) or [("", "")] for path in np.unique(hot.rows["path"]).tolist()}


def _frames(places: Places, path: int) -> list[tuple[str, str]]:
    """Return the frames of a path by function, without offsets: all places of a function become one box."""
    named = zip(places.frames(path), places.named_frames(path), strict=True)
    return [(places.label(frame) if function else "", where) for frame, (function, where) in named]


def hot_functions(hot: HotRows, places: Places) -> list[HotPlace]:
    """Return the functions with their computing time, the longest first."""
    return _hot(hot, places, lambda place: (places.labelled(place), places.file(place), 0))


def hot_lines(hot: HotRows, places: Places) -> list[HotPlace]:
    """Return the lines of the program with their computing time, the longest first."""
    return _hot(hot, places, lambda place: (places.labelled(place), places.file(place), places.line(place) or -place))


Key = tuple[str, str, int]


def _hot(hot: HotRows, places: Places, key_of: Callable[[int], Key]) -> list[HotPlace]:
    numbers: dict[Key, int] = {}
    of_place = {
        p: numbers.setdefault(key_of(p), len(numbers)) for p in np.unique(places.place[hot.rows["path"]]).tolist()
    }
    if not numbers:
        return []
    rank = np.searchsorted(hot.ranks["rank"], hot.rows["rank"])
    number = np.array([of_place[p] for p in places.place[hot.rows["path"]].tolist()], np.int64)
    inclusive = _inclusive(hot, places)
    samples = by_index(number, hot.rows["count"], len(numbers))
    order = np.lexsort([rank, number])
    bounds = np.searchsorted(number[order], np.arange(len(numbers) + 1))
    example = {n: p for p, n in of_place.items()}
    found = []
    for key, n in numbers.items():
        mine = order[bounds[n] : bounds[n + 1]]
        by_rank = np.bincount(rank[mine], hot.rows["ns"][mine], len(hot.ranks))
        function, file, line = key
        name = places.text(example[n]) if line else function
        itself = float(by_rank.sum())
        whole = inclusive.get((function, places.location(example[n]) if line else ""), itself)
        found.append(HotPlace(name, function, file, max(line, 0), itself, whole, int(samples[n]), by_rank))
    return sorted(found, key=lambda f: (-f.ns, f.name))


def _inclusive(hot: HotRows, places: Places) -> dict[tuple[str, str], float]:
    """Return the time in ns of functions (location "") and lines with all that they call. Recursion counts once."""
    paths, index = np.unique(hot.rows["path"], return_inverse=True)
    ns = np.bincount(index, hot.rows["ns"], len(paths))
    sums: dict[tuple[str, str], float] = {}
    for path, spent in zip(paths.tolist(), ns.tolist(), strict=True):
        frames = _frames(places, path)
        for key in {key for function, where in frames for key in ((function, ""), (function, where))}:
            sums[key] = sums.get(key, 0.0) + spent
    return sums


def print_hot(
    hot: HotRows, places: Places, console: Console, *, lines: bool, by_signal: bool, whole_ns: float | None = None
) -> None:
    """Print the tables of functions and, with `lines`, of lines.

    Args:
        hot: The samples.
        places: Names of places.
        console: The console to print on.
        lines: Whether lines are listed too.
        by_signal: Whether samples were taken by a signal, not by the kernel.
        whole_ns: Time in ns to which shares refer. None: all computing with a CPU.
    """
    whole = whole_ns or hot.busy_ns
    console.print(Text(_headline(hot, by_signal), style="bold"))
    found = hot_functions(hot, places)
    if not found:
        console.print("\nNo sample lies in computation.")
        return
    _table(
        console,
        "Functions (in itself, with what it calls; rank with the most, and how far above the mean)",
        found,
        hot,
        whole,
    )
    if lines:
        _table(console, "Lines", hot_lines(hot, places), hot, whole)
    for line in notes(hot):
        console.print(Padding(Text(line), (0, 0, 0, 2)))
    print_place_notes(places.notes(np.unique(hot.rows["path"])), console)


def _headline(hot: HotRows, by_signal: bool) -> str:
    counted, taken = (int(number.sum()) for number in (hot.rows["count"], hot.ranks["samples"]))
    samples = units.plural(taken, "sample") if counted == taken else f"{counted} of {units.plural(taken, 'sample')}"
    ranks = units.plural(len(hot.ranks), "rank")
    way = "a signal" if by_signal else "the kernel"
    return f"{units.time(hot.computing_ns)} of computing on {ranks}, by {samples} (by {way}){_others(hot)}"


def _others(hot: HotRows) -> str:
    """Say how much CPU time belongs to threads without calls, which the first look does not know. "": none."""
    count, ns = int(hot.ranks["others"].sum()), float(hot.ranks["others_ns"].sum())
    if not ns:
        return ""
    return f"; {units.time(ns)} of it is CPU time of {units.plural(count, 'thread')} without calls"


def notes(hot: HotRows) -> list[str]:
    """List what the tables do not show: computing before samples, time without a CPU, and lost samples."""
    said = []
    idle, lost = (float(hot.ranks[name].sum()) for name in ("idle_ns", "lost"))
    if hot.before_ns > NOTEWORTHY_IDLE * (hot.computing_ns + hot.before_ns):
        before = units.time(hot.before_ns)
        said.append(
            f"Before samples began, with MPI_Init, the ranks computed for {before} more: the first look has it."
        )
    if idle:
        said.append(f"{_idle(hot, idle)}. Shares are of the rest.")
    if lost:
        said.append(f"{units.plural(int(lost), 'sample was', 'samples were')} lost.")
    if hot.rows["count"].sum() < FEW_SAMPLES:
        said.append("So few samples give a rough picture: sample more often, or longer.")
    return said


def _idle(hot: HotRows, idle: float) -> str:
    """Say how long threads had no CPU, by the kernel's numbers or estimated from samples."""
    share = units.percent(idle / hot.computing_ns)
    if hot.is_idle_known:
        waits = float(hot.ranks["waits_ns"].sum())
        parts = f"they waited for one for {units.time(waits)}, and slept for {units.time(max(idle - waits, 0.0))}"
        return f"In {units.time(idle)} of it ({share}) threads had no CPU: {parts}"
    error = f"{units.time(idle)} +- {units.time(hot.idle_error_ns)}"
    return f"In {error} of it ({share}), an estimate by samples, threads had no CPU: they slept, or waited for one"


def _table(console: Console, title: str, found: Sequence[HotPlace], hot: HotRows, whole: float) -> None:
    several = len(hot.ranks) > 1
    table = plain_table("place", "time", "share", "with calls", *(("most", "rank", "above mean") if several else ()))
    for f in found[:MOST_ROWS]:
        row = [units.time(f.ns, ""), _share(f.ns, whole), _share(f.inclusive_ns, whole)]
        if several:
            worst = int(f.by_rank_ns.argmax())
            row += [units.time(float(f.by_rank_ns.max()), ""), str(hot.ranks["rank"][worst]), _share(f.imbalance, 1)]
        table.add_row(Text(f.name), *row)
    if len(found) > MOST_ROWS:
        rest = sum(f.ns for f in found[MOST_ROWS:])
        table.add_row(f"{len(found) - MOST_ROWS} more", units.time(rest, ""), _share(rest, whole))
    console.print()
    console.print(Text(title, style="bold"))
    console.print(Padding(table, (0, 0, 0, 2)))


def _share(part: float, whole: float) -> str:
    return units.percent(part / whole).replace(" ", "") if whole else "-"


def sentence(hot: HotRows, places: Places) -> str:
    """Name the function that computes most, for the first look. "": none is known.

    The share of samples without a place is given too, as they may belong to the function.
    """
    every = hot_functions(hot, places)
    found = [one for one in every if one.function != NOT_KNOWN]
    if not found or not hot.busy_ns:
        return ""
    first, without = found[0], sum(one.ns for one in every if one.function == NOT_KNOWN)
    line = next((p.name for p in hot_lines(hot, places) if p.function == first.function and p.file == first.file), "")
    busy = "computing" if hot.busy_ns > _MOSTLY_BUSY * hot.computing_ns else "computing with a CPU"
    said = f"{units.percent(first.ns / hot.busy_ns)} of {busy} is in {first.name}"
    said += f", most at {line.split(' in ')[0]}" if " in " in line else ""
    if len(hot.ranks) > 1:
        worst = int(hot.ranks["rank"][int(first.by_rank_ns.argmax())])
        said += f"; rank {worst} has most of it, {units.percent(first.imbalance)} of that more than the mean"
    if without > NOTEWORTHY_IDLE * hot.busy_ns:
        said += f"; of {units.percent(without / hot.busy_ns)} the place is not known"
    return f"{said} (analyze hot)"


def hot_json(hot: HotRows, places: Places, *, lines: bool, by_signal: bool) -> dict[str, Any]:
    """Return the computing time by rank, function and, with `lines`, line for JSON. Times are in s."""
    numbers = hot.ranks["rank"].tolist()
    return {
        "computing_s": hot.computing_ns / 1e9,
        "sampled_by": "signal" if by_signal else "perf",
        "ranks": [
            {
                "rank": int(r["rank"]), "computing_s": r["computing_ns"] / 1e9, "without_cpu_s": r["idle_ns"] / 1e9,
                "mpi_cpu_s": r["mpi_ns"] / 1e9, "samples": int(r["samples"]), "lost": int(r["lost"]),
                "waiting_for_cpu_s": r["waits_ns"] / 1e9 if r["waits_ns"] >= 0 else None,
                "threads": int(r["tasks"]), "threads_without_calls": int(r["others"]),
                "computing_of_threads_without_calls_s": r["others_ns"] / 1e9,
                "computing_before_samples_s": r["before_ns"] / 1e9,
            }
            for r in hot.ranks
        ],
        "functions": [_as_json(f, numbers) for f in hot_functions(hot, places)],
        **({"lines": [_as_json(f, numbers) for f in hot_lines(hot, places)]} if lines else {}),
    }  # fmt: skip


def _as_json(found: HotPlace, ranks: list[int]) -> dict[str, Any]:
    there = np.flatnonzero(found.by_rank_ns)
    return {
        "place": found.name, "function": found.function, "file": found.file or None, "line": found.line or None,
        "time_s": found.ns / 1e9, "inclusive_s": found.inclusive_ns / 1e9, "samples": found.samples,
        "imbalance": found.imbalance, "most_on_rank": ranks[int(found.by_rank_ns.argmax())],
        "by_rank_s": {str(ranks[i]): float(found.by_rank_ns[i]) / 1e9 for i in there.tolist()},
    }  # fmt: skip
