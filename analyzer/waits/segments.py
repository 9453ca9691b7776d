"""What each thread does when, without its waiting: the times that delays are made of."""

from __future__ import annotations

import numpy as np

from analyzer.metrics.regions import lost_times
from analyzer.metrics.requests import rank_windows, window_calls
from analyzer.rows import Rows
from analyzer.trace import CALL, Trace
from analyzer.waits.lanes import window_pairs
from analyzer.waits.paths import OUTSIDE

SEGMENT = np.dtype([("begin", "<i8"), ("activity", "<i4"), ("reserved", "<i4")])
"""`struct delay_segment` of the kernel."""

WAITING = 0
"""Activity of waiting; all others are those of `Activities.table`."""

COMPUTING, NOT_RECORDED, NO_CPU, FIRST_CALL = 0, 1, 2, 3
"""What a thread does on a path: compute, nothing that was recorded (and what is the tracer's), wait for a CPU, or call
procedure n - FIRST_CALL."""

_PATH, _CALL, _WAIT, _LOST = range(4)


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

    def __len__(self) -> int:
        return 1 + len(self._numbers)

    def table(self) -> np.ndarray:
        """(path, what) of each activity, int64 of shape (activities, 2); that of WAITING means nothing."""
        return np.array([(-1, -1), *(divmod(raw, self._kinds) for raw in self._numbers)], np.int64)


class Segments:
    """The segments (SEGMENT) of all lanes, lane by lane, in a temporary file; the last of each is its end."""

    def __init__(self, trace: Trace) -> None:
        self.activities = Activities(len(trace.procedures))
        self.first = [0]
        self.start: list[int] = []  # of each lane
        self._trace, self._windows = trace, rank_windows(trace)
        self.rows = Rows(SEGMENT)

    def add_rank(self, rank: int, waits: np.ndarray, changes: list[tuple[np.ndarray, np.ndarray]]) -> None:
        """All threads of the next rank: its waits (WAIT, by lane and time) and the changes of its threads' paths."""
        lost, no_cpu = lost_times(self._trace, rank), self._trace.cpu_waits(rank)
        first_lane = len(self.first) - 1
        for thread, change in enumerate(changes):
            mine = waits[waits["lane"] == first_lane + thread]
            hidden, idle = (rows[rows["thread"] == thread] for rows in (lost, no_cpu))
            lane = _Lane(self._trace, rank, self.activities)
            points = [
                _points(_PATH, self._begin(rank, thread), OUTSIDE),
                _points(_PATH, change[0], change[1]),
                _points(_LOST, hidden["end"], COMPUTING),
                _points(_LOST, idle["end"], COMPUTING),
                _points(_LOST, hidden["begin"], NOT_RECORDED),
                _points(_LOST, idle["begin"], NO_CPU),
                _points(_WAIT, mine["end"], 0),
                _points(_WAIT, mine["enter"], 1),
            ]
            self._add_lane(rank, thread, lane, np.concatenate(points))

    def _begin(self, rank: int, thread: int) -> np.ndarray:
        """When a thread begins, if it is known: the main thread computes from then on."""
        begin = self._trace.span(rank)[0] if self._trace.flush_mode == "subtract" else 0
        return np.array([begin] if thread == 0 else [], np.int64)

    def _add_lane(self, rank: int, thread: int, lane: _Lane, points: np.ndarray) -> None:
        points = points[np.argsort(points["time"], kind="stable")]
        end = self._trace.span(rank)[1]
        used = 0
        for low, high in window_pairs(self._windows):
            every = window_calls(self._trace, rank, low, high)
            calls = every[every["thread"] == thread]
            until = int(np.searchsorted(points["time"], high))
            rows = lane.window(calls, points[used:until], high)
            used = until
            self.rows.append(rows)
        rows = lane.window(np.zeros(0, CALL), points[used:], np.iinfo(np.int64).max)
        rows = np.concatenate([rows, np.array([(max(end, lane.last), WAITING, 0)], SEGMENT)])
        self.rows.append(rows)
        self.first.append(len(self.rows))
        self.start.append(lane.first)


_POINT = np.dtype([("time", "<i8"), ("value", "<i8"), ("of", "<i4")])
"""From `time` on the lane's path, call (1 + its procedure; 0: none), waiting, or what it does outside of calls is
`value`."""


def _points(of: int, times: np.ndarray, value: np.ndarray | int) -> np.ndarray:
    rows = np.zeros(len(times), _POINT)
    rows["time"], rows["value"], rows["of"] = times, value, of
    return rows


class _Lane:
    """One thread from window to window."""

    def __init__(self, trace: Trace, rank: int, activities: Activities) -> None:
        self._overhead, self._activities = trace.overhead_ns(rank), activities
        self._values = np.zeros(4, np.int64)
        self._open = np.zeros(0, _POINT)  # points in later windows
        self._activity = -1
        self.first = self.last = 0  # when the lane's first segment begins; the last point

    def window(self, calls: np.ndarray, points: np.ndarray, end: int) -> np.ndarray:
        """The segments that begin before `end`, from the calls and the other points since the window before."""
        rows = np.concatenate([self._open, self._call_points(calls), points])
        rows = rows[np.argsort(rows["time"], kind="stable")]
        known = int(np.searchsorted(rows["time"], end))
        rows, self._open = rows[:known], rows[known:]
        if not len(rows):
            return np.zeros(0, SEGMENT)
        values = np.empty((4, len(rows)), np.int64)
        for of in range(4):
            at = np.maximum.accumulate(np.where(rows["of"] == of, np.arange(len(rows)), -1))
            values[of] = np.where(at >= 0, rows["value"][at], self._values[of])
        self._values = values[:, -1].copy()
        if self._activity < 0:
            self.first = int(rows["time"][0])
        self.last = int(rows["time"][-1])
        last = np.append(np.diff(rows["time"]) != 0, True)
        return self._segments(rows["time"][last], *values[:, last])

    def _call_points(self, calls: np.ndarray) -> np.ndarray:
        """Calls last until the tracer is done with them, as in the states of a trace; the last of a window until it
        is left. A run of polls is taken as if all computing between them came first."""
        enter, exit_ = calls["exit"] - calls["inside"], calls["exit"]
        left = np.maximum(exit_, np.minimum(exit_ + self._overhead, np.append(enter[1:], exit_[-1:])))
        points = np.empty(2 * len(calls), _POINT)
        points[1::2] = _points(_CALL, left, 0)
        points[::2] = _points(_CALL, enter, 1 + calls["call"])
        return points

    def _segments(
        self, time: np.ndarray, path: np.ndarray, call: np.ndarray, wait: np.ndarray, lost: np.ndarray
    ) -> np.ndarray:
        what = np.where(call > 0, FIRST_CALL - 1 + call, lost)
        activity = np.where(wait > 0, WAITING, self._activities.number(path, what))
        new = np.diff(activity, prepend=self._activity) != 0
        self._activity = int(activity[-1])
        rows = np.zeros(int(new.sum()), SEGMENT)
        rows["begin"], rows["activity"] = time[new], activity[new]
        return rows
