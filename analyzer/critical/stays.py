"""The longest stays of the critical path on one thread: where to look in a timeline."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass

import numpy as np

from analyzer.critical.by_place import Whereabouts
from analyzer.critical.did import did_in
from analyzer.critical.functions import CALL, COMPUTATION, Function, Functions
from analyzer.critical.path import CriticalPath
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
    place: str = ""
    """Where it mostly does that: "at exchange.c:212 in exchange"; empty: not known."""


_AROUND = 64
"""Nodes that are looked at before and after a stay for the calls around it."""


def longest_stays(trace: Trace, path: CriticalPath, most: int) -> list[Stay]:
    """At most so many, the longest first; those of no length do not count."""
    segments = path.segments[path.segments["end"] > path.segments["begin"]]
    order = np.argsort(segments["begin"] - segments["end"], kind="stable")[:most]
    functions, where = Functions(trace), Whereabouts(trace)
    return [_stay(path, functions, where, *row) for row in segments[order].tolist()]


def _stay(path: CriticalPath, functions: Functions, where: Whereabouts, begin: int, end: int, thread: int) -> Stay:
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
    stream, does = (int(nodes.rank[thread]), int(nodes.thread[thread])), functions.every[most]
    place = ""
    if does.kind in (CALL, COMPUTATION):
        computes = does.kind == COMPUTATION
        low, high = times[1:3] if computes else times[2:4]
        ns = np.where((did.ahead if computes else did.inside) == most, high - low, 0)
        ahead = min(first, _AROUND)
        rows = whole[first - ahead : first + len(near) + _AROUND]
        place = where.mostly(rows, slice(ahead, ahead + len(near)), ns, stream, computes=computes)
    return Stay(begin, end, *stream, does, int(sums[most]), place)
