"""Counters of a run, summed in computing and in MPI; instructions and cycles of computing, with the time they cover."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from analyzer.columns.arrays import by_index
from analyzer.parallel import Team
from analyzer.trace import STATE, UNKNOWN, Counter, Counters, State, Trace

RATIOS = (("PAPI_TOT_INS", "PAPI_TOT_CYC"), ("perf::INSTRUCTIONS", "perf::CYCLES"))
"""Names of the counters of instructions and of cycles: of PAPI, and of perf."""
_WINDOW = 1 << 15
"""Number of records in a window, which is small because each call may have events of many counters."""


@dataclass(frozen=True)
class UsefulCounts:
    """Instructions, cycles and useful time of the bursts in which both counters were read, int64 of shape (ranks,)."""

    instructions_by_rank: np.ndarray
    cycles_by_rank: np.ndarray
    time_by_rank_ns: np.ndarray

    @property
    def instructions(self) -> int:
        return int(self.instructions_by_rank.sum())

    @property
    def cycles(self) -> int:
        return int(self.cycles_by_rank.sum())

    @property
    def time_ns(self) -> int:
        return int(self.time_by_rank_ns.sum())

    @property
    def ipc(self) -> float | None:
        """Return instructions per cycle over all ranks; None: no cycles were counted."""
        return self.instructions / self.cycles if self.cycles > 0 else None

    @property
    def frequency_ghz(self) -> float | None:
        """Return cycles per ns over all ranks; None: no cycles were counted."""
        return self.cycles / self.time_ns if self.time_ns > 0 and self.cycles > 0 else None


def useful_counts(trace: Trace, team: Team) -> UsefulCounts:
    """Sum the instructions and cycles that were counted in state Running, for our own runs and for Extrae's.

    Collective.

    The value of a counter event was counted since the previous event of the thread. The value is useful if the thread
    was Running immediately before the event. Source: the rules of Dimemas' and PyPOP's published figures ("An ideal
    replay that equals Dimemas").
    """
    types = _types(trace)
    sums = np.zeros((3, trace.size), np.int64)
    ranks = trace.share(team)
    if types and len(ranks):
        threads = _Threads(trace)
        for begin, end in pairwise(trace.windows(_WINDOW).tolist()):
            states = trace.states(begin, end, ranks)
            events = trace.events(begin, end, ranks)
            sums += threads.add(begin, end, states, _both(events, types))
    return UsefulCounts(*team.total(sums))


def _types(trace: Trace) -> tuple[int, int] | None:
    """Find the event types of instructions and cycles. None: the trace has no such events."""
    names = {label.split()[0]: number for number, (label, _) in trace.event_labels.items() if label.split()}
    for instructions, cycles in RATIOS:
        if instructions in names and cycles in names:
            return names[instructions], names[cycles]
    return None


_COUNT = np.dtype([("rank", "<i8"), ("thread", "<i8"), ("time", "<i8"), ("instructions", "<i8"), ("cycles", "<i8")])


def _both(events: np.ndarray, types: tuple[int, int]) -> np.ndarray:
    """Build _COUNT rows, by rank, thread and time, of the times at which both counters were read.

    Of several events at one time, only the first has a count; the others count nothing.
    """
    events = events[np.isin(events["type"], types)]
    events = events[np.lexsort((events["time"], events["thread"], events["rank"]))]
    place = np.zeros(len(events), np.int64)
    if len(events):
        columns = [events[name] for name in ("rank", "thread", "time")]
        place[1:] = np.cumsum(np.any([c[1:] != c[:-1] for c in columns], axis=0))
    found = np.zeros(int(place.max(initial=-1)) + 1, _COUNT)
    known = np.zeros((2, len(found)), bool)
    for number, (column, kind) in enumerate(zip(("instructions", "cycles"), types, strict=True)):
        rows = np.flatnonzero(events["type"] == kind)
        places, first = np.unique(place[rows], return_index=True)
        of_place = events[rows[first]]
        known[number, places] = True
        found[column][places] = of_place["value"]
        for name in ("rank", "thread", "time"):
            found[name][places] = of_place[name]
    return found[known.all(axis=0)]


class _Threads:
    """State of all threads that is kept from one window to the next."""

    def __init__(self, trace: Trace) -> None:
        self._first = np.concatenate(([0], np.cumsum(trace.threads))).astype(np.int64)
        self._open = np.zeros(0, STATE)  # states that reach the end of the window
        self._uncounted = np.zeros(int(self._first[-1]), np.int64)  # useful time since the last reading

    def add(self, begin: int, end: int, states: np.ndarray, counts: np.ndarray) -> np.ndarray:
        """Return instructions, cycles and useful time of the bursts that end in a window, int64 of shape (3, ranks)."""
        running = np.concatenate([self._open, states[states["state"] == State.RUNNING]])
        running = running[running["end"] > running["begin"]]
        self._open = running[running["end"] >= end]
        useful = _Useful(running, self._first, begin, end)
        thread = self._first[counts["rank"]] + counts["thread"]
        every = np.arange(len(self._uncounted))
        start, stop = useful.until(every, begin), useful.until(every, end)
        now = useful.until(thread, counts["time"])
        is_first = np.diff(thread, prepend=-1) != 0
        before = np.where(is_first, start[thread] - self._uncounted[thread], np.roll(now, 1))
        wanted = useful.runs_until(thread, counts["time"])
        self._uncounted += stop - start
        self._uncounted[thread] = stop[thread] - now  # the last value of each thread stays
        columns = (counts["instructions"], counts["cycles"], now - before)
        ranks = len(self._first) - 1
        return np.array([by_index(counts["rank"][wanted], column[wanted], ranks) for column in columns])


class _Useful:
    """Useful time in a window up to any time, of all threads one after the other."""

    def __init__(self, running: np.ndarray, first: np.ndarray, begin: int, end: int) -> None:
        self._begin, self._width = begin, end - begin + 2
        thread = first[running["rank"]] + running["thread"]
        place = self._place(thread, np.maximum(running["begin"], begin - 1))
        order = np.argsort(place, kind="stable")
        self._places, self._thread = place[order], thread[order]
        self._end = np.minimum(running["end"][order], end)
        self._length = self._end - np.maximum(running["begin"][order], begin)
        self._sums = np.concatenate([[0], np.cumsum(self._length)])

    def _place(self, thread: np.ndarray, time: np.ndarray | int) -> np.ndarray:
        return thread * self._width + (time - self._begin + 1)

    def _last(self, thread: np.ndarray, time: np.ndarray | int) -> np.ndarray:
        """Return the number of states of each thread before a time, plus the states of all threads before it."""
        return np.searchsorted(self._places, self._place(thread, time), "left")

    def until(self, thread: np.ndarray, time: np.ndarray | int) -> np.ndarray:
        """Return the useful time before a time, in ns, plus the useful time of all threads before this one."""
        at = self._last(thread, time)
        if not len(self._thread):
            return np.zeros(len(at), np.int64)
        last = np.maximum(at - 1, 0)
        inside = (at > 0) & (self._thread[last] == thread)
        rest = np.clip(self._end[last] - time, 0, self._length[last])
        return self._sums[at] - np.where(inside, rest, 0)

    def runs_until(self, thread: np.ndarray, time: np.ndarray) -> np.ndarray:
        """Return a mask: True if the thread was Running immediately before the time."""
        at = self._last(thread, time)
        if not len(self._thread):
            return np.zeros(len(at), bool)
        last = np.maximum(at - 1, 0)
        return (at > 0) & (self._thread[last] == thread) & (self._end[last] >= time)


@dataclass(frozen=True)
class CounterTotals:
    """Sums of counters over the calls of each rank and the bursts before them, of shape (ranks, counters).

    If several sets of counters take turns, a counter is read in some bursts only. Then its sums are of these bursts.
    """

    counters: tuple[Counter, ...]
    useful: np.ndarray  # counts in bursts
    inside: np.ndarray  # counts in MPI calls
    bursts: np.ndarray  # number of bursts in which it was counted
    calls: np.ndarray  # (ranks,) number of calls
    instructions: np.ndarray  # (ranks,) in bursts in which both were counted (`useful_counts`)
    cycles: np.ndarray  # (ranks,)

    @property
    def ipc(self) -> float | None:
        """Return instructions per cycle in computing over all ranks. None: the two were not counted together."""
        return _ratio(self.instructions.sum(), self.cycles.sum())

    @property
    def ipc_by_rank(self) -> list[float | None]:
        """Return instructions per cycle in computing of each rank. None: the two were not counted together."""
        return [_ratio(i, c) for i, c in zip(self.instructions, self.cycles, strict=True)]

    def sums(self, name: str) -> tuple[int, int] | None:
        """Return the counts of the counter `name` in computing and in MPI, all ranks together.

        None: it is not in the trace.
        """
        found = [k for k, counter in enumerate(self.counters) if counter.name == name]
        return (int(self.useful[:, found[0]].sum()), int(self.inside[:, found[0]].sum())) if found else None


def _ratio(instructions: int, cycles: int) -> float | None:
    return float(instructions) / float(cycles) if cycles > 0 else None


def counted(trace: Trace, team: Team) -> CounterTotals:
    """Sum the counters of all ranks. Collective.

    In a trace without counters, the sums have no columns.
    """
    columns, rows = (trace.size, len(trace.extra(Counters).known)), (trace.size,)
    known, (useful, inside, bursts) = trace.extra(Counters).known, (np.zeros(columns, np.int64) for _ in range(3))
    calls = np.zeros(rows, np.int64)
    for rank in trace.share(team) if known else ():
        for block in trace.extra(Counters).counts(rank):
            for total, part in ((useful, block.burst), (inside, block.inside)):
                total[rank] += np.where(part == UNKNOWN, 0, part).sum(axis=0)
            bursts[rank] += (block.burst != UNKNOWN).sum(axis=0)
            calls[rank] += len(block.calls)
    totals = [np.sum(parts, axis=0) for parts in zip(*team.allgather([useful, inside, bursts, calls]), strict=True)]
    both = useful_counts(trace, team)
    sums = dict(zip(("useful", "inside", "bursts", "calls"), totals, strict=True))
    return CounterTotals(known, instructions=both.instructions_by_rank, cycles=both.cycles_by_rank, **sums)
