"""All wait states of a run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain

import numpy as np

from analyzer.paraver import base_name
from analyzer.sources.spill import Spill
from analyzer.trace import Trace
from analyzer.waits.clocks import ClockErrors, Uncounted
from analyzer.waits.collective import collective_waits, fence_waits, nonblocking_candidates
from analyzer.waits.kinds import WAIT
from analyzer.waits.lanes import Lanes
from analyzer.waits.messages import Halves, append_by_window
from analyzer.waits.point_to_point import message_waits
from analyzer.waits.rows import Rows
from analyzer.waits.syncs import MEMBER, SYNC

_EVERYBODY = -1
"""Stands for the communicator of MPI_Init, after which all are in step."""


class Search:
    """Finds the wait states of a trace; what else comes to light is complete when all parts have been taken."""

    def __init__(self, trace: Trace) -> None:
        self.trace, self.lanes, self.windows = trace, Lanes(trace), trace.windows()
        self.syncs = Spill(SYNC)  # by the window of their key
        self.completion_ns = np.zeros((2, trace.size), np.int64)  # in barriers and N-to-N after the first had left
        self.uncounted = Uncounted()

    def parts(self) -> Iterator[np.ndarray]:
        """All wait states (WAIT), in no order."""
        clocks = ClockErrors(self.trace, self.lanes)
        halves = Halves(self.trace, self.lanes, self.windows, self.syncs)
        halves.add(nonblocking_candidates(self.trace, self.lanes))
        of_messages = message_waits(self.trace, self.lanes, self.windows, halves)
        for waits in chain(of_messages, self._of_collectives(), fence_waits(self.trace, self.lanes)):
            counted, short = clocks.split(waits)
            self.uncounted += short
            yield counted
        halves.spill.close()

    def _of_collectives(self) -> Iterator[np.ndarray]:
        _begin_together(self.trace, self.lanes, self.windows, self.syncs)
        for one in collective_waits(self.trace, self.lanes):
            append_by_window(self.syncs, one.syncs, one.syncs["key"], self.windows)
            self.completion_ns += one.completion
            yield one.waits


@dataclass(frozen=True)
class Found:
    """The wait states (WAIT, by lane, then by time; in a temporary file) of a trace."""

    search: Search
    waits: np.ndarray


def find(search: Search) -> Found:
    """All parts of a search in order."""
    by_rank = Spill(WAIT)
    for waits in search.parts():
        rank = search.lanes.rank[waits["lane"]]
        for one in np.unique(rank).tolist():
            by_rank.append(one, waits[rank == one])
    sorted_ = Rows(WAIT)
    for rank in range(search.trace.size):
        rows = by_rank.read(rank)
        sorted_.append(rows[np.lexsort((rows["enter"], rows["lane"]))])
    by_rank.close()
    return Found(search, sorted_.mapped())


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
