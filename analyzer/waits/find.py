"""All wait states of a run."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain

import numpy as np

from analyzer.metrics.requests import gather_blocks
from analyzer.paraver import base_name
from analyzer.sources.spill import Spill
from analyzer.trace import Trace
from analyzer.waits.clocks import ClockErrors, Uncounted
from analyzer.waits.collective import collective_waits, fence_waits, nonblocking_candidates
from analyzer.waits.kinds import WAIT
from analyzer.waits.lanes import Lanes
from analyzer.waits.messages import Halves, append_by_window
from analyzer.waits.point_to_point import message_waits
from analyzer.waits.syncs import MEMBER, SYNC

_EVERYBODY = -1
"""Stands for the communicator of MPI_Init, after which all are in step."""


@dataclass(frozen=True)
class Found:
    """The wait states (WAIT, by lane, then by time) of a trace."""

    lanes: Lanes
    windows: np.ndarray
    waits: np.ndarray
    syncs: Spill  # SYNC by the window of their key
    completion_ns: np.ndarray  # (2, ranks) in barriers and N-to-N after the first member had left
    uncounted: Uncounted


def find(trace: Trace) -> Found:
    """Detect all wait states; the caller closes `syncs`."""
    lanes, windows = Lanes(trace), trace.windows()
    clocks, uncounted = ClockErrors(trace, lanes), Uncounted()
    syncs = Spill(SYNC)
    completion = np.zeros((2, trace.size), np.int64)
    parts = []
    halves = Halves(trace, lanes, windows, syncs)
    halves.add(nonblocking_candidates(trace, lanes))
    of_collectives = []
    for one in collective_waits(trace, lanes):
        of_collectives.append(one.waits)
        completion += one.completion
        append_by_window(syncs, one.syncs, one.syncs["key"], windows)
    _begin_together(trace, lanes, windows, syncs)
    for waits in chain(message_waits(trace, lanes, windows, halves), of_collectives, fence_waits(trace, lanes)):
        counted, short = clocks.split(waits)
        uncounted += short
        parts.append(counted)
    halves.spill.close()
    waits = gather_blocks(parts, WAIT)
    waits = waits[np.lexsort((waits["enter"], waits["lane"]))]
    return Found(lanes, windows, waits, syncs, completion, uncounted)


def _begin_together(trace: Trace, lanes: Lanes, windows: np.ndarray, syncs: Spill) -> None:
    """MPI_Init, which nobody leaves before all have come."""
    is_init = np.array([base_name(p) in ("MPI_Init", "MPI_Init_thread") for p in trace.procedures], bool)
    if not is_init.any():
        return
    for rank in range(trace.size):
        for calls in trace.calls(rank):
            first = np.flatnonzero(is_init[calls["call"]])[:1]
            rows = np.zeros(len(first), SYNC)
            rows["key"] = rows["time"] = calls["exit"][first]
            rows["lane"] = lanes.of(np.full(len(first), rank), calls["thread"][first])
            rows["comm"], rows["what"] = _EVERYBODY, MEMBER
            append_by_window(syncs, rows, rows["key"], windows)
            break
