"""The longest stays of the critical path on one thread: where to look in a timeline."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass

import numpy as np

from analyzer.critical.functions import Function, Functions
from analyzer.critical.path import CriticalPath
from analyzer.critical.shares import did_in
from analyzer.trace import Trace


@dataclass(frozen=True)
class Stay:
    """One stay, and the function that it mostly consists of."""

    begin_ns: int
    end_ns: int
    rank: int
    thread: int
    mostly: Function
    mostly_ns: int


def longest_stays(trace: Trace, path: CriticalPath, most: int) -> list[Stay]:
    """At most so many, the longest first; those of no length do not count."""
    segments = path.segments[path.segments["end"] > path.segments["begin"]]
    order = np.argsort(segments["begin"] - segments["end"], kind="stable")[:most]
    functions = Functions(trace)
    return [_stay(path, functions, *row) for row in segments[order].tolist()]


def _stay(path: CriticalPath, functions: Functions, begin: int, end: int, thread: int) -> Stay:
    nodes = path.nodes
    whole = nodes.whole(thread)
    # The row before the first one counts, too: the tracer may hold the thread after it.
    first = max(bisect_left(whole["exit"], begin) - 1, 0)
    near = whole[first : bisect_left(whole["enter"], end) + 1]
    did = did_in(functions, near, 0, 0) if first == 0 else did_in(functions, near, *near["enter"][[0, 0]].tolist())
    did.ahead[: int(first == 0)] = functions.launch
    times = [column.clip(begin, end) for column in (did.begin, did.held, did.enter, did.exit)]
    sums = np.zeros(len(functions.every), np.int64)
    for number, low, high in zip(
        (np.full(len(near), functions.tracer), did.ahead, did.inside), times, times[1:], strict=False
    ):
        np.add.at(sums, number, high - low)
    most = int(np.argmax(sums))
    return Stay(begin, end, int(nodes.rank[thread]), int(nodes.thread[thread]), functions.every[most], int(sums[most]))
