"""The cost of the program's own regions, by rank or thread: visits, time, computing and MPI."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from analyzer.columns.arrays import joined
from analyzer.pairing.requests import window_calls, windows_of_rank
from analyzer.parallel import Team
from analyzer.trace import FLUSH, MARK, Losses, Mark, Regions, State, Trace, TracerTime


@dataclass(frozen=True)
class RegionProfile:
    """Sums by rank and region, int64 of shape (ranks, regions), over the threads of each rank.

    Times are in ns, from the begin to the end of each visit, with the regions inside. A visit of a region inside
    another visit of the same region is not counted twice.
    """

    names: tuple[str, ...]
    count: np.ndarray
    time_ns: np.ndarray
    useful_ns: np.ndarray  # ns in state Running
    mpi_ns: np.ndarray

    def by_time(self) -> list[int]:
        """Return the indices of the regions that were entered, the longest time first."""
        entered = np.flatnonzero(self.count.sum(axis=0))
        return sorted(entered.tolist(), key=lambda r: (-int(self.time_ns[:, r].sum()), self.names[r]))

    def balance(self, region: int) -> float | None:
        """Return the load balance of a region, from 0 to 1; None: no rank computes in it.

        It is the mean useful time of the ranks that entered the region, divided by the largest useful time of a rank.
        """
        useful = self.useful_ns[self.count[:, region] > 0, region]
        return float(useful.mean() / useful.max()) if len(useful) and useful.max() > 0 else None


@dataclass(frozen=True)
class RegionSums:
    """Sums by thread and region, int64 of shape (threads of all ranks, regions), in order of rank and thread.

    Times are in ns, as in RegionProfile.
    """

    names: tuple[str, ...]
    rank: np.ndarray  # (threads,)
    count: np.ndarray
    time_ns: np.ndarray
    useful_ns: np.ndarray
    mpi_ns: np.ndarray
    lost_ns: np.ndarray  # part of time_ns in which the tracer held the thread or nothing was recorded

    def by_rank(self, ranks: int) -> RegionProfile:
        """Add up the threads of each rank. `ranks`: number of ranks."""
        sums = np.zeros((4, ranks, len(self.names)), np.int64)
        for of_rank, of_thread in zip(sums, (self.count, self.time_ns, self.useful_ns, self.mpi_ns), strict=True):
            np.add.at(of_rank, self.rank, of_thread)
        return RegionProfile(self.names, *sums)


def region_profile(trace: Trace, team: Team) -> RegionProfile:
    """Sum visits and times of all regions by rank. Collective."""
    return region_sums(trace, team).by_rank(trace.size)


def region_sums(trace: Trace, team: Team) -> RegionSums:
    """Sum visits and times of all regions by thread, window after window. Collective.

    With U(t) the useful time of a thread up to t, the useful time of a region is the sum of U over the ends of its
    visits less the sum over the begins. So it does not matter in which window a visit began.
    """
    rank_of = np.repeat(np.arange(trace.size), trace.threads)
    first = np.concatenate(([0], np.cumsum(trace.threads)))
    sums = np.zeros((5, len(rank_of), len(trace.extra(Regions).names)), np.int64)
    for rank in trace.share(team) if trace.extra(Regions).names else ():
        lost = lost_times(trace, rank)
        count, regions = int(trace.threads[rank]), len(trace.extra(Regions).names)
        threads = [_Thread(thread, regions, lost, alone=count == 1) for thread in range(count)]
        for begin, end in pairwise(windows_of_rank(trace, rank).tolist()):
            states = trace.states(begin, end, range(rank, rank + 1))
            calls = window_calls(trace, rank, begin, end)
            marks = trace.extra(Regions).marks(rank, begin, end)
            for number, thread in enumerate(threads):
                sums[:, first[rank] + number] += thread.add(states, calls, marks)
    return RegionSums(trace.extra(Regions).names, rank_of, *sum(team.allgather(sums)))


def lost_times(trace: Trace, rank: int) -> np.ndarray:
    """Return the times of a rank's threads in which the tracer held them or nothing was recorded (FLUSH, by begin).

    There are none if the trace counts flushes as computation (`Origin.tracer_times` is False).
    """
    if not trace.origin.tracer_times:
        return np.zeros(0, FLUSH)
    flushes, unrecorded = trace.extra(TracerTime).flushes(rank), trace.extra(Losses).unrecorded(rank)
    rows = joined([rows for rows in (flushes, unrecorded) if len(rows)], FLUSH)
    return rows.take(np.argsort(rows["begin"], kind="stable"))


VISIT = np.dtype(
    [
        ("thread", "<i4"),
        ("region", "<i4"),
        ("begin", "<i8"),
        ("end", "<i8"),
        ("depth", "<i4"),
        ("parallel", "<i4"),
    ]
)
"""Visit of a thread to a region (index in Regions.names), from begin to end in ns.

