"""A run made ready for looking at any stretch of it: read once, then kept in temporary files.

What every thread does when, as axes: computing, waiting, the rest of MPI, the tracer.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import cached_property, lru_cache
from itertools import pairwise
from threading import RLock

import numpy as np

from analyzer.columns.spill import Spill
from analyzer.errors import TracelibError
from analyzer.frames.where import Where
from analyzer.live.axis import Axis
from analyzer.live.messages import MessageIndex
from analyzer.live.rows import RowGrouping, RowSet, rows_of
from analyzer.metrics.sums import Sums, add_all
from analyzer.pairing.parts import Part
from analyzer.parallel import Team
from analyzer.timeline import ActivityKind
from analyzer.trace import State, Trace, TracerTime
from analyzer.waits.kinds import Polled
from analyzer.waits.threads import Lanes
from analyzer.waits.wait_states import WaitSearch, WaitStates, find_wait_states

_INTERVAL = np.dtype([("begin", "<i8"), ("end", "<i8"), ("lane", "<i8")])
_MPI = ActivityKind.IN_MPI
_AT_ONCE = 1 << 18


class ActivityIntervals(Sums[dict[ActivityKind, Axis]]):
    """Sorts what ranks do by thread and time. IN_MPI of the result is all that is in MPI, waiting included."""

    def __init__(self, trace: Trace, lanes: Lanes) -> None:
        self._trace, self._lanes = trace, lanes
        self.calls = 0  # a folded row counts as many as it stands for
        self._aside = {doing: Spill(_INTERVAL) for doing in (ActivityKind.COMPUTING, _MPI, ActivityKind.TRACER)}

    def add(self, part: Part) -> None:
        states = part.states
        for doing, state in ((ActivityKind.COMPUTING, State.RUNNING), (ActivityKind.TRACER, State.TRACER)):
            rows = states.compress(states["state"] == state)
            self._put(doing, rows["rank"], rows["thread"], rows["begin"], rows["end"])
        rank, calls = part.calls
        self.calls += int(calls["count"].sum())
        self._put(_MPI, rank, calls["thread"], calls["enter"], calls["enter"] + calls["inside"])

    def _put(
        self, doing: ActivityKind, rank: np.ndarray, thread: np.ndarray, begin: np.ndarray, end: np.ndarray
    ) -> None:
        rows = np.empty(len(rank), _INTERVAL)
        rows["begin"], rows["end"] = begin.clip(0), np.minimum(end, self._trace.duration_ns)
        rows["lane"] = self._lanes.lane_numbers(rank, thread)
        taken = rows["end"] > rows["begin"]
        self._aside[doing].append_each(rank[taken], rows.compress(taken))

    def total(self, team: Team) -> dict[ActivityKind, Axis]:
        if self._trace.origin.tracer_times:
            for rank in range(self._trace.size):
                rows = self._trace.extra(TracerTime).flushes(rank)
                of_rank = np.full(len(rows), rank)
                self._put(ActivityKind.TRACER, of_rank, rows["thread"], rows["begin"], rows["end"])
        found = {}
        for doing, aside in self._aside.items():
            axis = found[doing] = Axis(self._trace.duration_ns + 1)
            for rank in range(self._trace.size):
                rows = aside.read(rank)
                lane, begin = rows["lane"], rows["begin"]
                if not _sorted(lane, begin):
                    rows = rows.take(np.lexsort((begin, lane)))
                axis.append(rows["lane"], rows["begin"], rows["end"] - rows["begin"])
            aside.close()
            axis.close()
        return found


def _sorted(lane: np.ndarray, begin: np.ndarray) -> bool:
    return bool(((np.diff(lane) > 0) | ((np.diff(lane) == 0) & (np.diff(begin) >= 0))).all())


def waiting(found: WaitStates, in_mpi: Axis) -> Axis:
    """Cut waits to their calls: never more than the time in MPI of the call that they begin in.

    A folded row has its time in MPI at its beginning, while the wait of polls is the last part of it: such a wait is
    shown where the row has its time in MPI.
    """
    axis, last = Axis(in_mpi.length_ns), in_mpi.begins
    bounds = [*range(0, len(found.rows), _AT_ONCE), len(found.rows)]
    for low, high in pairwise(bounds):
        rows = found.waits[low:high]
        lane = rows["lane"].astype(np.int64)
        place = lane * in_mpi.length_ns + rows["enter"]
        at = in_mpi.index_at(place)
        first, inside = last[at], in_mpi.before[at + 1] - in_mpi.before[at]
        begin = np.where(rows["polled"] == Polled.NO, place, first)
        long = np.minimum(rows["end"] - rows["enter"], first + inside - begin)
        taken = (long > 0) & (first >= lane * in_mpi.length_ns)
        axis.append(lane[taken], (begin - lane * in_mpi.length_ns)[taken], long[taken])
    axis.close()
    return axis


Step = Callable[[str], AbstractContextManager]

_ROW_SETS = 8
"""Choices of rows that are kept."""


class LiveRun:
    """One run. What is taken from temporary files needs no lock; who reads the trace itself holds `reading`."""

    def __init__(self, trace: Trace, step: Step = lambda label: nullcontext()) -> None:
        """Read the run. Raises TracelibError for a trace that has no times."""
        if not trace.has_call_times:
            raise TracelibError(f"{trace.path} has operations only, no times", "look at the run that it was made of")
        self.trace, self.lanes, self.reading = trace, Lanes(trace), RLock()
        with step("Reading calls"):
            intervals = ActivityIntervals(trace, self.lanes)
            add_all(trace, Team(), intervals)
            self._doing, self.calls = intervals.total(Team()), intervals.calls
        with step("Finding wait states"):
            self.waits = find_wait_states(WaitSearch(trace))
            self._doing[ActivityKind.WAITING] = waiting(self.waits, self._doing[ActivityKind.IN_MPI])
        with step("Reading messages"):
            self.messages = MessageIndex(trace)
        self.where = Where(trace, in_iterations=False)
        self.rows = lru_cache(_ROW_SETS)(self._rows)

    def times(self, lanes: np.ndarray, edges: np.ndarray) -> np.ndarray:
        """ns of each ActivityKind between neighbouring edges (ns), int64 of shape (activities, lanes, edges - 1).
        Sums over neighbours are the times between the outer edges."""
        found = np.stack([self._doing[doing].times(lanes, edges) for doing in ActivityKind])
        found[ActivityKind.IN_MPI] -= found[ActivityKind.WAITING]
        return found

    @cached_property
    def by_rank(self) -> np.ndarray:
        """Times of each rank in the whole run, by what it does, in ns: int64 of shape (doings, ranks)."""
        edges = np.array([0, self.trace.duration_ns])
        of_lanes = self.times(np.arange(len(self.lanes)), edges)[:, :, 0]
        return np.stack([np.bincount(self.lanes.rank, row, self.trace.size) for row in of_lanes]).astype(np.int64)

    def _rows(self, by: RowGrouping, ranks: str) -> RowSet:
        computing, waited, rest, _ = self.by_rank
        return rows_of(self.trace, self.lanes, by, ranks, (computing, waited + rest, waited))

    def close(self) -> None:
        """Remove temporary files."""
        with self.reading:
            self.trace.close()
