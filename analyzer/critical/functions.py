"""What a thread does at a time, as one number: computation in a region, a call, or what is not the program's."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analyzer.critical.timeline import JOINED, LOST, Timeline
from analyzer.trace import Trace

COMPUTATION, CALL, LOST_TIME, LAUNCH, THREADS = "computation", "call", "lost", "launch", "threads"
"""Kinds of functions: outside MPI, an MPI call, flushes and times in which nothing was recorded, before the process, a
main thread's waiting for others."""


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
        self.every = (*computation, *calls, Function(LOST_TIME), Function(LAUNCH), Function(THREADS))
        self._first_call, self._lost = len(computation), len(computation) + len(calls)

    def of_nodes(self, nodes: Timeline, chosen: slice) -> np.ndarray:
        """What a thread does from the entry of each node to its exit; points in time may have any number."""
        call = nodes.call[chosen]
        special = np.where(call == JOINED, self._lost + 2, self._lost)
        return np.where((call == LOST) | (call == JOINED), special, self._first_call + call)

    def before_nodes(self, nodes: Timeline, thread: int, chosen: slice) -> np.ndarray:
        """What it does between the exit of the node before and the entry of each."""
        found = nodes.region[chosen].astype(np.int64) + 1
        if chosen.start == nodes.offsets[thread]:
            found[:1] = self._lost + 1
        return found
