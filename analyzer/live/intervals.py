"""What every thread does when, as axes: computing, waiting, the rest of MPI, the tracer."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from analyzer.columns.spill import Spill
from analyzer.live.axis import Axis
from analyzer.metrics.sums import Sums
from analyzer.pairing.parts import Part
from analyzer.parallel import Team
from analyzer.timeline.cells import Doing
from analyzer.trace import State, Trace, TracerTime
from analyzer.waits.find import Found
from analyzer.waits.kinds import Polled
from analyzer.waits.lanes import Lanes

_INTERVAL = np.dtype([("begin", "<i8"), ("end", "<i8"), ("lane", "<i8")])
_MPI = Doing.IN_MPI
_AT_ONCE = 1 << 18


class Intervals(Sums[dict[Doing, Axis]]):
    """Sorts what ranks do by thread and time. IN_MPI of the result is all that is in MPI, waiting included."""

    def __init__(self, trace: Trace, lanes: Lanes) -> None:
        self._trace, self._lanes = trace, lanes
        self.calls = 0  # a folded row counts as many as it stands for
        self._aside = {doing: Spill(_INTERVAL) for doing in (Doing.COMPUTING, _MPI, Doing.TRACER)}

    def add(self, part: Part) -> None:
        states = part.states
        for doing, state in ((Doing.COMPUTING, State.RUNNING), (Doing.TRACER, State.TRACER)):
            rows = states.compress(states["state"] == state)
            self._put(doing, rows["rank"], rows["thread"], rows["begin"], rows["end"])
        rank, calls = part.calls
        self.calls += int(calls["count"].sum())
        self._put(_MPI, rank, calls["thread"], calls["enter"], calls["enter"] + calls["inside"])

    def _put(self, doing: Doing, rank: np.ndarray, thread: np.ndarray, begin: np.ndarray, end: np.ndarray) -> None:
        rows = np.empty(len(rank), _INTERVAL)
        rows["begin"], rows["end"] = begin.clip(0), np.minimum(end, self._trace.duration_ns)
        rows["lane"] = self._lanes.of(rank, thread)
        taken = rows["end"] > rows["begin"]
        self._aside[doing].append_each(rank[taken], rows.compress(taken))

    def total(self, team: Team) -> dict[Doing, Axis]:
        if self._trace.origin.tracer_times:
            for rank in range(self._trace.size):
                rows = self._trace.extra(TracerTime).flushes(rank)
                of_rank = np.full(len(rows), rank)
                self._put(Doing.TRACER, of_rank, rows["thread"], rows["begin"], rows["end"])
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


def waiting(found: Found, in_mpi: Axis) -> Axis:
    """Waits as far as they are in MPI: never more than the call has that they begin in.

    A folded row has its time in MPI at its beginning, while the wait of polls is the last part of it: such a wait is
    shown where the row has its time in MPI.
    """
    axis, last = Axis(in_mpi.length_ns), in_mpi.begins
    bounds = [*range(0, len(found.rows), _AT_ONCE), len(found.rows)]
    for low, high in pairwise(bounds):
        rows = found.waits[low:high]
        lane = rows["lane"].astype(np.int64)
        place = lane * in_mpi.length_ns + rows["enter"]
        at = in_mpi.at(place)
        first, inside = last[at], in_mpi.before[at + 1] - in_mpi.before[at]
        begin = np.where(rows["polled"] == Polled.NO, place, first)
        long = np.minimum(rows["end"] - rows["enter"], first + inside - begin)
        taken = (long > 0) & (first >= lane * in_mpi.length_ns)
        axis.append(lane[taken], (begin - lane * in_mpi.length_ns)[taken], long[taken])
    axis.close()
    return axis
