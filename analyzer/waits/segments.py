"""What each thread does when, without its waiting: the times that delays are made of."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from analyzer.columns.joined import joined
from analyzer.columns.rows import Rows
from analyzer.metrics.regions import lost_times
from analyzer.pairing.requests import window_calls, windows_of_rank
from analyzer.trace import CALL, CpuWaits, Regions, State, Trace
from analyzer.waits.lanes import window_pairs
from analyzer.waits.paths import OUTSIDE

SEGMENT = np.dtype([("begin", "<i8"), ("activity", "<i4"), ("reserved", "<i4")])
"""`struct delay_segment` of the kernel."""

WAITING = 0
"""Activity of waiting; all others are those of `Activities.table`."""

COMPUTING, NOT_RECORDED, NO_CPU, OF_TRACER, FIRST_CALL = range(5)
"""What a thread does on a path: compute, nothing that was recorded, wait for a CPU, nothing as the tracer has it, or
call procedure n - FIRST_CALL."""

_PATH, _CALL, _WAIT, _LOST, _TRACER = _KINDS = range(5)


class Activities:
    """Numbers of the pairs of path and what is done there, in order of appearance from 1."""

    def __init__(self, procedures: int) -> None:
        self._kinds = FIRST_CALL + procedures
        self._numbers: dict[int, int] = {}

    def number(self, path: np.ndarray, what: np.ndarray) -> np.ndarray:
        """The activity of each pair."""
        raw, which = np.unique(path * self._kinds + what, return_inverse=True)
        numbers = [self._numbers.setdefault(one, 1 + len(self._numbers)) for one in raw.tolist()]
        return np.array(numbers, np.int64)[which]

    def add(self, keys: Sequence[int], paths: np.ndarray) -> np.ndarray:
        """Also have the activities that were met elsewhere (`keys` there), with other numbers of paths, of each of
        those there the one here. The number here of each of those there."""
        numbers = [WAITING]
        for key in keys:
            path, what = divmod(key, self._kinds)
            own = int(paths[path]) * self._kinds + what
            numbers.append(self._numbers.setdefault(own, 1 + len(self._numbers)))
        return np.array(numbers, np.int32)

    @property
    def keys(self) -> list[int]:
        """Each pair as one number, in order of appearance."""
        return list(self._numbers)

    def __len__(self) -> int:
        return 1 + len(self._numbers)

    def table(self) -> np.ndarray:
        """(path, what) of each activity, int64 of shape (activities, 2); that of WAITING means nothing."""
        return np.array([(-1, -1), *(divmod(raw, self._kinds) for raw in self._numbers)], np.int64)


class Segments:
    """The segments (SEGMENT) of lanes, lane by lane, in a temporary file; the last of each is its end."""

    def __init__(self, trace: Trace, first_lane: int = 0) -> None:
        """`first_lane`: of the first rank that is added."""
        self.activities = Activities(len(trace.procedures))
        self._first_lane = first_lane
        self.first = [0]
        self.start: list[int] = []  # of each lane
        self._trace = trace
        self.rows = Rows(SEGMENT)

    def add_rank(self, rank: int, waits: np.ndarray, changes: list[tuple[np.ndarray, np.ndarray]]) -> None:
        """All threads of the next rank: its waits (WAIT, by lane and time) and the changes of its threads' paths."""
        lost, no_cpu = lost_times(self._trace, rank), self._trace.extra(CpuWaits).of(rank)
        first_lane, ends = self._first_lane + len(self.first) - 1, self._ends(rank)
        for thread, change in enumerate(changes):
            mine = waits.compress(waits["lane"] == first_lane + thread)
            hidden, idle = (rows[rows["thread"] == thread] for rows in (lost, no_cpu))
            lane = _Lane(self._trace, rank, self.activities)
            points = [
                _points(_PATH, self._begin(rank, thread), OUTSIDE),
                _points(_PATH, change[0], change[1]),
                _points(_LOST, hidden["end"], COMPUTING),
                _points(_LOST, idle["end"], COMPUTING),
                _points(_LOST, hidden["begin"], np.where(is_off(hidden), NOT_RECORDED, OF_TRACER)),
                _points(_LOST, idle["begin"], NO_CPU),
                _points(_WAIT, mine["end"], 0),
                _points(_WAIT, mine["enter"], 1),
            ]
            self._add_lane(rank, thread, lane, joined(points, _POINT), int(ends[thread]))

    def _ends(self, rank: int) -> np.ndarray:
        """When each thread did its last, of what is no call: the main thread ends with the process."""
        ends = np.zeros(int(self._trace.threads[rank]), np.int64)
        ends[0] = self._trace.span(rank)[1]
        for rows in (self._trace.extra(Regions).marks(rank), self._trace.extra(Regions).events(rank)):
            np.maximum.at(ends, rows["thread"], rows["time"])
        return ends

    def _begin(self, rank: int, thread: int) -> np.ndarray:
        """When a thread begins, if it is known: the main thread computes from then on."""
        begin = self._trace.span(rank)[0] if self._trace.origin.tracer_times else 0
        return np.array([begin] if thread == 0 else [], np.int64)

    def _add_lane(self, rank: int, thread: int, lane: _Lane, points: np.ndarray, end: int) -> None:
        points = points.take(np.argsort(points["time"], kind="stable"))
        used, last = 0, np.zeros(0, SEGMENT)
        for low, high in window_pairs(windows_of_rank(self._trace, rank)):
            every = window_calls(self._trace, rank, low, high)
            calls = every if self._trace.threads[rank] == 1 else every.compress(every["thread"] == thread)
            until = int(np.searchsorted(points["time"], high))
            rows = lane.window(calls, points[used:until], high)
            used = until
            if len(rows):
                self.rows.append(last)
                last = rows
        self.rows.append(lane.finish(last, points[used:], end))
        self.first.append(len(self.rows))
        self.start.append(lane.first)


