"""Nodes of threads that are no calls: begins and ends of regions, and times that are not the program's."""

from __future__ import annotations

import numpy as np

from analyzer._kernels import lib
from analyzer.critical.thread_nodes import JOINED, MARKED, NO_CPU, NODE, NOT_RECORDED, OF_TRACER
from analyzer.metrics.regions import lost_times
from analyzer.trace import CpuWaits, Mark, Regions, State, Trace


def marks_of(trace: Trace, rank: int) -> np.ndarray:
    """Return the begins and ends (MARK) of a rank's regions, without parameters."""
    marks = trace.extra(Regions).marks(rank)
    return marks[marks["what"] <= Mark.END] if len(marks) else marks


def lost_of(trace: Trace, rank: int) -> np.ndarray:
    """Return the times of a rank that are not the program's, and waits for a CPU in a prediction, by begin (FLUSH)."""
    rows, waits = lost_times(trace, rank), trace.extra(CpuWaits).of(rank)
    if not len(waits):
        return rows
    rows = np.concatenate([rows, waits])
    return rows[np.argsort(rows["begin"], kind="stable")]


def as_nodes(marks: np.ndarray, region: np.ndarray, lost: np.ndarray, joins: np.ndarray) -> np.ndarray:
    """Build nodes (NODE) of marks, then of lost times, then of waits for other threads.

    Args:
        marks: Begins and ends of regions (MARK).
        region: The innermost region after each mark, as from `innermost_after`.
        lost: Times that are not the program's (FLUSH).
        joins: Times in which a main thread waited for other threads to end (STAY).
    """
    others = np.zeros(len(marks) + len(lost) + len(joins), NODE)
    others["enter"] = np.concatenate([marks["time"], lost["begin"], joins["begin"]])
    others["exit"] = np.concatenate([marks["time"], lost["end"], joins["end"]])
    others["call"] = np.repeat([MARKED, OF_TRACER, JOINED], [len(marks), len(lost), len(joins)])
    of_lost = others["call"][len(marks) :][: len(lost)]
    of_lost[lost["state"] == State.SCHEDULING] = NO_CPU
    of_lost[lost["state"] == State.TRACING_DISABLED] = NOT_RECORDED
    others["region"] = lib.NODE_KEEPS_REGION
    others["region"][: len(marks)] = region
    return others


def innermost_after(marks: np.ndarray) -> np.ndarray:
    """Return the innermost region (index; -1: none) that a thread is in after each begin or end. Regions nest.

    Args:
        marks: Begins and ends of regions (MARK), thread by thread in order of recording.
    """
    is_begin = marks["what"] == Mark.BEGIN
    depth = np.cumsum(np.where(is_begin, 1, -1))
    begins = np.flatnonzero(is_begin)
    key = depth[begins] * np.int64(len(marks) + 1) + begins
    order = np.argsort(key)
    at = np.searchsorted(key[order], depth * np.int64(len(marks) + 1) + np.arange(len(marks)), "right") - 1
    if not len(begins):
        return np.full(len(marks), -1)
    region = marks["number"][begins[order[at.clip(min=0)]]] - 1
    return np.where((depth > 0) & (at >= 0), region, -1)
