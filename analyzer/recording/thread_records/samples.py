"""Readings of counters outside calls: periodic samples of a thread, and readings at begins and ends of regions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from analyzer.recording.rank_file.clock import Clock
from analyzer.recording.rank_file.thread_table import ThreadTable
from analyzer.trace import UNKNOWN, Counter, Samples
from tracelib.schema import COUNTER_SET_TYPE, EVENT, MISSED_SAMPLES_TYPE, NATIVE_COUNTER_BASE, PAPI_PRESET_BASE

_NATIVE_COUNTERS = 1_000_000
_FIRST_SPAN_NS = 1 << 20


def is_reading(types: np.ndarray) -> np.ndarray:
    """Return a mask of the event types that are readings of counters."""
    last = NATIVE_COUNTER_BASE + 2 * _NATIVE_COUNTERS
    return (types >= PAPI_PRESET_BASE) & (types < last) & (types != COUNTER_SET_TYPE)


class RecordedThread(Protocol):
    """Interface of a thread (`ThreadRecords`) that this module uses."""

    clock: Clock
    thread: int
    start: int

    @property
    def unrecorded(self) -> np.ndarray:
        """Times in which nothing was recorded (FLUSH)."""

    def rows(self, table: str, begin: int, end: int) -> np.ndarray:
        """Return the raw rows of a table in [begin, end) ns."""


class ThreadSamples:
    """Readings of counters of one thread, outside calls."""

    def __init__(self, lane: RecordedThread, sampler: ThreadTable | None, counters: Sequence[Counter]) -> None:
        """Prepare reading.

        Args:
            lane: The thread.
            sampler: Periodic readings of all threads of the process. None: there are none.
            counters: Counters of the run.
        """
        self._lane, self._sampler = lane, sampler
        self._column = {counter.type: column for column, counter in enumerate(counters)}

    def between(self, begin: int, end: int) -> Samples:
        """Return the readings in [begin, end) ns, in order of time. Readings in gaps of recording are left out."""
        clock, thread = self._lane.clock, self._lane.thread
        own = self._lane.rows("events", begin, end)
        periodic = np.zeros(0, EVENT)
        if self._sampler is not None:
            periodic = self._sampler.window(clock.ticks(begin), clock.ticks(end))
            periodic = periodic[periodic["flags"] == thread]
        parts = [self._grouped(own), self._grouped(periodic)]
        at_region = np.repeat([True, False], [len(ticks) for ticks, _ in parts])
        ticks, values = (np.concatenate(columns) for columns in zip(*parts, strict=True))
        order = np.argsort(ticks, kind="stable")
        time = clock.times(ticks[order])
        recorded = ~self._in_gap(time)
        order, time = order[recorded], time[recorded]
        return Samples(time, np.full(len(time), thread), at_region[order], values[order])

    def previous(self, time: int) -> int:
        """Return the time of the last reading before `time` (ns); `time` itself if there is none."""
        span = _FIRST_SPAN_NS
        while True:
            found = self.between(time - span, time).time
            if len(found) or time - span <= self._lane.start:
                return int(found[-1]) if len(found) else time
            span *= 4

    def _grouped(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the ticks of each reading, and its values, one column for each counter.

        Rows of one time are one reading.
        """
        rows = rows[np.isin(rows["type"], list(self._column))]
        new = np.concatenate([[True], rows["time"][1:] != rows["time"][:-1]])[: len(rows)]
        values = np.full((int(new.sum()), len(self._column)), UNKNOWN)
        values[np.cumsum(new) - 1, [self._column[kind] for kind in rows["type"].tolist()]] = rows["value"]
        return rows["time"][new], values

    def _in_gap(self, time: np.ndarray) -> np.ndarray:
        gaps = self._lane.unrecorded
        at = np.searchsorted(gaps["begin"], time, side="right") - 1
        return (at >= 0) & (time < np.append(gaps["end"], 0)[at])


def taken_and_missed(sampler: ThreadTable | None) -> tuple[int, int]:
    """Return the numbers of periodic samples that a process took and that it missed."""
    taken = missed = 0
    latest = None
    for rows in sampler.scan() if sampler is not None else ():
        missed += int(rows["value"][rows["type"] == MISSED_SAMPLES_TYPE].sum())
        readings = rows[is_reading(rows["type"])][["time", "flags"]]
        if len(readings):
            taken += 1 + int((readings[1:] != readings[:-1]).sum()) - int(latest == readings[0])
            latest = readings[-1]
    return taken, missed
