"""The longest stays of the critical path on one thread: where to look in a timeline."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass

import numpy as np

from analyzer.critical.functions import Function, Functions
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


def longest_stays(trace: Trace, path: CriticalPath, most: int) -> list[Stay]:
    """At most so many, the longest first; those of no length do not count."""
    segments = path.segments[path.segments["end"] > path.segments["begin"]]
    order = np.argsort(segments["begin"] - segments["end"], kind="stable")[:most]
    functions = Functions(trace)
    return [_stay(path, functions, *row) for row in segments[order].tolist()]


def _stay(path: CriticalPath, functions: Functions, begin: int, end: int, thread: int) -> Stay:
    nodes = path.nodes
    own = nodes.of(thread)
    first = own.start + bisect_left(nodes.exit[own], begin)
    last = own.start + bisect_left(nodes.enter[own], end)
    near = slice(first, min(last + 1, own.stop))
    enter, exit_ = nodes.enter[near].clip(begin, end), nodes.exit[near].clip(begin, end)
    sums = np.zeros(len(functions.every), np.int64)
    np.add.at(sums, functions.of_nodes(nodes, near), exit_ - enter)
    np.add.at(sums, functions.before_nodes(nodes, thread, near), enter - np.concatenate([[begin], exit_[:-1]]))
    most = int(np.argmax(sums))
    return Stay(begin, end, int(nodes.rank[thread]), int(nodes.thread[thread]), functions.every[most], int(sums[most]))
