"""Segments: the activities of each thread over time, without its waits. Delays are differences of their lengths."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

import numpy as np

from analyzer._kernels import ffi, lib
from analyzer.c_arrays import pointer
from analyzer.columns.arrays import joined
from analyzer.columns.rows import Rows
from analyzer.metrics.regions import lost_times
from analyzer.pairing.requests import window_calls, windows_of_rank
from analyzer.trace import FLUSH, CpuWaits, Regions, State, Trace
from analyzer.waits.region_paths import OUTSIDE, PathChanges
from analyzer.waits.threads import Lanes

SEGMENT = np.dtype([("begin", "<i8"), ("activity", "<i4"), ("reserved", "<i4")])
"""Begin of an activity (`struct delay_segment` of the kernel). The activity ends where the next segment begins.

`activity` is a number of `Activities`.
"""

WAITING = 0
"""Number of the activity that is a wait. All other numbers are rows of `Activities.table`."""

COMPUTING, NOT_RECORDED, NO_CPU, OF_TRACER, FIRST_CALL = range(5)
"""Codes of activities on a path: computing, nothing recorded, waiting for a CPU, time of the tracer.

A code n >= FIRST_CALL is a call of procedure n - FIRST_CALL.
"""

_POINT = np.dtype([("time", "<i8"), ("value", "<i8"), ("of", "<i4"), ("reserved", "<i4")])
"""Change of a thread's state at a time, other than a call (`struct segment_point` of the kernel)."""

_LANE = np.dtype(
    [("first_call", "<i8"), ("calls", "<i8"), ("first_point", "<i8"), ("points", "<i8"), ("end", "<i8"),
     ("thread", "<i4"), ("reserved", "<i4")]
)  # fmt: skip
"""The calls and points of one thread (`struct segment_lane` of the kernel)."""

_OF_A_CALL = 4
"""Maximum number of segments of one call."""

_LATEST = np.iinfo(np.int64).max


class Activities:
    """Numbers of activities. An activity is a path of regions, and a code such as COMPUTING.

    They are numbered from 1, in order of appearance; 0 is WAITING.
    """

    def __init__(self, procedures: int) -> None:
        self._kinds = FIRST_CALL + procedures
        self.struct = ffi.new(
            "struct activities *", {"what": self._kinds, "first_call": FIRST_CALL, "of_tracer": OF_TRACER}
        )
        self._number: np.ndarray = np.zeros(0, np.int32)
        self._known: np.ndarray = np.zeros(0, np.int64)

    def expect(self, paths: int) -> None:
        """Make room for the activities on `paths` paths."""
        if (room := paths * self._kinds) > len(self._known):
            more = 2 * room - len(self._known)
            self._number, self._known = (np.pad(old, (0, more)) for old in (self._number, self._known))
            self.struct.number = pointer(self._number, "int32_t *")
            self.struct.known = pointer(self._known, "int64_t *")

    def add(self, keys: np.ndarray, paths: np.ndarray) -> np.ndarray:
        """Add the activities that another process has numbered.

        Args:
            keys: `keys` of the other process.
            paths: Number here of each path of the other process.

        Returns:
            Number here of each activity of the other process (int32), WAITING first.
        """
        self.expect(int(paths.max()) + 1)
        path, what = divmod(keys, self._kinds)
        own = paths[path] * self._kinds + what
        new = own.compress(self._number[own] == 0)
        self._known[self.struct.n : self.struct.n + len(new)] = new
        self._number[new] = self.struct.n + 1 + np.arange(len(new))
        self.struct.n += len(new)
        return np.append(WAITING, self._number[own]).astype(np.int32)

    @property
    def keys(self) -> np.ndarray:
        """Return path x number of codes + code of each activity but WAITING, in order of appearance (int64)."""
        return self._known[: self.struct.n]

    def __len__(self) -> int:
        return 1 + int(self.struct.n)

    def table(self) -> np.ndarray:
        """Return path and code of each activity, int64 of shape (activities, 2). Row 0, WAITING, has no meaning."""
        return np.stack([np.append(-1, column) for column in divmod(self.keys, self._kinds)], axis=1)


