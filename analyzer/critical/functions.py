"""What a thread does at a time, as one number: computation in a region, a call, or what is not the program's."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analyzer.critical.timeline import JOINED, NO_CPU, NODE, NOT_RECORDED, OF_TRACER
from analyzer.trace import Regions, Trace

COMPUTATION, CALL, TRACER, UNRECORDED = "computation", "call", "tracer", "unrecorded"
LAUNCH, THREADS, CPU_WAIT = "launch", "threads", "cpu"
"""Kinds of functions: outside MPI, an MPI call, the tracer's own time, times in which nothing was recorded, before the
process, a main thread's waiting for others, a predicted thread's for a CPU."""


@dataclass(frozen=True)
class Function:
    """Its kind, and the name of the region (computation; "": in no region) or of the procedure."""

    kind: str
    name: str = ""


class Functions:
    """All functions of a trace by their number, and those of nodes."""

    def __init__(self, trace: Trace) -> None:
        computation = [Function(COMPUTATION, name) for name in ("", *trace.extra(Regions).names)]
        calls = [Function(CALL, name) for name in trace.procedures]
        kinds = TRACER, UNRECORDED, LAUNCH, THREADS, CPU_WAIT
        self.every = (*computation, *calls, *map(Function, kinds))
        self._first_call, self.calls = len(computation), len(calls)
        first = len(computation) + len(calls)
        self.tracer, unrecorded, self.launch, threads, cpu_wait = range(first, first + len(kinds))
        self._special = {OF_TRACER: self.tracer, NOT_RECORDED: unrecorded, JOINED: threads, NO_CPU: cpu_wait}

    def of_nodes(self, rows: np.ndarray) -> np.ndarray:
        """What a thread does from the entry of each node (NODE) to its exit; points in time may have any number."""
        call = rows["call"]
        found = self._first_call + call.astype(np.int64)
        for special, number in self._special.items():
            found[call == special] = number
        return found

    def of_calls(self, calls: range) -> np.ndarray:
        """The same (int32) by `call` of a node."""
        rows = np.zeros(len(calls), NODE)
        rows["call"] = calls
        return self.of_nodes(rows).astype(np.int32)

    def before_nodes(self, rows: np.ndarray) -> np.ndarray:
        """What it computes before it enters each."""
        return rows["region"].astype(np.int64) + 1
