"""Numbers of the activities of threads (computing in a region, calls, the tracer, ...), and what each thread did when.

Also sums how much of the critical path lies before any time of a thread.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from analyzer.critical.thread_nodes import JOINED, NO_CPU, NODE, NOT_RECORDED, OF_TRACER
from analyzer.trace import Regions, Trace

COMPUTATION, CALL, TRACER, UNRECORDED = "computation", "call", "tracer", "unrecorded"
LAUNCH, THREADS, CPU_WAIT = "launch", "threads", "cpu"
"""Kinds of activities.

COMPUTATION: computing. CALL: an MPI call. TRACER: the tracer's own time. UNRECORDED: time in which nothing was
recorded. LAUNCH: time before the process began. THREADS: a main thread waits for others. CPU_WAIT: a predicted thread
waits for a CPU.
"""


@dataclass(frozen=True)
class ThreadActivity:
    """Activity of a thread.

    Attributes:
        kind: COMPUTATION, CALL, TRACER, ...
        name: Region of COMPUTATION ("": in no region), procedure of CALL, else "".
    """

    kind: str
    name: str = ""


class ThreadActivities:
    """All activities of a trace, by number (`every`), and the translation of nodes into these numbers."""

    def __init__(self, trace: Trace) -> None:
        computation = [ThreadActivity(COMPUTATION, name) for name in ("", *trace.extra(Regions).names)]
        calls = [ThreadActivity(CALL, name) for name in trace.procedures]
        kinds = TRACER, UNRECORDED, LAUNCH, THREADS, CPU_WAIT
        self.every = (*computation, *calls, *map(ThreadActivity, kinds))
        self._first_call, self.calls = len(computation), len(calls)
        first = len(computation) + len(calls)
        self.tracer, unrecorded, self.launch, threads, cpu_wait = range(first, first + len(kinds))
        self._special = {OF_TRACER: self.tracer, NOT_RECORDED: unrecorded, JOINED: threads, NO_CPU: cpu_wait}

    def of_nodes(self, rows: np.ndarray) -> np.ndarray:
        """Return the number of the activity between entry and exit of each node (NODE).

        For points in time it has no meaning.
        """
        call = rows["call"]
        found = self._first_call + call.astype(np.int64)
        for special, number in self._special.items():
            found[call == special] = number
        return found

    def of_calls(self, calls: range) -> np.ndarray:
        """Return the number (int32) of the activity for each value of `call` in NODE."""
        rows = np.zeros(len(calls), NODE)
        rows["call"] = calls
        return self.of_nodes(rows).astype(np.int32)

    def before_nodes(self, rows: np.ndarray) -> np.ndarray:
        """Return the number of the activity before the entry of each node (NODE): computing in a region."""
        return rows["region"].astype(np.int64) + 1


_NODES_AT_ONCE = 1 << 16
"""Number of nodes that are processed at a time, so that their columns stay in the cache."""


@dataclass(frozen=True)
class NodeActivities:
    """Activities of one thread around each of its nodes. Arrays have one element for each node; times are int64 ns.

    In [begin, held) the tracer held the thread. In [held, enter) the thread did activity `ahead`, in [enter, exit)
    activity `inside` (numbers of ThreadActivities).
    """

    begin: np.ndarray
    held: np.ndarray
    enter: np.ndarray
    exit: np.ndarray
    ahead: np.ndarray
    inside: np.ndarray


def activities_in(functions: ThreadActivities, rows: np.ndarray, begin: int, held: int) -> NodeActivities:
    """Find the activities of a thread around its nodes.

    Args:
        functions: The activities of the trace.
        rows: Nodes of the thread (NODE), in order.
        begin: Begin of the first activity, ns.
        held: Time until which the tracer holds the thread at the begin, ns.
    """
    enter, exit_ = rows["enter"], rows["exit"]
    begins = np.append(begin, exit_[:-1])
    until = np.maximum.accumulate(np.append(held, (exit_ + rows["tracer"])[:-1]))
    return NodeActivities(
        begins, np.clip(until, begins, np.maximum(enter, begins)), enter, exit_,
        functions.before_nodes(rows), functions.of_nodes(rows),
    )  # fmt: skip


def pieces_of(functions: ThreadActivities, whole: np.ndarray, begin: int) -> Iterator[tuple[int, NodeActivities]]:
    """Yield the activities of a thread piece by piece, each with the index of the first node of the piece.

    Args:
        functions: The activities of the trace.
        whole: All nodes of the thread (NODE).
        begin: Begin of the first activity, ns. Time before the first node is LAUNCH.
    """
    held = begin
    for first in range(0, len(whole), _NODES_AT_ONCE):
        rows = whole[first : first + _NODES_AT_ONCE]
        did = activities_in(functions, rows, begin, held)
        if first == 0:
            did.ahead[:1] = functions.launch
        yield first, did
        begin, held = int(rows["exit"][-1]), max(held, int((rows["exit"] + rows["tracer"]).max()))


class PathTimeBefore:
    """Sums of the time that the critical path spends on one thread, up to any time."""

    def __init__(self, segments: np.ndarray) -> None:
        self._begin = segments["begin"]
        self._length = segments["end"] - segments["begin"]
        self._sums = np.concatenate([[0], np.cumsum(self._length)])

    @property
    def total(self) -> int:
        return int(self._sums[-1])

    def until(self, times: np.ndarray) -> np.ndarray:
        """Return the ns of the path on this thread before each time (ns).

        Times may lie outside all stays of the path.
        """
        if not len(self._begin):
            return np.zeros(len(times), np.int64)
        at = np.searchsorted(self._begin, times, "right") - 1
        last = at.clip(min=0)
        return np.where(at < 0, 0, self._sums[last] + np.minimum(times - self._begin[last], self._length[last]))