class Segments:
    """The segments (SEGMENT) of all threads, thread by thread, in a temporary file.

    A last segment marks the thread's end.

    Threads are numbered through all ranks (lanes).
    """

    def __init__(self, trace: Trace, lanes: Lanes) -> None:
        self.activities = Activities(len(trace.procedures))
        self.rows = Rows(SEGMENT)
        self._trace, self._lanes = trace, lanes
        self._counts, self._starts = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]

    @property
    def first(self) -> np.ndarray:
        """Return the index of the first segment of each lane, and at the end the number of all segments (int64)."""
        return np.append(0, np.cumsum(np.concatenate(self._counts)))

    @property
    def start(self) -> np.ndarray:
        """Return the begin of the first segment of each lane, in ns (int64)."""
        return np.concatenate(self._starts)

    def add_lanes(self, first: np.ndarray, start: np.ndarray) -> None:
        """Add the next lanes from `first` and `start` of another process.

        The caller appends their segments to `rows`.
        """
        self._counts.append(np.diff(first))
        self._starts.append(start)

    def add(self, ranks: range, bounds: np.ndarray, waits: np.ndarray, changes: PathChanges) -> None:
        """Add the segments of the next ranks.

        Args:
            ranks: The next ranks.
            bounds: Bounds of the windows in which these ranks are read, ns. Two bounds: all calls are read at once.
            waits: The waits of these ranks (WAIT, by lane, then by time).
            changes: The changes of path of their threads.
        """
        lanes = range(*self._lanes.first[[ranks.start, ranks.stop]].tolist())
        parts = [*self._of_paths(ranks, changes), *self._of_losses(ranks)]
        ends = np.concatenate([np.zeros(0, np.int64), *(self._ends(rank) for rank in ranks)])
        self.activities.expect(1 + int(changes.path.max(initial=OUTSIDE)))
        if len(bounds) == 2:
            self._add_whole(ranks, bounds, *_by_lane(lanes, [*parts, *_of_waits(waits)]), ends)
            return
        points, cuts = _by_lane(lanes, parts)
        for lane, (low, high), end in zip(lanes, pairwise(cuts.tolist()), ends.tolist(), strict=True):
            mine = slice(*np.searchsorted(waits["lane"], [lane, lane + 1]))
            self._add_lane(lane, _Points(points[low:high], waits[mine]), end)

    def _add_whole(
        self, ranks: range, bounds: np.ndarray, points: np.ndarray, cuts: np.ndarray, ends: np.ndarray
    ) -> None:
        """Add ranks whose calls are all read at once."""
        calls, counts = self._trace.rank_calls(ranks, *bounds.tolist())
        mine = slice(*self._lanes.first[[ranks.start, ranks.stop]].tolist())
        rank = self._lanes.rank[mine] - ranks.start
        lanes = np.zeros(len(ends), _LANE)
        lanes["first_call"], lanes["calls"] = (np.cumsum(counts) - counts)[rank], counts[rank]
        lanes["first_point"], lanes["points"] = cuts[:-1], np.diff(cuts)
        lanes["end"], lanes["thread"] = ends, self._lanes.thread[mine]
        found = np.empty(int((_OF_A_CALL * lanes["calls"] + lanes["points"] + 1).sum()), SEGMENT)
        of_each, starts = np.zeros(len(lanes), np.int64), np.zeros(len(lanes), np.int64)
        count = lib.segments_of(
            self.activities.struct, len(lanes), pointer(calls), pointer(lanes, "struct segment_lane *"),
            pointer(points, "struct segment_point *"), int(bounds[1]), pointer(of_each, "int64_t *"),
            pointer(starts, "int64_t *"), pointer(found, "struct delay_segment *"),
        )  # fmt: skip
        _check(count)
        self._keep(found[:count], of_each, starts)

    def _add_lane(self, lane: int, points: _Points, end: int) -> None:
        """Add a thread whose calls are read window by window."""
        rank, thread = int(self._lanes.rank[lane]), int(self._lanes.thread[lane])
        walk, total, last = _Walk(self.activities), 0, np.zeros(0, SEGMENT)
        for low, high in pairwise(windows_of_rank(self._trace, rank).tolist()):
            rows = walk.window(window_calls(self._trace, rank, low, high), thread, points.before(high), high)
            if len(rows):
                self.rows.append(last)
                total, last = total + len(rows), rows
        rows = walk.end(last, points.before(_LATEST), end)
        self._keep(rows, np.array([total - len(last) + len(rows)]), np.array([walk.first]))

    def _keep(self, rows: np.ndarray, counts: np.ndarray, starts: np.ndarray) -> None:
        self.rows.append(rows)
        self._counts.append(counts)
        self._starts.append(starts)

    def _ends(self, rank: int) -> np.ndarray:
        """Find the time of the last mark or event of each thread; for the main thread, the end of the process."""
        ends = np.zeros(int(self._trace.threads[rank]), np.int64)
        ends[0] = self._trace.span(rank)[1]
        for rows in (self._trace.extra(Regions).marks(rank), self._trace.extra(Regions).events(rank)):
            if len(rows):
                np.maximum.at(ends, rows["thread"], rows["time"])
        return ends

    def _of_paths(self, ranks: range, changes: PathChanges) -> Iterable[tuple[np.ndarray, np.ndarray]]:
        """Yield lanes and points (_POINT) of the changes of path of some ranks.

        The begin of a thread is known for the main thread only, which computes from then on.
        """
        begins = np.zeros(len(ranks), np.int64)
        if self._trace.origin.tracer_times:
            begins[:] = [self._trace.span(rank)[0] for rank in ranks]
        yield self._lanes.first[ranks.start : ranks.stop], _points(lib.SEGMENT_PATH, begins, OUTSIDE)
        first = self._lanes.first[ranks.start]
        yield first + changes.thread, _points(lib.SEGMENT_PATH, changes.time, changes.path)

    def _of_losses(self, ranks: range) -> Iterable[tuple[np.ndarray, np.ndarray]]:
        """Yield lanes and points (_POINT) of times of the tracer, without recording, and without a CPU."""
        lost_lane, lost = self._gathered(ranks, [lost_times(self._trace, rank) for rank in ranks])
        idle_lane, idle = self._gathered(ranks, [self._trace.extra(CpuWaits).of(rank) for rank in ranks])
        yield lost_lane, _points(lib.SEGMENT_LOST, lost["end"], COMPUTING)
        yield idle_lane, _points(lib.SEGMENT_LOST, idle["end"], COMPUTING)
        yield lost_lane, _points(lib.SEGMENT_LOST, lost["begin"], np.where(is_off(lost), NOT_RECORDED, OF_TRACER))
        yield idle_lane, _points(lib.SEGMENT_LOST, idle["begin"], NO_CPU)

    def _gathered(self, ranks: range, rows: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        """Join FLUSH rows of some ranks, and return the lane of each row with them."""
        first = np.repeat(self._lanes.first[ranks.start : ranks.stop], list(map(len, rows)))
        every = joined([of_rank for of_rank in rows if len(of_rank)], FLUSH)
        return first + every["thread"], every


def is_off(lost: np.ndarray) -> np.ndarray:
    """Return a mask of the intervals (FLUSH) in which nothing was recorded. The other intervals are the tracer's."""
    return lost["state"] == State.TRACING_DISABLED


def _of_waits(waits: np.ndarray) -> Iterable[tuple[np.ndarray, np.ndarray]]:
    """Yield lanes and points (_POINT) of the ends, then of the begins of waits."""
    yield waits["lane"], _points(lib.SEGMENT_WAIT, waits["end"], 0)
    yield waits["lane"], _points(lib.SEGMENT_WAIT, waits["enter"], 1)


def _points(of: int, times: np.ndarray, value: np.ndarray | int) -> np.ndarray:
    rows = np.zeros(len(times), _POINT)
    rows["time"], rows["value"], rows["of"] = times, value, of
    return rows


def _by_lane(lanes: range, parts: list[tuple[np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
    """Sort points by lane, then by time (stable). Returns the points, and the index of each lane's first point."""
    lane = np.concatenate([np.zeros(0, np.int64), *(of for of, _ in parts)])
    points = joined([rows for _, rows in parts], _POINT)
    order = np.lexsort((points["time"], lane))
    cuts = np.searchsorted(lane[order], np.arange(lanes.start, lanes.stop + 1))
    return points.take(order), cuts


class _Points:
    """Points of a thread, and the points of its waits, in order of time.

    Waits (WAIT, by enter) become points only when they are needed, since there may be as many waits as calls.
    """

    def __init__(self, points: np.ndarray, waits: np.ndarray) -> None:
        self._points, self._waits = points, waits
        self._open = np.zeros(0, _POINT)  # ends of waits that were entered

    def before(self, time: int) -> np.ndarray:
        """Return the points before `time` (ns) that have not been returned yet."""
        known, begun = np.searchsorted(self._points["time"], time), np.searchsorted(self._waits["enter"], time)
        new = [points for _, points in _of_waits(self._waits[:begun])]
        rows = joined([self._points[:known], self._open, *new], _POINT)
        rows = rows.take(np.argsort(rows["time"], kind="stable"))
        cut = int(np.searchsorted(rows["time"], time))
        self._points, self._waits, self._open = self._points[known:], self._waits[begun:], rows[cut:].copy()
        return rows[:cut]


class _Walk:
    """Walk through the calls of one thread, window after window, in the kernel."""

    def __init__(self, activities: Activities) -> None:
        self._activities = activities.struct
        self._struct = ffi.gc(lib.segment_walk_new(), lib.segment_walk_free)
        if not self._struct:
            raise MemoryError

    @property
    def first(self) -> int:
        """Return the begin of the first segment in ns."""
        return int(lib.segment_walk_first(self._struct))

    def window(self, calls: np.ndarray, thread: int, points: np.ndarray, end: int) -> np.ndarray:
        """Return the segments that begin before `end`, from calls and points after the previous window."""
        rows = np.empty(_OF_A_CALL * len(calls) + len(points) + lib.segment_walk_room(self._struct), SEGMENT)
        count = lib.segment_walk_window(
            self._struct, self._activities, pointer(calls), len(calls), thread,
            pointer(points, "struct segment_point *"), len(points), end, pointer(rows, "struct delay_segment *"),
        )  # fmt: skip
        _check(count)
        return rows[:count]

    def end(self, last: np.ndarray, points: np.ndarray, end: int) -> np.ndarray:
        """Return the segments from the last window on (`last`), completed up to the end of the thread."""
        room = np.empty(len(points) + lib.segment_walk_room(self._struct), SEGMENT)
        rows = joined([last, room], SEGMENT)
        more = lib.segment_walk_end(
            self._struct, self._activities, pointer(points, "struct segment_point *"), len(points), end, len(last),
            pointer(rows, "struct delay_segment *") + len(last),
        )  # fmt: skip
        _check(len(last) + more)
        return rows[: len(last) + more]


def _check(count: int) -> None:
    if count < 0:
        raise MemoryError
