"""A run that is prepared for the live view: read once, then looked up in temporary files at any zoom.

The activities of each thread are stored as axes: computing, waiting, the rest of MPI, and the tracer.
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
    """Sum that sorts the activities of all ranks by thread and time.

    In the result, IN_MPI is all time in MPI, waiting included.
    """

    def __init__(self, trace: Trace, lanes: Lanes) -> None:
        self._trace, self._lanes = trace, lanes
        self.calls = 0  # number of calls; a folded row counts as the calls that it stands for
        self._aside = {doing: Spill(_INTERVAL) for doing in (ActivityKind.COMPUTING, _MPI, ActivityKind.TRACER)}

    def add(self, part: Part) -> None:
        """Add the states and calls of a part of the trace."""
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
        """Return the axis of each activity except waiting. `team` is not used: a live view is one process."""
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
    """Build the axis of wait states, each cut to the time in MPI of the call in which it begins.

    A folded row has its time in MPI at its beginning, but the wait of its polls is at its end. Such a wait is moved to
    where the row has its time in MPI.
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
"""Number of choices of rows that stay in memory."""


class LiveRun:
    """One run, prepared for the live view.

    Data from temporary files needs no lock. A caller that reads the trace itself must hold the lock `reading`.
    """

    def __init__(self, trace: Trace, step: Step = lambda label: nullcontext()) -> None:
        """Read the whole run once.

        Args:
            trace: The trace.
            step: Function that is called with the label of each step and returns a context, to show progress.

        Raises:
            TracelibError: The trace has no times of calls.
        """
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
        """Return the time in ns of each ActivityKind in each window between neighbouring edges (ns).

        Times are exact: the sum over adjacent windows is the time of the whole. IN_MPI excludes waiting.

        Returns:
            int64 of shape (activities, lanes, edges - 1).
        """
        found = np.stack([self._doing[doing].times(lanes, edges) for doing in ActivityKind])
        found[ActivityKind.IN_MPI] -= found[ActivityKind.WAITING]
        return found

    @cached_property
    def by_rank(self) -> np.ndarray:
        """Time of each rank in the whole run by ActivityKind in ns, int64 of shape (activities, ranks)."""
        edges = np.array([0, self.trace.duration_ns])
        of_lanes = self.times(np.arange(len(self.lanes)), edges)[:, :, 0]
        return np.stack([np.bincount(self.lanes.rank, row, self.trace.size) for row in of_lanes]).astype(np.int64)

    def _rows(self, by: RowGrouping, ranks: str) -> RowSet:
        computing, waited, rest, _ = self.by_rank
        return rows_of(self.trace, self.lanes, by, ranks, (computing, waited + rest, waited))

    def close(self) -> None:
        """Close the trace, and with it its temporary files."""
        with self.reading:
            self.trace.close()
