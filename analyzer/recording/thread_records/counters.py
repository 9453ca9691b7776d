"""Counters of tracelib's own runs: readings at calls, and counts between two calls."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from analyzer._kernels import lib
from analyzer.c_arrays import pointer
from analyzer.recording.thread_records.count_table import counted_since
from analyzer.recording.thread_records.thread import ThreadRecords
from analyzer.trace import CALL, EVENT, UNKNOWN, Counter, Counts, Samples
from tracelib import schema


def counts(lanes: Sequence[ThreadRecords], counters: Sequence[Counter], begin: int, end: int) -> Counts:
    """Return the calls and folded polls of a rank that are entered in [begin, end) ns, with their counts.

    The order is that of `Trace.calls`.
    """
    calls, readings = [np.zeros(0, CALL)], [np.zeros((3, 0, len(counters)), np.int64)]
    for lane in lanes:
        rows, polls = lane.rows("calls", begin, end), lane.folded(begin, end)
        calls.append(_records(lane, rows, polls))
        mine = np.full((3, len(rows) + len(polls), len(counters)), UNKNOWN)
        if lane.counts is not None:
            first = lane.tables["calls"].find(lane.clock.ticks(begin))
            place = np.arange(len(rows)) + np.searchsorted(polls["enter"], rows["enter"], side="right")
            mine[:, place] = lane.counts.between(first, first + len(rows))
        readings.append(mine)
    merged, values = np.concatenate(calls), np.concatenate(readings, axis=1)
    order = np.argsort(merged["enter"], kind="stable")
    enter, exit, burst = values[:, order]
    return Counts(merged[order], enter, exit, burst)


def _records(lane: ThreadRecords, calls: np.ndarray, polls: np.ndarray) -> np.ndarray:
    found = np.empty(len(calls) + len(polls), CALL)
    lib.expand_calls(lane.struct, pointer(calls), len(calls), pointer(polls), len(polls), pointer(found))
    return found


def _between_samples(
    samples: Samples, enters: np.ndarray, enter: np.ndarray, exit: np.ndarray, burst: np.ndarray, whole: Sequence[bool]
) -> tuple[np.ndarray, np.ndarray]:
    """Return for each sample the counts since the sample or exit before it, and for each entry the same."""
    counted, left = np.full_like(samples.values, UNKNOWN), burst.copy()
    behind = exit[-1:] if len(exit) else np.where(whole, 0, UNKNOWN)[None, :]
    since = np.concatenate([np.where(burst == UNKNOWN, UNKNOWN, enter - burst), behind])  # where each burst begins
    next_call = np.searchsorted(enters, samples.time, side="right")
    for column in range(samples.values.shape[1]):
        read = np.flatnonzero(samples.values[:, column] != UNKNOWN)
        if not len(read):
            continue
        value, call = samples.values[read, column], next_call[read]
        same = call[1:] == call[:-1]
        before = np.where(np.append(False, same), np.append(0, value[:-1]), since[call, column])
        counted[read, column] = counted_since(value, before)
        last = np.append(~same, True) & (call < len(enter))
        left[call[last], column] = counted_since(enter[call[last], column], value[last])
    return counted, left


def counter_events(lane: ThreadRecords, counters: Sequence[Counter], begin: int, end: int) -> np.ndarray:
    """Return events (EVENT) in [begin, end) ns: at each entry, exit and sample, the counts since the one before.

    Extrae writes counters in the same way. Unknown counts give no event.
    """
    rows = lane.rows("calls", begin, end, around=1)
    first = max(lane.tables["calls"].find(lane.clock.ticks(begin)) - 1, 0)
    if lane.counts is None or lane.samples is None:
        return np.zeros(0, EVENT)
    enter, exit, burst = lane.counts.between(first, first + len(rows))
    calls = _records(lane, rows, np.zeros(0, schema.POLL))
    samples = lane.samples.between(lane.samples.previous(begin), end)
    sampled, burst = _between_samples(samples, calls["enter"], enter, exit, burst, [c.whole for c in counters])
    times = np.maximum.accumulate(np.stack([calls["enter"], calls["exit"]], axis=1).ravel())
    times = np.concatenate([times, samples.time])
    counted = np.stack([burst, counted_since(exit, enter)], axis=1).reshape(-1, len(counters))
    values = np.concatenate([counted, sampled])
    events = np.zeros(values.shape, EVENT)
    events["time"], events["value"] = times[:, None], values
    events["type"] = [counter.type for counter in counters]
    events["rank"], events["thread"], events["cpu"] = lane.rank, lane.thread, lane.cpu
    wanted = (values != UNKNOWN) & ((times >= begin) & (times < end))[:, None]
    return events[wanted]
