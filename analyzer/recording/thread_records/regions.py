"""Events of one thread in any window of time, with well nested regions: each end has its begin."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from analyzer._kernels import ffi, lib
from analyzer.c_arrays import pointer
from analyzer.recording.rank_file.clock import Clock
from analyzer.recording.rank_file.thread_table import ThreadTable
from analyzer.trace import EVENT as TRACE_EVENT
from analyzer.trace import MARK, Mark
from analyzer.trace.region_labels import region_events
from tracelib.schema import EVENT, PARALLEL_TYPE, PARAMETER_TYPE, REGION_TYPE, TRACERS_TYPES

_NO_EVENTS = np.zeros(0, TRACE_EVENT)

ENDS, REAL = 2, 1 << 15
"""Values of the column `flags`: the end of a region, and the bit of a real (floating-point) parameter."""


class Regions:
    """Reader of a thread's events in which regions are well nested.

    It keeps the regions that are open at every `scan_rows`-th event, so that no window is read from the beginning.
    """

    def __init__(self, table: ThreadTable, numbers: tuple[np.ndarray, np.ndarray]) -> None:
        """Read all events once.

        Args:
            table: Table `events` of the thread.
            numbers: For the file's regions, and for its parameters, the numbers in the trace.
        """
        self._table, self._numbers = table, numbers
        self._counts = np.zeros(4, np.int64)
        self._open = [np.zeros(0, EVENT)]
        self.parameters: set[int] = set()  # `flags` of parameters that occur
        for block in table.scan():
            rows, open_ = self._nest(self._open[-1], block)
            self._open.append(open_)
            self.parameters |= set(rows["flags"][rows["type"] == PARAMETER_TYPE].tolist())
        self.without_begin, self.ended_by_outer, self.cut, _ = self._counts.tolist()

    @property
    def left_open(self) -> np.ndarray:
        """Begins (the schema's EVENT) of the regions that are open after the last event, the outermost first."""
        return self._open[-1]

    def rows(self, begin: int, end: int, stop: int) -> np.ndarray:
        """Return the thread's raw events with begin <= time < end, with well nested regions.

        Regions and parameters have the numbers of the trace.

        Args:
            begin: Begin, ticks.
            end: End, ticks.
            stop: Ticks at which regions end that are still open after the last event.
        """
        first, last = self._table.find(begin), self._table.find(end)
        step = self._table.sizes.scan_rows
        block = min(first // step, len(self._open) - 1)
        _, open_ = self._nest(self._open[block], self._table.read(block * step, first))
        rows, _ = self._nest(open_, self._table.read(first, last))
        if not begin <= stop < end:
            return rows
        ends = self.left_open[::-1].copy()
        ends["time"], ends["flags"] = stop, ENDS
        return np.concatenate([rows, ends])

    def _nest(self, open_: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the rows with well nested regions, and the regions that are open after them."""
        stack = np.zeros(len(open_) + len(rows), EVENT)
        stack[: len(open_)] = open_
        out = np.empty(len(open_) + 2 * len(rows), EVENT)
        depth = ffi.new("int64_t *", len(open_))
        maps = [item for n in self._numbers for item in (pointer(n, "int32_t *"), len(n))]
        rows = np.ascontiguousarray(rows)
        counts = pointer(self._counts, "int64_t *")
        written = lib.regions_nest(pointer(stack), depth, pointer(rows), len(rows), *maps, counts, pointer(out))
        return out[:written], stack[: depth[0]].copy()


def is_one_of(values: np.ndarray, few: Iterable[int]) -> np.ndarray:
    """Return a mask of the values that are in `few`. It is faster than np.isin for few values."""
    return np.logical_or.reduce([values == one for one in few])


def marks(rows: np.ndarray, thread: int, clock: Clock) -> np.ndarray:
    """Convert raw events with well nested regions to begins and ends of regions, and parameters (MARK)."""
    region, parameter = rows["type"] == REGION_TYPE, rows["type"] == PARAMETER_TYPE
    chosen = region | parameter | (rows["type"] == PARALLEL_TYPE)
    rows, region, parameter = rows[chosen], region[chosen], parameter[chosen]
    found = np.zeros(len(rows), MARK)
    found["time"], found["thread"], found["value"] = clock.times(rows["time"]), thread, rows["value"]
    found["number"] = np.where(region, rows["value"], rows["flags"] % REAL)
    of_parameter = np.where(rows["flags"] >= REAL, Mark.REAL, Mark.INTEGER)
    found["what"] = np.where(region, rows["flags"], np.where(parameter, of_parameter, Mark.PARALLEL))
    return found


def program_events(rows: np.ndarray, rank: int, thread: int, clock: Clock) -> np.ndarray:
    """Convert raw events with well nested regions to events (EVENT) of the trace, without the tracer's own events."""
    rows = region_events(rows[~is_one_of(rows["type"], TRACERS_TYPES)])
    if not len(rows):
        return _NO_EVENTS
    found = np.zeros(len(rows), TRACE_EVENT)
    found["time"], found["rank"], found["thread"] = clock.times(rows["time"]), rank, thread
    found["type"], found["value"] = rows["type"], rows["value"]
    return found


def problem(lanes: Iterable[Regions]) -> str:
    """Describe what is wrong with the regions of a rank's threads; "": nothing."""
    threads = list(lanes)
    counts = {
        "ended but never begun": sum(t.without_begin for t in threads),
        "ended only by the end of an outer one": sum(t.ended_by_outer for t in threads),
        "cut by the limit": sum(t.cut for t in threads),
        "open when its thread ended": sum(len(t.left_open) for t in threads),
    }
    parts = [f"{count} x {text}" for text, count in counts.items() if count]
    return "regions: " + ", ".join(parts) if parts else ""