def is_off(lost: np.ndarray) -> np.ndarray:
    """Of which times that are not the program's (FLUSH) nothing was recorded; the others are the tracer's."""
    return lost["state"] == State.TRACING_DISABLED


_POINT = np.dtype([("time", "<i8"), ("value", "<i8"), ("of", "<i4")])
"""From `time` on the lane's path, call (1 + its procedure; 0: none), waiting, what it does outside of calls, or whether
the tracer has it after one, is `value`."""


def _points(of: int, times: np.ndarray, value: np.ndarray | int) -> np.ndarray:
    rows = np.zeros(len(times), _POINT)
    rows["time"], rows["value"], rows["of"] = times, value, of
    return rows


class _Lane:
    """One thread from window to window."""

    def __init__(self, trace: Trace, rank: int, activities: Activities) -> None:
        self._activities = activities
        self._values = np.zeros(len(_KINDS), np.int64)
        self._open = np.zeros(0, _POINT)  # points in later windows
        self._activity = -1
        self.first = 0  # when the lane's first segment begins
        self._over = 0  # when the last call was, or what else it did

    def window(self, calls: np.ndarray, points: np.ndarray, end: int) -> np.ndarray:
        """The segments that begin before `end`, from the calls and the other points since the window before."""
        for first in calls["enter"][:1]:  # until then the tracer had it, at most
            self._open["time"] = np.minimum(self._open["time"], first)
        rows = joined([self._open, self._call_points(calls), points], _POINT)
        rows = rows.take(np.argsort(rows["time"], kind="stable"))
        known = int(np.searchsorted(rows["time"], end))
        rows, self._open = rows[:known], rows[known:]
        if not len(rows):
            return np.zeros(0, SEGMENT)
        values = np.empty((len(_KINDS), len(rows)), np.int64)
        for of in _KINDS:
            at = np.maximum.accumulate(np.where(rows["of"] == of, np.arange(len(rows)), -1))
            values[of] = np.where(at >= 0, rows["value"][at], self._values[of])
        self._values = values[:, -1].copy()
        if self._activity < 0:
            self.first = int(rows["time"][0])
        self._over = max(self._over, int(rows["time"][rows["of"] != _TRACER].max(initial=0)))
        last = np.append(np.diff(rows["time"]) != 0, True)
        return self._segments(rows["time"][last], *values[:, last])

    def finish(self, last: np.ndarray, points: np.ndarray, end: int) -> np.ndarray:
        """The last segments and those after them, and the end of the lane: what it did last, or then if that is later.
        The tracer has it no longer."""
        self._over = max([self._over, end, *self._open["time"][self._open["of"] != _TRACER], *points["time"]])
        self._open["time"] = np.minimum(self._open["time"], self._over)
        rows = self.window(np.zeros(0, CALL), points, np.iinfo(np.int64).max)
        rows = joined([last, rows], SEGMENT)
        return joined(
            [rows.compress(rows["begin"] < self._over), np.array([(self._over, WAITING, 0)], SEGMENT)], SEGMENT
        )

    def _call_points(self, calls: np.ndarray) -> np.ndarray:
        """Of a folded row as if all computing between its calls came first, then what the tracer took between them:
        who polls waits for the last one."""
        exit_, inside = calls["exit"], calls["inside"]
        between = np.minimum(calls["tracer"], exit_ - calls["enter"] - inside)
        enter, after = exit_ - inside, calls["tracer"] - between
        left = exit_ + after
        left[:-1] = np.maximum(exit_[:-1], np.minimum(left[:-1], calls["enter"][1:]))
        points = np.empty((len(calls), 4), _POINT)
        columns = (
            (_TRACER, enter - between, 1), (_CALL, enter, 1 + calls["call"]), (_CALL, exit_, 0), (_TRACER, left, 0),
        )  # fmt: skip
        for k, (of, time, value) in enumerate(columns):
            points["time"][:, k], points["value"][:, k], points["of"][:, k] = time, value, of
        return points.ravel()

    def _segments(
        self,
        time: np.ndarray,
        path: np.ndarray,
        call: np.ndarray,
        wait: np.ndarray,
        lost: np.ndarray,
        tracer: np.ndarray,
    ) -> np.ndarray:
        outside = np.where((lost == COMPUTING) & (tracer > 0), OF_TRACER, lost)
        what = np.where(call > 0, FIRST_CALL - 1 + call, outside)
        activity = np.where(wait > 0, WAITING, self._activities.number(path, what))
        new = np.diff(activity, prepend=self._activity) != 0
        self._activity = int(activity[-1])
        rows = np.zeros(int(new.sum()), SEGMENT)
        rows["begin"], rows["activity"] = time[new], activity[new]
        return rows
