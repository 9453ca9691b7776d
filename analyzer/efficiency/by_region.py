"""The POP efficiencies of the program's regions, and of each visit of a region: where time is lost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from analyzer.efficiency.factors import Efficiency, factors
from analyzer.efficiency.ideal import UNKNOWN_IDEAL, IdealReplay
from analyzer.metrics.regions import AccumulatedWeights, lost_times, region_sums
from analyzer.pairing.requests import windows_of_rank
from analyzer.parallel import Team
from analyzer.trace import Mark, Regions, State, Trace


@dataclass(frozen=True)
class RegionEfficiency:
    """Efficiencies of one region, over the threads that entered it."""

    name: str
    visits: int  # number of visits, all threads together
    threads: int
    efficiency: Efficiency


def region_efficiencies(trace: Trace, team: Team, ideal: IdealReplay = UNKNOWN_IDEAL) -> list[RegionEfficiency]:
    """Compute the efficiencies of each region that was entered, the longest first. Collective.

    With T the time of a thread in the region less the tracer's, and U its useful time there: parallel efficiency
    mean(U) / max(T), load balance mean(U) / max(U), communication efficiency max(U) / max(T). All visits count, but a
    visit inside a visit of the same region is not counted twice. Threads that never enter the region do not count. In
    the ideal replay (with its visits) the same times give serialization max(U) / max(T), and transfer = communication /
    serialization.
    """
    sums = region_sums(trace, team)
    found = []
    for region, name in enumerate(sums.names):
        entered = sums.count[:, region] > 0
        if not entered.any():
            continue
        useful_ns, time_ns = sums.useful_ns[entered, region], (sums.time_ns - sums.lost_ns)[entered, region]
        replayed = ideal.restricted(ideal.visits[ideal.visits["region"] == region])
        result = factors(useful_ns, int(time_ns.max()), replayed)
        found.append(RegionEfficiency(name, int(sums.count[:, region].sum()), int(entered.sum()), result))
    return sorted(found, key=lambda region: (-region.efficiency.runtime_ns, region.name))


@dataclass(frozen=True)
class VisitEfficiency:
    """Efficiencies of the n-th visit to a region, over the threads that visited the region at least n times."""

    number: int  # from 1
    begin_ns: int  # begin of the visit of the first thread
    end_ns: int  # end of the visit of the last thread
    threads: int
    efficiency: Efficiency
    excess_ns: int  # (runtime - runtime of the typical visit) x threads


def visit_efficiencies(
    trace: Trace, region: str, team: Team, ideal: IdealReplay = UNKNOWN_IDEAL
) -> list[VisitEfficiency]:
    """Compute the efficiencies of each visit to a region, as of a region. A region may be one iteration. Collective.

    The n-th visits of all threads belong together. A visit inside another visit of the region is part of that. The
    typical visit is the median by runtime (the shorter of the two in the middle). A longer visit costs each of its
    threads the difference, whether one thread or all compute longer in it.
    """
    number = trace.extra(Regions).names.index(region)
    mine = [_visits(trace, rank, number) for rank in trace.share(team)]
    rows = np.concatenate([np.zeros(0, _TIMES), *(part for parts in team.allgather(mine) for part in parts)])
    count = int(rows["number"].max(initial=-1)) + 1
    replayed = _by_number(ideal.visits[ideal.visits["region"] == number], count)
    found = []
    for visit, (here, there) in enumerate(zip(_by_number(rows, count), replayed, strict=True), start=1):
        runtime = int((here["end"] - here["begin"] - here["lost"]).max())
        result = factors(here["useful"], runtime, ideal.restricted(there))
        begin, end = int(here["begin"].min()), int(here["end"].max())
        found.append(VisitEfficiency(visit, begin, end, len(here), result, 0))
    typical = typical_ns(found)
    return [replace(one, excess_ns=(one.efficiency.runtime_ns - typical) * one.threads) for one in found]


def typical_ns(visits: Sequence[VisitEfficiency]) -> int:
    """Return the runtime of the typical visit in ns: the lower median; 0 without any visit."""
    runtimes = sorted(one.efficiency.runtime_ns for one in visits)
    return runtimes[(len(runtimes) - 1) // 2] if runtimes else 0


def _by_number(rows: np.ndarray, count: int) -> list[np.ndarray]:
    """Return the rows of each `number` from 0 to count - 1, in their order."""
    rows = rows[np.argsort(rows["number"], kind="stable")]
    edges = np.searchsorted(rows["number"], np.arange(count + 1))
    return [rows[first:last] for first, last in pairwise(edges.tolist())]


_TIMES = np.dtype([("number", "<i8"), ("begin", "<i8"), ("end", "<i8"), ("useful", "<i8"), ("lost", "<i8")])


def _visits(trace: Trace, rank: int, region: int) -> np.ndarray:
    """Find the visits of a rank's threads to a region (_TIMES, by thread and number), without visits inside others."""
    marks = trace.extra(Regions).marks(rank)
    marks = marks[(marks["number"] == region + 1) & (marks["what"] <= Mark.END)]
    lost = lost_times(trace, rank)
    parts = []
    for thread in np.unique(marks["thread"]).tolist():
        edges = _outermost(marks[marks["thread"] == thread])
        rows = np.zeros(len(edges) // 2, _TIMES)
        rows["number"] = np.arange(len(rows))
        rows["begin"], rows["end"] = edges[::2], edges[1::2]
        useful, tracer = _until(trace, rank, thread, edges)
        hidden = AccumulatedWeights()
        own = lost[lost["thread"] == thread]
        hidden.append(own["begin"], own["end"], own["end"] - own["begin"])
        rows["useful"], rows["lost"] = (np.diff(ns)[::2] for ns in (useful, hidden.until(edges) + tracer))
        parts.append(rows)
    return np.concatenate([np.zeros(0, _TIMES), *parts])


def _outermost(marks: np.ndarray) -> np.ndarray:
    """Return begin, end, begin, end, ... (ns) of one thread's visits to a region, without visits inside others."""
    steps = np.where(marks["what"] == Mark.BEGIN, 1, -1)
    depth = np.cumsum(steps)
    return marks["time"][np.where(steps > 0, depth == 1, depth == 0)]


def _until(trace: Trace, rank: int, thread: int, times: np.ndarray) -> np.ndarray:
    """Return the useful time of a thread and the tracer's time after its calls before each of the times, in ns.

    `times` is ascending; the result is int64 of shape (2, times).
    """
    sums, parts = (
        {State.RUNNING: AccumulatedWeights(), State.TRACER: AccumulatedWeights()},
        [np.zeros((2, 0), np.int64)],
    )
    for begin, end in pairwise(windows_of_rank(trace, rank).tolist()):
        states = trace.states(begin, end, range(rank, rank + 1))
        states = states[states["thread"] == thread]
        first, last = np.searchsorted(times, (begin, end))
        for state, of_state in sums.items():
            rows = states[states["state"] == state]
            of_state.append(rows["begin"], rows["end"], rows["end"] - rows["begin"])
        parts.append(np.stack([of_state.until(times[first:last]) for of_state in sums.values()]))
    return np.concatenate(parts, axis=1)
