"""Times of a run without annotation as rows: by MPI procedure, by region, by place, and the computation before each.

Over several runs, these kinds of time can be modelled one by one.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from analyzer.experiments.columns import KIND, NAME, RUN, SCALE
from analyzer.metrics.callers import CALLER, SUMMED, CallerSums, added
from analyzer.metrics.regions import AccumulatedWeights, region_profile
from analyzer.metrics.sums import add_up
from analyzer.operations.bursts import LATER, CpuBursts, is_measured
from analyzer.pairing.requests import window_calls, windows_of_rank
from analyzer.parallel import Team
from analyzer.trace import UNKNOWN, CallPaths, State, Trace

if TYPE_CHECKING:
    import pandas

CALL_KIND, BURST_KIND, CLUSTER_KIND, REGION_KIND = "call", "burst", "cluster", "region"
REGION_KINDS = (REGION_KIND, "region computing", "region MPI")
CPU = "cpu_time"
MEASURED = ("in_ranks", "count", "time", "time_min", "time_median", "time_max", "bytes", CPU)
"""Measured columns of a kind of time.

They are the number of ranks that have it, and over these ranks: mean count, times in s (mean, least, median, largest),
mean bytes, and mean CPU time in s (of bursts, if it was recorded).
"""
_WITH_CPU = (*SUMMED, CPU)
_BURST = np.dtype([*CALLER.descr, (CPU, "<i8")])


def by_call(trace: Trace, team: Team) -> pandas.DataFrame:
    """Build a table of times by MPI procedure. Collective over the team.

    Kind `call` is the time inside the procedure, kind `burst` the computation before its calls.
    """
    return _of_callers(trace, team, np.zeros, lambda group: "")


def by_place(trace: Trace, team: Team) -> pandas.DataFrame:
    """Build a table of times by procedure and place, such as "MPI_Send at exchange.c:212 in exchange".

    If places are not known, times are by procedure alone. Collective over the team.
    """
    paths = trace.extra(CallPaths)
    if not paths.known:
        return by_call(trace, team)
    places = paths.named()
    return _of_callers(trace, team, lambda length: places.place[:length], lambda group: f" at {places.text(group)}")


def by_region(trace: Trace, team: Team) -> pandas.DataFrame:
    """Build a table of times by region. Collective over the team.

    Kind `region` is the time from begin to end; `region computing` and `region MPI` are parts of it. A region inside
    itself counts once. `count` is the number of visits of a rank.
    """
    found = region_profile(trace, team)
    rows = []
    for region in found.by_time():
        there = found.count[:, region] > 0
        for kind, times in zip(REGION_KINDS, (found.time_ns, found.useful_ns, found.mpi_ns), strict=True):
            rows.append(row_of_kind(kind, found.names[region], found.count[there, region], times[there, region]))
    return kinds_frame(trace, rows)


def _of_callers(
    trace: Trace, team: Team, groups: Callable[[int], np.ndarray], named: Callable[[int], str]
) -> pandas.DataFrame:
    """Sum up calls and the computation before them, by group of the call's path and by procedure."""
    of_kind = {CALL_KIND: add_up(trace, team, CallerSums(trace, pathless=True)).rows, BURST_KIND: _bursts(trace, team)}
    with_cpu = all(is_measured(trace, rank) for rank in range(trace.size))
    length = 1 + max((int(rows["path"].max(initial=0)) for rows in of_kind.values()), default=0)
    group = np.asarray(groups(length), np.int64)
    found = []
    for kind, rows in of_kind.items():
        rows = rows.copy()
        rows["path"] = group[rows["path"]]
        rows = added(rows, _WITH_CPU if kind == BURST_KIND else SUMMED)
        rows = rows[np.lexsort([rows["rank"], rows["call"], rows["path"]])]
        new = (np.diff(rows["path"], prepend=-1) != 0) | (np.diff(rows["call"], prepend=-1) != 0)
        for part in np.split(rows, np.flatnonzero(new)[1:]) if len(rows) else ():
            name = trace.procedures[part["call"][0]] + named(int(part["path"][0]))
            size = np.maximum(part["sent"], part["received"]) if kind == CALL_KIND else None
            cpu = part[CPU] if kind == BURST_KIND and with_cpu else None
            found.append(row_of_kind(kind, name, part["count"], part["inside"], size, cpu))
    return kinds_frame(trace, found)


def _bursts(trace: Trace, team: Team) -> np.ndarray:
    """Sum up the computation before calls, as rows of _BURST.

    `inside` is the useful time of a thread since its previous call, or since its begin. `count` is the number of bursts
    that are not empty. Computation after the last call belongs to no call.
    """
    parts = [_bursts_of(trace, rank) for rank in trace.share(team)]
    everybody = [rows for of_member in team.allgather(parts) for rows in of_member]
    return added(np.concatenate([np.zeros(0, _BURST), *everybody]), _WITH_CPU)


