"""What a thread does at a time, as one number: computation in a region, a call, or what is not the program's."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analyzer.critical.timeline import JOINED, LOST, NO_CPU, Timeline
from analyzer.paraver import CLOCKS, base_name
from analyzer.trace import Trace

COMPUTATION, CALL, LOST_TIME, LAUNCH, THREADS, CPU_WAIT = "computation", "call", "lost", "launch", "threads", "cpu"
"""Kinds of functions: outside MPI, an MPI call, flushes and times in which nothing was recorded, before the process, a
main thread's waiting for others, a predicted thread's for a CPU."""


@dataclass(frozen=True)
class Function:
    """Its kind, and the name of the region (computation; "": in no region) or of the procedure."""

    kind: str
    name: str = ""


class Functions:
    """All functions of a trace by their number, and those of nodes."""

    def __init__(self, trace: Trace) -> None:
        computation = [Function(COMPUTATION, name) for name in ("", *trace.region_names)]
        calls = [Function(CALL, name) for name in trace.procedures]
        others = (Function(kind) for kind in (LOST_TIME, LAUNCH, THREADS, CPU_WAIT))
        self.every = (*computation, *calls, *others)
        self._first_call, self._lost = len(computation), len(computation) + len(calls)
        self._clocks = np.flatnonzero([base_name(name) in CLOCKS for name in trace.procedures])

    def of_nodes(self, nodes: Timeline, chosen: slice) -> np.ndarray:
        """What a thread does from the entry of each node to its exit; points in time may have any number. Looks at the
        clock are computation."""
        call = nodes.call[chosen]
        looks = np.isin(call, self._clocks)
        found = np.where(looks, nodes.region[chosen] + 1, self._first_call + call.astype(np.int64))
        for special, after in ((LOST, 0), (JOINED, 2), (NO_CPU, 3)):
            found[call == special] = self._lost + after
        return found

    def before_nodes(self, nodes: Timeline, thread: int, chosen: slice) -> np.ndarray:
        """What it does between the exit of the node before and the entry of each."""
        found = nodes.region[chosen].astype(np.int64) + 1
        if chosen.start == nodes.offsets[thread]:
            found[:1] = self._lost + 1
        return found
