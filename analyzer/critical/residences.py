"""The longest stays of the critical path on one thread, with their main activities: where to look in a timeline."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass

import numpy as np

from analyzer.critical.activities import CALL, COMPUTATION, ThreadActivities, ThreadActivity, activities_in
from analyzer.critical.by_place import ThreadPlaces
from analyzer.critical.path import CriticalPath
from analyzer.trace import Trace


@dataclass(frozen=True)
class Residence:
    """Stay of the critical path on one thread, and the activity that takes most of it. Times are in ns."""

    begin_ns: int
    end_ns: int
    rank: int
    thread: int
    mostly: ThreadActivity
    mostly_ns: int
    place: str = ""
    """Place where the thread is longest in that activity: "at exchange.c:212 in exchange"; empty: not known."""


_AROUND = 64
"""Number of nodes before and after a stay that are searched for the calls around it."""


def longest_residences(trace: Trace, path: CriticalPath, most: int) -> list[Residence]:
    """Return at most `most` stays of the path, the longest first. Stays of length 0 do not count."""
    segments = path.segments[path.segments["end"] > path.segments["begin"]]
    order = np.argsort(segments["begin"] - segments["end"], kind="stable")[:most]
    functions, where = ThreadActivities(trace), ThreadPlaces(trace)
    return [_stay(path, functions, where, *row) for row in segments[order].tolist()]


def _stay(
    path: CriticalPath, functions: ThreadActivities, where: ThreadPlaces, begin: int, end: int, thread: int
) -> Residence:
    nodes = path.nodes
    whole = nodes.whole(thread)
    # The row before the first one is needed: the tracer may hold the thread after it.
    first = max(bisect_left(whole["exit"], begin) - 1, 0)
    near = whole[first : bisect_left(whole["enter"], end) + 1]
    did = (
        activities_in(functions, near, 0, 0)
        if first == 0
        else activities_in(functions, near, *near["enter"][[0, 0]].tolist())
    )
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
    return Residence(begin, end, *stream, does, int(sums[most]), place)
