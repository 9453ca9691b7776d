"""Converts the rows of several threads in a window of time to records of the trace, by the kernels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from analyzer._kernels import lib
from analyzer.c_arrays import pointer
from analyzer.recording.thread_records.thread import ThreadRecords
from analyzer.trace import ACCESS, CALL, ERROR, EVENT, STATE
from analyzer.trace.region_labels import region_events
from tracelib.schema import ACCESS_HAS_GROUP, ERROR_TYPE
from tracelib.schema import REQUEST as RAW_REQUEST


class Runs(NamedTuple):
    """Sorted sequences of records, usually one for each thread.

    Sequence k is records[offsets[k]:offsets[k+1]]. `offsets` is int64 of shape (sequences + 1,).
    """

    records: np.ndarray
    offsets: np.ndarray

    def merged(self) -> np.ndarray:
        """Return all records in order of time, as a new array. At equal times the order is by sequence."""
        return self.records.copy() if np.count_nonzero(np.diff(self.offsets)) < 2 else merge_runs(*self)


def joined(parts: Sequence[Runs]) -> Runs:
    """Concatenate several groups of sequences."""
    if len(parts) == 1:
        return parts[0]
    lengths = np.concatenate([np.zeros(1, np.int64), *(np.diff(part.offsets) for part in parts)])
    return Runs(np.concatenate([part.records for part in parts]), np.cumsum(lengths))


def merge_runs(records: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """Merge sorted sequences of records into one.

    Args:
        records: All records; each sequence is in order of the first column.
        offsets: Sequence k is records[offsets[k]:offsets[k+1]].

    Returns:
        The records in order of the first column; at equal values in order of k.
    """
    merged = np.empty_like(records)
    runs = len(offsets) - 1
    if lib.lane_merge(pointer(records), pointer(offsets, "int64_t *"), runs, records.itemsize, pointer(merged)) < 0:
        raise MemoryError
    return merged


class Buffer:
    """Buffer in which the kernels write sorted sequences of records, one after the other."""

    def __init__(self, dtype: np.dtype, room: int) -> None:
        self._records = np.empty(room, dtype)
        self._offsets = [0]

    def tail(self) -> Any:
        """Return a C pointer to the place of the next sequence."""
        return pointer(self._records[self._offsets[-1] :])

    def wrote(self, count: int) -> None:
        """End the sequence that was written last, which has `count` records."""
        self._offsets.append(self._offsets[-1] + int(count))

    def runs(self) -> Runs:
        """Return the sequences that were written."""
        return Runs(self._records[: self._offsets[-1]], np.array(self._offsets, np.int64))


def states(lanes: Sequence[ThreadRecords], begin: int, end: int) -> Runs:
    """Return the states (STATE) that begin in [begin, end) ns, one sorted sequence for each thread."""
    inputs = []
    for lane in lanes:
        flushes = lane.not_the_programs
        near = np.searchsorted(flushes["end"], begin - 1 - lane.overhead), np.searchsorted(flushes["begin"], end) + 1
        first = begin - 1 - lane.overhead
        calls, polls = lane.rows("calls", first, end, around=1), lane.folded(first, end, around=1)
        inputs.append((lane, calls, polls, flushes[near[0] : near[1]]))
    buffer = Buffer(STATE, sum(3 * (len(c) + len(p) + len(f)) + 3 for _, c, p, f in inputs))
    for lane, *rows in inputs:
        buffer.wrote(lib.expand_states(lane.struct, *_counted(rows), begin, end, buffer.tail()))
    return buffer.runs()


def events(lanes: Sequence[ThreadRecords], begin: int, end: int) -> Runs:
    """Return the events (EVENT) with time in [begin, end) ns, one sorted sequence for each thread."""
    inputs = []
    for lane in lanes:
        calls, polls = lane.rows("calls", begin, end, around=1), lane.folded(begin, end, around=1)
        events, accesses = shown_events(lane, begin, end), lane.accesses(begin, end, around=1)
        inputs.append((lane, calls, polls, events, accesses))
    buffer = Buffer(EVENT, sum(6 * len(c) + 2 * len(p) + len(e) + 2 for _, c, p, e, _ in inputs))
    for lane, *rows in inputs:
        buffer.wrote(lib.expand_events(lane.struct, *_counted(rows), begin, end, buffer.tail()))
    return buffer.runs()


def shown_events(lane: ThreadRecords, begin: int, end: int) -> np.ndarray:
    """Return raw events as a .prv shows them, with the events that represent summed calls."""
    rows = region_events(lane.event_rows(begin, end))
    if lane.burst_mode is None:
        return rows
    rows = np.concatenate([rows, lane.burst_mode.rows(lane.clock.ticks(begin), lane.clock.ticks(end))])
    return rows[np.argsort(rows["time"], kind="stable")]


def calls(lanes: Sequence[ThreadRecords], begin: int, end: int) -> np.ndarray:
    """Return the calls and folded polls (CALL) that are entered in [begin, end) ns, in order of (enter, thread)."""
    if len(lanes) == 1:
        return _calls_of(lanes[0], begin, end)
    inputs = [(lane, lane.rows("calls", begin, end), lane.folded(begin, end)) for lane in lanes]
    buffer = Buffer(CALL, sum(len(c) + len(p) for _, c, p in inputs))
    for lane, *rows in inputs:
        buffer.wrote(lib.expand_calls(lane.struct, *_counted(rows), buffer.tail()))
    return buffer.runs().merged()


def _calls_of(lane: ThreadRecords, begin: int, end: int) -> np.ndarray:
    rows, polls = lane.rows("calls", begin, end), lane.folded(begin, end)
    found = np.empty(len(rows) + len(polls), CALL)
    lib.expand_calls(lane.struct, *_counted((rows, polls)), pointer(found))
    return found


_ENTERED_PATH = np.dtype([("enter", "<i8"), ("path", "<i8")])


def paths(lanes: Sequence[ThreadRecords], begin: int, end: int) -> np.ndarray:
    """Return for each call that `calls` returns its row in the table `paths`."""
    if len(lanes) == 1:
        return lanes[0].paths(begin, end)
    found = [np.zeros(0, _ENTERED_PATH)]
    for lane in lanes:
        of_lane = np.zeros(len(rows := lane.paths(begin, end)), _ENTERED_PATH)
        of_lane["enter"], of_lane["path"] = _calls_of(lane, begin, end)["enter"], rows
        found.append(of_lane)
    offsets = np.cumsum([len(rows) for rows in found])
    return merge_runs(np.concatenate(found), offsets.astype(np.int64))["path"]


def accesses(lane: ThreadRecords, begin: int, end: int) -> np.ndarray:
    """Return the accesses to RMA windows and files (ACCESS) that are entered in [begin, end) ns, in order of enter."""
    rows = lane.accesses(begin, end)
    found = np.zeros(len(rows), ACCESS)
    raw = np.zeros(len(rows), RAW_REQUEST)
    raw["posted"] = rows["enter"]
    found["enter"] = lane.requests(raw)["posted"]
    has_group = rows["detail"] & ACCESS_HAS_GROUP > 0
    found["group"] = np.where(has_group, rows["offset"], 0)
    found["offset"] = np.where(has_group, -1, rows["offset"])
    found["detail"] = rows["detail"] & ~np.uint16(ACCESS_HAS_GROUP)
    found["object"], found["thread"] = lane.object_index(rows["object"]), lane.thread
    return found


def errors(lane: ThreadRecords) -> np.ndarray:
    """Return the errors (ERROR) of a thread in order of time. An error belongs to the last call entered before it."""
    found = []
    for block in lane.tables["events"].scan():
        for row in block[block["type"] == ERROR_TYPE]:
            calls = lane.tables["calls"].window(int(row["time"]), int(row["time"]), 1)
            calls = calls[calls["enter"] <= row["time"]]
            call = lane.procedure_index(int(calls["call"][-1])) if len(calls) else -1
            found.append((lane.clock.ns(int(row["time"])), int(row["value"]), call, lane.thread))
    return np.array(found, ERROR)


def requests(lane: ThreadRecords, begin: int, end: int) -> np.ndarray:
    """Return the requests (REQUEST) completed in [begin, end) ns, in order of the file.

    A request without a completion counts at its posting.
    """
    return lane.requests(lane.rows("requests", begin, end))


def _counted(tables: Sequence[np.ndarray]) -> list[Any]:
    """Return address and number of rows of each table, as the arguments of a kernel."""
    return [item for table in tables for item in (pointer(table), len(table))]
