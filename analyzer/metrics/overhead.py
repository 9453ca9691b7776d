"""Time that the tracer took for writing its buffers, measuring clocks and looking for callers, by rank.

The time that it takes after each call is in useful.py. Also sums the time that a run waited for drivers that it asked
(docs/drivers.md).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from analyzer.columns.arrays import by_index, joined
from analyzer.parallel import Team
from analyzer.trace import FLUSH, Mark, Regions, State, Trace, TracerTime
from tracelib.schema.asking import asked_driver

AT_ONCE = 1024
"""Number of ranks whose flushes are in memory at a time."""


@dataclass(frozen=True)
class Flushes:
    """Number and time of the flushes of each rank, int64 of shape (ranks,). Times are in ns, threads added up."""

    count: np.ndarray  # number of buffers written
    time_ns: np.ndarray  # all time that the tracer took: writing, clocks, callers
    during: np.ndarray
    """Largest number of flushes of one thread, without the flush that closed the trace, which no buffer size avoids."""
    clocks_ns: np.ndarray  # the part of time_ns in which clocks were measured
    paths_ns: np.ndarray  # the part of time_ns in which the callers of calls were looked for
    shared_ns: np.ndarray  # time that the tracer took from the thread of the rank that lost least
    computing_ns: int = 0  # imported traces: ns in flushes that count as Running, all ranks together

    @property
    def writing_ns(self) -> np.ndarray:
        """Return the part of time_ns in which buffers were written, int64 of shape (ranks,)."""
        return self.time_ns - self.clocks_ns - self.paths_ns


def flushes(trace: Trace, team: Team) -> Flushes:
    """Sum number and time of the flushes of each rank. Collective."""
    sums, ranks = np.zeros((6, trace.size), np.int64), trace.share(team)
    for first in range(ranks.start, ranks.stop, AT_ONCE):
        some = range(first, min(first + AT_ONCE, ranks.stop))
        sums[:, some.start : some.stop] = _of_ranks(trace, some)
    total = team.total(sums)
    imported = not trace.origin.tracer_times and total[0].any()
    return replace(Flushes(*total), computing_ns=_computing_ns(trace, team)) if imported else Flushes(*total)


def _computing_ns(trace: Trace, team: Team) -> int:
    """Sum the ns in flushes during which the thread is in state Running."""
    ranks, first = trace.share(team), np.concatenate(([0], np.cumsum(trace.threads, dtype=np.int64)))
    every = [(first[rank], trace.extra(TracerTime).flushes(rank)) for rank in ranks]
    lane = np.concatenate([np.zeros(0, np.int64), *(lane + rows["thread"] for lane, rows in every)])
    rows = joined([rows for _, rows in every], FLUSH)
    of_lane = {one: _sorted_edges(rows[lane == one]) for one in np.unique(lane).tolist()}
    total = 0
    for begin, end in pairwise(trace.windows().tolist() if of_lane else []):
        states = trace.states(begin, end, ranks)
        states = states[states["state"] == State.RUNNING]
        of_state = first[states["rank"]] + states["thread"]
        for one in np.intersect1d(of_state, list(of_lane)).tolist():
            own, (edges, before) = states[of_state == one], of_lane[one]
            total += int((np.interp(own["end"], edges, before) - np.interp(own["begin"], edges, before)).sum())
    return int(team.total(np.array([total]))[0])


def _sorted_edges(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return begins and ends of a thread's flushes in order, and the time in flushes before each (ns)."""
    begin, end = rows["begin"], rows["end"]
    order = np.argsort(begin, kind="stable")
    begin, end = begin[order], np.maximum.accumulate(end[order])
    begin = np.maximum(begin, np.append(begin[:1], end[:-1]))
    edges = np.stack((begin, end), axis=1).ravel()
    inside = np.stack((np.zeros_like(begin), end - begin), axis=1).ravel()
    return edges, np.cumsum(inside)


def _of_ranks(trace: Trace, ranks: range) -> np.ndarray:
    """Compute the six columns of Flushes for some ranks, int64 of shape (6, ranks)."""
    tracer = trace.extra(TracerTime)
    parts = [tracer.flushes(rank) for rank in ranks]
    counts = list(map(len, parts))
    rows, n = joined([part for part in parts if len(part)], FLUSH), len(ranks)
    threads = trace.threads[ranks.start : ranks.stop].astype(np.int64)
    first_lane = np.cumsum(threads) - threads
    rank = np.repeat(np.arange(n), counts)
    lane, lanes = first_lane[rank] + rows["thread"], int(threads.sum())
    length, is_flush = rows["end"] - rows["begin"], rows["state"] == int(State.IO)
    written, last = np.bincount(rank[is_flush], minlength=n), np.full(n, -1, np.int64)
    np.maximum.at(last, rank[is_flush], rows["end"][is_flush])
    # A process that wrote its last rows when the trace was closed did so for each thread when that ended.
    closed = (written > 0) & (last == np.array([trace.span(rank)[1] for rank in ranks]))
    of_lanes = np.bincount(lane[is_flush], minlength=lanes)
    return np.array(
        [
            written,
            by_index(rank, length, n),
            np.maximum.reduceat(of_lanes, first_lane) - closed,
            *(_in_state(state, rows["state"], rank, length, n) for state in (State.OTHERS, State.PATHS)),
            np.minimum.reduceat(by_index(lane, length, lanes), first_lane),
        ]
    )


def _in_state(state: State, states: np.ndarray, rank: np.ndarray, length: np.ndarray, ranks: int) -> np.ndarray:
    mine = states == int(state)
    return by_index(rank[mine], length[mine], ranks)


NS = 1e9


@dataclass(frozen=True)
class AskedDriver:
    """Requests of all ranks to one driver while the program ran.

    `count`: number of requests. `time_ns`: total time that ranks waited for the driver.
    """

    name: str
    count: int
    time_ns: int


def asked_drivers(trace: Trace, team: Team) -> tuple[AskedDriver, ...]:
    """Sum the requests to each driver that was asked, by name of the driver. Collective."""
    names = trace.extra(Regions).parameters
    driver_of = {number: driver for number, name in enumerate(names, 1) if (driver := asked_driver(name))}
    if not driver_of:
        return ()
    mine: dict[str, list[float]] = {}
    for rank in trace.share(team):
        marks = trace.extra(Regions).marks(rank)
        marks = marks[(marks["what"] == Mark.REAL) & np.isin(marks["number"], list(driver_of))]
        times_s = np.ascontiguousarray(marks["value"]).view(np.float64)
        for number, time_s in zip(marks["number"].tolist(), times_s.tolist(), strict=True):
            mine.setdefault(driver_of[number], []).append(time_s)
    every: dict[str, list[float]] = {}
    for part in team.allgather(mine):
        for name, times in part.items():
            every.setdefault(name, []).extend(times)
    return tuple(AskedDriver(name, len(times), round(NS * sum(times))) for name, times in sorted(every.items()))