def _bursts_of(trace: Trace, rank: int) -> np.ndarray:
    threads = range(int(trace.threads[rank]))
    sums, latest = [AccumulatedWeights() for _ in threads], [np.zeros(1, np.int64) for _ in threads]
    known = trace.extra(CallPaths).known
    cpu = _CpuTime(trace, rank)
    found = [np.zeros(0, _BURST)]
    for begin, end in pairwise(windows_of_rank(trace, rank).tolist()):
        states = trace.states(begin, end, range(rank, rank + 1))
        states = states[states["state"] == State.RUNNING]
        calls = window_calls(trace, rank, begin, end)
        paths = np.zeros(len(calls), np.int64)
        if known:
            paths = np.concatenate([paths[:0], *trace.extra(CallPaths).of(rank, begin, end)])
        for thread in threads:
            rows, own = states[states["thread"] == thread], calls["thread"] == thread
            sums[thread].append(rows["begin"], rows["end"], rows["end"] - rows["begin"])
            until = np.concatenate([latest[thread], sums[thread].until(calls["enter"][own])])
            latest[thread] = until[-1:]
            had = cpu.before((begin, end), calls, until[1:])
            found.append(_before(rank, np.diff(until), had, calls["call"][own], paths[own]))
    return added(np.concatenate(found), _WITH_CPU)


class _CpuTime:
    """CPU time of a rank with one thread in the bursts before its calls. 0 where it is not known."""

    def __init__(self, trace: Trace, rank: int) -> None:
        self._bursts = CpuBursts(trace, rank)
        self._before = 0

    def before(self, window: tuple[int, int], calls: np.ndarray, until: np.ndarray) -> np.ndarray:
        """Return the CPU time in ns before each call of a window, at most the length of the burst.

        CPU time before polls that fail belongs to the next call at which CPU time was read.

        Args:
            window: Begin and end of the window.
            calls: Calls of the window.
            until: Useful time of the thread up to each call, ns.
        """
        cpu = self._bursts.window(window, calls)
        if cpu is None:
            return np.zeros(len(until), np.int64)
        read = cpu != LATER
        lasts = np.diff(until[read], prepend=self._before)
        self._before += int(lasts.sum())
        had = np.zeros(len(cpu), np.int64)
        had[read] = np.where(cpu[read] == UNKNOWN, 0, np.clip(cpu[read] - self._bursts.overhead_ns, 0, lasts))
        return had


def _before(rank: int, burst: np.ndarray, cpu: np.ndarray, call: np.ndarray, path: np.ndarray) -> np.ndarray:
    """Return the bursts of one thread in a window as rows of _BURST."""
    rows = np.zeros(len(burst), _BURST)
    rows["rank"], rows["path"], rows["call"] = rank, path, call
    rows["count"], rows["inside"], rows[CPU] = burst > 0, burst, cpu
    return added(rows[(burst > 0) | (cpu > 0)], _WITH_CPU)


def row_of_kind(
    kind: str,
    name: str,
    count: np.ndarray,
    ns: np.ndarray,
    size: np.ndarray | None = None,
    cpu_ns: np.ndarray | None = None,
) -> dict:
    """Make the row of one kind of time.

    Args:
        kind: Kind of time.
        name: Name, such as the procedure.
        count: Count on each rank that has the kind, shape (ranks,).
        ns: Time on each of these ranks.
        size: Bytes on each of these ranks. None: not known.
        cpu_ns: CPU time on each of these ranks. None: not known.
    """
    seconds = ns / 1e9
    times = (seconds.mean(), seconds.min(), np.median(seconds), seconds.max())
    rest = (np.nan if size is None else size.mean(), np.nan if cpu_ns is None else cpu_ns.mean() / 1e9)
    return {KIND: kind, NAME: name, **dict(zip(MEASURED, (len(ns), count.mean(), *times, *rest), strict=True))}


def kinds_frame(trace: Trace, rows: list[dict]) -> pandas.DataFrame:
    """Build a table from rows of `row_of_kind`, with columns of the run and its scale, ordered by kind and name."""
    import pandas

    frame = pandas.DataFrame(rows, columns=[KIND, NAME, *MEASURED])
    scale = (trace.size, int(trace.threads.max()), len(trace.nodes.names))
    for place, (column, value) in enumerate(zip((RUN, *SCALE), (trace.path, *scale), strict=True), start=2):
        frame.insert(place, column, value)
    return frame.sort_values([KIND, NAME], kind="stable", ignore_index=True)
