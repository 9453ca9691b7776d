"""Threads of a rank that call MPI, and where each begins and ends in the course of the main thread.

A trace has the first and the last time of each thread, but not which thread created it or waited for it. So the main
thread (0) begins all others here, and goes on after they end. Semaphores of the rank express this: thread t begins with
semaphore t and ends with semaphore 65536 + t.
"""

from __future__ import annotations

from functools import cache
from itertools import pairwise

import numpy as np

from analyzer._kernels import lib
from analyzer.metrics.regions import lost_times
from analyzer.operations.events import PROGRAM_EVENT
from analyzer.operations.procedures import GLOBAL, GLOBAL_INIT, GLOBAL_START
from analyzer.pairing.requests import window_calls, windows_of_rank
from analyzer.trace import CALL, Regions, Trace

_SIGNAL, _WAIT = lib.PROGRAM_SIGNAL, lib.PROGRAM_WAIT
"""Types of a PROGRAM_EVENT that signals a semaphore, and that waits for a semaphore."""
_ENDS = 1 << 16
_NEVER = np.iinfo(np.int64).max


class CallingThreads:
    """Threads of one rank that call MPI.

    count: number of threads; 1 if only one thread calls MPI, whatever its number. by_turns: see `_Lives.by_turns`.
    """

    def __init__(self, begin: np.ndarray, end: np.ndarray, edges: np.ndarray, by_turns: np.ndarray | None) -> None:
        self.count = len(begin)
        self.begin, self.by_turns = begin, by_turns
        self._end, self._edges = end, edges

    @classmethod
    @cache
    def single(cls) -> CallingThreads:
        """Return the one thread of a rank that is one sequence of calls."""
        return cls(np.zeros(1, np.int64), np.zeros(1, np.int64), np.zeros(0, PROGRAM_EVENT), None)

    @classmethod
    def from_trace(cls, trace: Trace, rank: int, plan: np.ndarray) -> CallingThreads:
        """Find the threads of a rank that call MPI.

        Args:
            trace: The trace.
            rank: The rank.
            plan: Kind and flag of the operation of each procedure (`plan_of`), of shape (procedures, 2).
        """
        if trace.threads[rank] < 2:
            return cls.single()
        windows = windows_of_rank(trace, rank)
        found = _Lives(len(trace.communicators) + 1)
        for begin, end in pairwise(windows.tolist()):
            calls = window_calls(trace, rank, begin, end)
            found.add(calls, np.isin(plan[calls["call"], 0], (GLOBAL, GLOBAL_START, GLOBAL_INIT)))
        if len(found.first) < 2:
            return cls.single()
        for rows, time in (
            (trace.extra(Regions).marks(rank), "time"),
            (trace.extra(Regions).events(rank), "time"),
            (lost_times(trace, rank), "end"),
        ):
            found.say(rows["thread"], rows[time])
        goes_on = _first_calls_after(trace, rank, windows, found.last)
        return cls(found.begin, found.last, _edges(found.begin, found.last, goes_on), found.by_turns)

    def split(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Sort rows by thread. Within a thread their order stays.

        Returns:
            The rows, and the index of the first row of each thread, int64 of shape (count + 1,).
        """
        if self.count == 1:
            return rows, np.array([0, len(rows)], np.int64)
        thread = rows["thread"].clip(0, self.count - 1)
        order = np.argsort(thread, kind="stable")
        return rows[order], np.searchsorted(thread[order], np.arange(self.count + 1)).astype(np.int64)

    def edges(self, window: tuple[int, int]) -> np.ndarray:
        """Return the semaphores (PROGRAM_EVENT) of a window.

        They stand where threads begin, and where the main thread goes on after them.
        """
        if not len(self._edges):
            return self._edges
        return self._edges[(self._edges["time"] >= window[0]) & (self._edges["time"] < window[1])]

    def last_calls(self, end: int, nothing: int) -> np.ndarray:
        """Return a call (CALL) without length at the end of each thread, so that its last burst lasts until there.

        Args:
            end: End of the main thread, ns.
            nothing: Index of a procedure that becomes no operation.
        """
        calls = np.zeros(self.count, CALL)
        calls["enter"] = calls["exit"] = np.concatenate([[end], self._end[1:]])
        calls["call"], calls["thread"] = nothing, np.arange(self.count)
        return calls


class _Lives:
    """First and last time of each thread, collected window by window, and the time at which the main thread begins it.

    The main thread begins a thread while it computes. If a thread is first seen during a call of the main thread, it
    begins before that call.
    """

    def __init__(self, communicators: int) -> None:
        self.first = self.last = self.begin = np.zeros(0, np.int64)
        self._user = np.full(communicators, -1, np.int64)  # thread whose collectives of each there were
        self._several = np.zeros(communicators, np.int8)
        self._call = np.zeros(1, CALL)  # the main thread's last

    def add(self, calls: np.ndarray, collective: np.ndarray) -> None:
        """Take in the next calls of the rank. `collective` is a mask of the calls that are collectives."""
        if not len(calls):
            return
        threads = calls["thread"]
        known, count = len(self.first), max(len(self.first), int(threads.max()) + 1)
        self.first = np.concatenate([self.first, np.full(count - known, _NEVER)])
        self.last = np.concatenate([self.last, np.zeros(count - known, np.int64)])
        self.begin = np.concatenate([self.begin, np.full(count - known, _NEVER)])
        new = np.unique(threads, return_index=True)
        main = np.concatenate([self._call, calls[threads == 0]])
        for thread, at in zip(*(a.tolist() for a in new), strict=True):
            if self.first[thread] == _NEVER:
                self.first[thread] = enter = calls["enter"][at]
                around = main[np.searchsorted(main["enter"], enter, "right") - 1]
                self.begin[thread] = around["enter"] if around["exit"] > enter else enter
        np.maximum.at(self.last, threads, calls["exit"])
        self._call = main[-1:]
        self._see(calls["comm"][collective] + 1, threads[collective])

    def say(self, threads: np.ndarray, times: np.ndarray) -> None:
        """Take in other times (ns) of threads that call MPI: of regions, events of the program, and flushes."""
        calls = threads < len(self.first)
        calls[calls] = self.first[threads[calls]] < _NEVER
        np.maximum.at(self.last, threads[calls], times[calls])

    def _see(self, comms: np.ndarray, threads: np.ndarray) -> None:
        pairs = np.unique(comms.astype(np.int64) << 32 | threads)
        for comm, thread in zip((pairs >> 32).tolist(), (pairs & 0xFFFFFFFF).tolist(), strict=True):
            self._several[comm] |= self._user[comm] not in (-1, thread)
            self._user[comm] = thread

    @property
    def by_turns(self) -> np.ndarray:
        """int8 of shape (communicators + 1,): 1 if several threads call collectives of the communicator."""
        return self._several


def _first_calls_after(trace: Trace, rank: int, windows: np.ndarray, times: np.ndarray) -> np.ndarray:
    """Return for each time (ns) the entry of the main thread's first call at or after that time."""
    found = np.full(len(times), _NEVER)
    for begin, end in pairwise(windows.tolist()):
        if not (pending := (found == _NEVER) & (times < end)).any():
            continue
        calls = window_calls(trace, rank, begin, end)
        entered = np.append(calls["enter"][calls["thread"] == 0], _NEVER)
        found[pending] = entered[np.searchsorted(entered, times[pending])]
    return found


def _edges(begin: np.ndarray, end: np.ndarray, goes_on: np.ndarray) -> np.ndarray:
    """Return the semaphores (PROGRAM_EVENT) in order of time.

    The main thread does not wait for a thread that outlives it.
    """
    rows = []
    for t in range(1, len(begin)):
        if begin[t] == _NEVER:
            continue
        rows += [(begin[t], _SIGNAL, t, -1, 0), (begin[t], _WAIT, t, -1, t), (end[t], _SIGNAL, _ENDS + t, -1, t)]
        if goes_on[t] != _NEVER:
            rows.append((goes_on[t], _WAIT, _ENDS + t, -1, 0))
    return np.array(sorted(rows, key=lambda row: (row[0], -row[1])), PROGRAM_EVENT)
