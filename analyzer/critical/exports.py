"""The critical path as events for Paraver, and as changes of priority.

Source of events: "Dimemas specification", sections 1.11 and 1.16.1 (thesis, Table 7): events of type 90, 1 enters the
path, 0 leaves it.

Source of priorities, for policies that favour ranks on the path: "Dimemas specification", sections 1.10 (Critical Path)
and 1.11; section 8.1.2.2: a task is favoured from before the receive that brings it onto the path until it has sent
what takes the path elsewhere.
"""

from __future__ import annotations

import numpy as np

from analyzer.columns.sorted_runs import sort_rows
from analyzer.critical.path import CriticalPath
from analyzer.trace import EVENT, Trace
from analyzer.trace.annotated import Annotated
from analyzer.trace.paraver import EventType

PATH_TYPE = 90
"""Event type of the critical path in Paraver traces."""
_LABELS = {PATH_TYPE: ("Critical path", {0: "Not on the critical path", 1: "On the critical path"})}


class WithPath(Annotated):
    """Trace with the events of its critical path. `added`: these events (EVENT), in order of time."""

    def __init__(self, trace: Trace, added: np.ndarray) -> None:
        super().__init__(trace, _LABELS, lambda begin, end: added[slice(*np.searchsorted(added["time"], (begin, end)))])


def path_events(trace: Trace, path: CriticalPath) -> np.ndarray:
    """Build the events (EVENT) of the critical path, in order of time: 1 where it reaches a thread, 0 at the end.

    Stays of length 0, and the time before a process began, have no events.
    """
    nodes = path.nodes
    stays = path.segments[path.segments["end"] > path.segments["begin"]]
    goes_on = stays["thread"][1:] == stays["thread"][:-1]
    first, last = np.append(True, ~goes_on)[: len(stays)], np.append(~goes_on, True)[: len(stays)]
    found = np.zeros((int(first.sum()), 2), EVENT)
    thread = stays["thread"][first]
    found["time"][:, 0] = np.maximum(stays["begin"][first], nodes.enter[nodes.offsets[thread]])
    found["time"][:, 1] = stays["end"][last]
    found["value"][:, 0] = 1
    found["type"] = PATH_TYPE
    cpus = _cpus(trace, path)
    for column, values in (("rank", nodes.rank[thread]), ("thread", nodes.thread[thread]), ("cpu", cpus[thread])):
        found[column] = values[:, None]
    return sort_rows(found.ravel(), "time", "rank", "thread")


def _cpus(trace: Trace, path: CriticalPath) -> np.ndarray:
    """Return the CPU on which each thread is seen first, from 1; 0: unknown."""
    found = np.zeros(path.nodes.threads, np.int64)
    begin, end = trace.windows()[:2].tolist()
    states = trace.states(begin, end)[::-1]
    found[path.nodes.first_thread[states["rank"]] + states["thread"]] = states["cpu"]
    return found


CRITICAL = 0
"""Priority of a rank while it is on the critical path. A smaller number is favoured."""

OUTSIDE = CRITICAL + 1
"""Priority of a rank while it is off the critical path."""


def path_priorities(path: CriticalPath) -> np.ndarray:
    """Build the changes of the priorities of ranks (EVENT), in order of time.

    CRITICAL: when a rank enters the call in which it waits for the path to reach it. OUTSIDE: when it has left the call
    that hands the path on, and at the begin of each rank that is off the path then.
    """
    begins, ends, ranks = _favoured(path)
    known = np.setdiff1d(np.arange(len(path.nodes.first_thread)), ranks[begins <= 0])
    found = np.zeros(2 * len(begins) + len(known), EVENT)
    stay, over, start = np.split(found, [len(begins), 2 * len(begins)])
    stay["time"], stay["rank"], stay["value"] = begins, ranks, CRITICAL
    over["time"], over["rank"], over["value"] = ends, ranks, OUTSIDE
    start["rank"], start["value"] = known, OUTSIDE
    found["type"] = EventType.PRIORITY
    return sort_rows(found[found["time"] < path.length_ns], "time", "rank")


def _favoured(path: CriticalPath) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Find the times in which ranks are favoured. Times of one rank do not touch.

    Returns:
        Begin (ns), end (ns) and rank of each time.
    """
    nodes = path.nodes
    stays = path.segments[path.segments["end"] > path.segments["begin"]]
    rank, thread = nodes.rank[stays["thread"]], nodes.thread[stays["thread"]]
    waits, hands_on = (nodes.entered(rank, thread, stays[edge]) for edge in ("begin", "end"))
    begin = np.where(waits >= 0, nodes.enter[waits], stays["begin"])
    end = np.where(hands_on >= 0, nodes.exit[hands_on], stays["end"])
    apart = rank.astype(np.int64) * (path.length_ns + 1)  # keeps times of different ranks apart
    order = np.argsort(begin + apart, kind="stable")
    begin, end, rank, apart = begin[order], end[order], rank[order], apart[order]
    reached = np.maximum.accumulate(end + apart)
    first = np.flatnonzero(np.append(True, begin[1:] + apart[1:] > reached[:-1])[: len(rank)])
    last = np.append(first[1:], len(rank))[: len(first)] - 1
    return begin[first], reached[last] - apart[last], rank[first]