`depth`: number of regions around it. `parallel`: number of threads that the visit stands for (the last value that the
program gave; 1: it gave none).
"""


def region_visits(trace: Trace, rank: int) -> np.ndarray:
    """Return all visits of a rank's threads to regions (VISIT), by thread and begin, an outer visit before inner ones.

    As regions nest, begins and ends of one depth alternate.
    """
    every = trace.extra(Regions).marks(rank)
    marks = every[every["what"] <= Mark.END]
    is_begin = marks["what"] == Mark.BEGIN
    depth = np.cumsum(np.where(is_begin, 1, -1)) - is_begin  # a thread begins at 0: the one before it has ended all
    order = np.argsort(depth, kind="stable")
    begin, end = order[::2], order[1::2]
    begin, end = begin[np.argsort(begin)], end[np.argsort(begin)]
    found = np.zeros(len(begin), VISIT)
    found["thread"], found["region"] = marks["thread"][begin], marks["number"][begin] - 1
    found["begin"], found["end"], found["depth"] = marks["time"][begin], marks["time"][end], depth[begin]
    found["parallel"] = 1
    _say_parallel(found, every)
    return found


def _say_parallel(visits: np.ndarray, marks: np.ndarray) -> None:
    """Set `parallel` of visits: a PARALLEL mark belongs to the visit that its thread is in."""
    said = np.flatnonzero(marks["what"] == Mark.PARALLEL)
    begin = np.flatnonzero(marks["what"] == Mark.BEGIN)
    steps = (marks["what"] == Mark.BEGIN).astype(np.int64) - (marks["what"] == Mark.END)
    around = np.cumsum(steps)[said] - 1
    said, around = said[around >= 0], around[around >= 0]
    key = visits["depth"] * np.int64(len(marks)) + begin
    order = np.argsort(key)
    at = order[np.searchsorted(key[order], around * len(marks) + said) - 1]
    visits["parallel"][at] = marks["value"][said].clip(0, np.iinfo(np.int32).max)


class _Thread:
    """Sums of one thread, from window to window."""

    def __init__(self, number: int, regions: int, lost: np.ndarray, *, alone: bool) -> None:
        self._number, self._alone = number, alone
        self._open = np.zeros(regions, np.int64)  # number of times each region is open
        self._running, self._inside, self._tracer = AccumulatedWeights(), AccumulatedWeights(), AccumulatedWeights()
        self._lost = AccumulatedWeights()
        lost = self._own(lost)
        self._lost.append(lost["begin"], lost["end"], lost["end"] - lost["begin"])

    def _own(self, rows: np.ndarray) -> np.ndarray:
        """Select the rows of this thread from rows of its rank."""
        return rows if self._alone else rows[rows["thread"] == self._number]

    def add(self, states: np.ndarray, calls: np.ndarray, marks: np.ndarray) -> np.ndarray:
        """Return the sums of this thread in one window, int64 of shape (5, regions).

        They are visits, time, useful time, time in MPI, and lost time.
        """
        states, calls, marks = (self._own(rows) for rows in (states, calls, marks))
        for of_state, state in ((self._running, State.RUNNING), (self._tracer, State.TRACER)):
            rows = states[states["state"] == state]
            of_state.append(rows["begin"], rows["end"], rows["end"] - rows["begin"])
        self._inside.append(calls["enter"], calls["enter"] + calls["inside"], calls["inside"])
        marks = marks[marks["what"] <= Mark.END]
        sums = np.zeros((5, len(self._open)), np.int64)
        sums[0] = np.bincount(marks["number"][marks["what"] == Mark.BEGIN] - 1, minlength=len(self._open))
        outer = self._outermost(marks)
        sign = np.where(outer["what"] == Mark.BEGIN, -1, 1)
        useful, inside, lost, tracer = (
            sums.until(outer["time"]) for sums in (self._running, self._inside, self._lost, self._tracer)
        )
        columns = (outer["time"], useful, inside, lost + tracer)
        for line, values in zip(sums[1:], columns, strict=True):
            np.add.at(line, outer["number"] - 1, sign * values)
        return sums

    def _outermost(self, marks: np.ndarray) -> np.ndarray:
        """Select the begins and ends of visits that are in no other visit of the same region."""
        if not len(marks):
            return np.zeros(0, MARK)
        marks = marks[np.argsort(marks["number"], kind="stable")]
        region = marks["number"] - 1
        steps = np.where(marks["what"] == Mark.BEGIN, 1, -1)
        total = np.cumsum(steps)
        first = np.flatnonzero(np.diff(region, prepend=-1))
        before = np.repeat(total[first] - steps[first], np.diff(first, append=len(marks)))
        depth = self._open[region] + total - before
        last = np.append(first[1:], len(marks)) - 1
        self._open[region[last]] = depth[last]
        return marks[np.where(steps > 0, depth == 1, depth == 0)]


class AccumulatedWeights:
    """Sum of the weights of a thread's intervals up to any time of the latest window.

    A weight is for example the length of the interval in ns.
    """

    def __init__(self) -> None:
        self._begin = self._end = self._weight = np.zeros(0, np.int64)
        self._before = 0

    def append(self, begin: np.ndarray, end: np.ndarray, weight: np.ndarray) -> None:
        """Append disjoint intervals that are in order and after all earlier ones.

        The last may reach into later windows.
        """
        self._before += int(self._weight[:-1].sum())
        columns = zip((self._begin, self._end, self._weight), (begin, end, weight), strict=True)
        self._begin, self._end, self._weight = (np.concatenate([old[-1:], new]) for old, new in columns)

    def until(self, times: np.ndarray) -> np.ndarray:
        """Return the sum of weights before each time (ns). An interval that contains the time counts in proportion."""
        if not len(self._begin):
            return np.zeros(len(times), np.int64)
        sums = np.concatenate([[0], np.cumsum(self._weight)])
        at = np.searchsorted(self._begin, times, "left")
        last = np.maximum(at - 1, 0)
        length = np.maximum(self._end[last] - self._begin[last], 1)
        rest = np.where(at > 0, np.maximum(self._end[last] - times, 0), 0)
        return self._before + sums[at] - np.rint(rest * (self._weight[last] / length)).astype(np.int64)
