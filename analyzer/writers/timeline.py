"""Writer of traces for other timeline programs: Perfetto's protobuf, and JSON for Chrome's tracing page.

Each rank is a process, each thread a track. Calls and regions are slices on a track. Messages are arrows ("flows") from
the call that sends to the call in which the receive ends. Events of the program are instants. Counters and samples of
nodes have tracks of their own.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum
from functools import partial
from itertools import pairwise
from pathlib import Path

import numpy as np

from analyzer._kernels import ffi, lib
from analyzer.atomic_file import whole_file
from analyzer.c_arrays import pointer
from analyzer.columns.arrays import joined
from analyzer.trace import CALL, MESSAGE, UNKNOWN, CallPaths, Counters, Mark, Regions, Trace
from analyzer.writers.timeline_tracks import NoteTracks, node_tracks

_MARK = np.dtype([("time", "<i8"), ("region", "<i8")])
_FLOW = np.dtype([("time", "<i8"), ("id", "<i8"), ("other", "<i8"), ("closes", "<i4"), ("reserved", "<i4")])
_VALUE = np.dtype([("time", "<i8"), ("track", "<i8"), ("value", "<i8")])
_MEASURE = np.dtype([("time", "<i8"), ("track", "<i8"), ("value", "<f8")])
"""Records of the kernel: `struct timeline_mark`, `timeline_flow`, `timeline_value`, `timeline_measure`."""

_LAST = np.iinfo(np.int64).max


class TimelineFormat(IntEnum):
    """Format of the file. The numbers are the kernel's."""

    PERFETTO = lib.TIMELINE_PERFETTO
    CHROME = lib.TIMELINE_CHROME


@dataclass(frozen=True)
class WrittenContents:
    """Numbers of the things that were written to a file.

    Attributes:
        regions: Visits of regions.
        values: Readings of counters.
        events: Events of the program.
        samples: Values of quantities of nodes.
    """

    calls: int
    regions: int  # visits
    messages: int
    values: int  # readings of counters
    events: int  # events of the program
    samples: int  # values of quantities of nodes


def write_timeline(trace: Trace, path: str | os.PathLike[str], form: TimelineFormat) -> WrittenContents:
    """Write a trace for Perfetto or Chrome. Memory holds one window, and the messages that are in flight.

    Raises:
        TracelibError: The file cannot be written. Nothing of it is left behind.
    """
    writer = _Writer(trace, form)
    with whole_file(Path(path)) as file:
        for part in writer.parts():
            file.write(part)
    return WrittenContents(writer.calls, writer.regions, writer.messages, writer.values, writer.events, writer.samples)


class _Writer:
    """Timeline of the kernel, which is filled window by window."""

    def __init__(self, trace: Trace, form: TimelineFormat) -> None:
        self._trace = trace
        self._json = form is TimelineFormat.CHROME
        self._first = np.concatenate([[0], np.cumsum(trace.threads)]).astype(np.int64)  # lane of each rank
        self._lanes = int(self._first[-1])
        timeline = lib.timeline_new(int(form), self._lanes, len(trace.nodes.samples))
        if timeline == ffi.NULL:
            raise MemoryError
        self._timeline = ffi.gc(timeline, lib.timeline_free)
        self._places = trace.extra(CallPaths).named() if trace.extra(CallPaths).known else None
        self._tracks: dict[tuple[int, int], int] = {}  # (lane, counter) -> track
        self._n_tracks = 0
        self._pending = _Receives()
        kinds = lib.NAME_OF_EVENT, lib.NAME_OF_VALUE
        self._notes = NoteTracks(trace, *(partial(self._say_name, kind) for kind in kinds))
        self.calls = self.regions = self.messages = self.values = self.events = self.samples = 0

    def parts(self) -> Iterator[memoryview]:
        """Yield the bytes of the file in pieces. A piece is valid until the next one."""
        lib.timeline_begin(self._timeline)
        self._say_names()
        self._add_nodes()
        yield self._take()
        for begin, end in pairwise(self._trace.windows().tolist()):
            self._add(begin, end)
            yield self._take()
        self._add(_LAST, _LAST)
        lib.timeline_end(self._timeline)
        yield self._take()

    def _take(self) -> memoryview:
        found = ffi.new("const char **")
        size = lib.timeline_take(self._timeline, found)
        if size < 0:
            raise MemoryError
        return memoryview(ffi.buffer(found[0], size)) if size else memoryview(b"")

    def _text(self, text: str) -> bytes:
        return (json.dumps(text) if self._json else text).encode(errors="replace")

    def _say_names(self) -> None:
        trace = self._trace
        labels = [communicator.label for communicator in trace.communicators]
        places = [self._places.text(place) for place in range(len(self._places))] if self._places else []
        kinds = (
            (lib.NAME_OF_CALL, trace.procedures),
            (lib.NAME_OF_REGION, trace.extra(Regions).names),
            (lib.NAME_OF_COMM, labels),
            (lib.NAME_OF_PLACE, places),
        )
        for kind, names in kinds:
            for name in names:
                self._say_name(kind, name)
        for rank in range(trace.size):
            for thread in range(int(trace.threads[rank])):
                texts = self._text(f"rank {rank}"), self._text(f"thread {thread}" if thread else "main thread")
                lib.timeline_lane(self._timeline, self._first[rank] + thread, self._first[rank], *texts)

    def _say_name(self, kind: int, name: str) -> None:
        text = self._text(name)
        lib.timeline_name(self._timeline, kind, text, len(text))

    def _add_nodes(self) -> None:
        """Add the samples of nodes that lie in the time of the trace."""
        for lane, samples in enumerate(self._trace.nodes.samples, self._lanes):
            lib.timeline_node(self._timeline, lane, self._text(f"node {self._trace.nodes.names[samples.node]}"))
            for name, time, values in node_tracks(samples):
                inside = (time >= 0) & (time <= self._trace.duration_ns)
                rows = np.zeros(int(inside.sum()), _MEASURE)
                rows["time"], rows["value"], rows["track"] = time[inside], values[inside], self._new_track(lane, name)
                lib.timeline_measures(self._timeline, pointer(rows, "struct timeline_measure *"), len(rows))
                self.samples += len(rows)

    def _add_events(self, begin: int, end: int) -> None:
        notes = self._notes.between(begin, end, self._first)
        lib.timeline_notes(self._timeline, pointer(notes, "struct timeline_note *"), len(notes))
        self.events += len(notes)

    def _add(self, begin: int, end: int) -> None:
        """Add the records of a window. A window that begins at _LAST has no records, and ends all open slices."""
        new = begin < _LAST
        calls, places, lane = self._calls(begin, end) if new else (np.zeros(0, CALL), None, np.zeros(0, np.int64))
        marks, lane_of_mark = self._marks(begin, end) if new else (np.zeros(0, _MARK), np.zeros(0, np.int64))
        messages = self._trace.unordered_messages(begin, end) if new else np.zeros(0, MESSAGE)
        sends, lane_of_send = self._sends(messages)
        receives, lane_of_receive = self._pending.until(end)
        firsts = [self._firsts(of) for of in (lane, lane_of_mark, lane_of_send, lane_of_receive)]
        kept = [*firsts, calls, marks, sends, receives]
        window = ffi.new(
            "struct timeline_window *",
            {
                "calls": pointer(calls),
                "places": ffi.NULL if places is None else pointer(places, "int64_t *"),
                "marks": pointer(marks, "struct timeline_mark *"),
                "sends": pointer(sends, "struct timeline_flow *"),
                "receives": pointer(receives, "struct timeline_flow *"),
                "first_call": pointer(firsts[0], "int64_t *"),
                "first_mark": pointer(firsts[1], "int64_t *"),
                "first_send": pointer(firsts[2], "int64_t *"),
                "first_receive": pointer(firsts[3], "int64_t *"),
                "until": end,
            },
        )
        lib.timeline_write(self._timeline, window)
        del kept  # it had to outlive the call
        self.calls += len(calls)
        self.regions += int((marks["region"] >= 0).sum())
        self.messages += len(messages)
        if new:
            self._add_events(begin, end)
        if new and self._trace.extra(Counters).known:
            self._add_counters(begin, end)

    def _firsts(self, lane: np.ndarray) -> np.ndarray:
        """Return the index of the first row of each lane, and the number of rows at the end.

        Rows are sorted by lane.
        """
        return np.searchsorted(lane, np.arange(self._lanes + 1)).astype(np.int64)

    def _calls(self, begin: int, end: int) -> tuple[np.ndarray, np.ndarray | None, np.ndarray]:
        """Return the calls of a window sorted by lane, their places (None: not known), and their lanes."""
        trace = self._trace
        calls, count = trace.rank_calls(range(trace.size), begin, end)
        lane = np.repeat(self._first[:-1], count) + calls["thread"]
        places = self._places_of(begin, end)
        if (np.diff(lane) < 0).any():
            order = np.argsort(lane, kind="stable")
            calls, lane, places = calls.take(order), lane[order], None if places is None else places[order]
        return np.ascontiguousarray(calls, CALL), places, lane

    def _places_of(self, begin: int, end: int) -> np.ndarray | None:
        if self._places is None:
            return None
        paths = self._trace.extra(CallPaths)
        rows = [rows for rank in range(self._trace.size) for rows in paths.of(rank, begin, end)]
        return self._places.place[np.concatenate([np.zeros(0, np.int64), *rows])].astype(np.int64)

    def _marks(self, begin: int, end: int) -> tuple[np.ndarray, np.ndarray]:
        regions = self._trace.extra(Regions)
        found, lanes = [np.zeros(0, _MARK)], [np.zeros(0, np.int64)]
        for rank in range(self._trace.size) if regions.names else ():
            rows = regions.marks(rank, begin, end)
            rows = rows[rows["what"] <= Mark.END]
            rows = rows[np.argsort(rows["thread"], kind="stable")]
            marks = np.zeros(len(rows), _MARK)
            marks["time"] = rows["time"]
            marks["region"] = np.where(rows["what"] == Mark.BEGIN, rows["number"].astype(np.int64) - 1, -1)
            found.append(marks)
            lanes.append(self._first[rank] + rows["thread"])
        return joined(found, _MARK), np.concatenate(lanes)

    def _sends(self, messages: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the arrows that begin at the sends of messages, sorted by lane.

        Their other ends are stored for later.
        """
        lanes = [self._first[messages[side]] + messages[f"{side}_thread"] for side in ("source", "destination")]
        times = messages["logical_send"], messages["physical_receive"]
        numbers = 1 + self.messages + np.arange(len(messages))
        # Where clocks say that the receive came first, the arrow is drawn from there.
        backwards = (times[1] < times[0]) | ((times[1] == times[0]) & (lanes[1] < lanes[0]))
        sends = _flows(numbers, times[0], times[1], backwards)
        receives = _flows(numbers, times[1], times[0], ~backwards)
        self._pending.add(receives, lanes[1])
        order = np.lexsort((sends["time"], lanes[0]))
        return sends.take(order), lanes[0][order]

    def _add_counters(self, begin: int, end: int) -> None:
        """Add the readings of counters at the begin and end of calls, and between calls."""
        counters = self._trace.extra(Counters)
        for rank in range(self._trace.size):
            for counts in counters.counts(rank, begin, end):
                for time, values in (("enter", counts.enter), ("exit", counts.exit)):
                    self._put(rank, counts.calls[time], counts.calls["thread"], values)
            samples = counters.samples(rank, begin, end)
            self._put(rank, samples.time, samples.thread, samples.values)

    def _put(self, rank: int, time: np.ndarray, thread: np.ndarray, values: np.ndarray) -> None:
        rows, counter = np.nonzero(values != UNKNOWN)
        lane = self._first[rank] + thread[rows]
        found = np.zeros(len(rows), _VALUE)
        found["time"], found["value"] = time[rows], values[rows, counter]
        keys, which = np.unique(lane * values.shape[1] + counter, return_inverse=True)
        tracks = [self._track(rank, *divmod(key, values.shape[1])) for key in keys.tolist()]
        found["track"] = np.array(tracks, np.int64)[which]
        lib.timeline_values(self._timeline, pointer(found, "struct timeline_value *"), len(found))
        self.values += len(found)

    def _track(self, rank: int, lane: int, counter: int) -> int:
        """Return the number of the track of a thread's counter. The first use of a track defines it."""
        if (lane, counter) not in self._tracks:
            name, thread = self._trace.extra(Counters).known[counter].name, lane - int(self._first[rank])
            self._tracks[lane, counter] = self._new_track(lane, f"{name}, thread {thread}" if thread else name)
        return self._tracks[lane, counter]

    def _new_track(self, lane: int, name: str) -> int:
        number, self._n_tracks = self._n_tracks, self._n_tracks + 1
        lib.timeline_counter(self._timeline, number, lane, self._text(name))
        return number


class _Receives:
    """Ends of arrows at receives that lie in later windows."""

    def __init__(self) -> None:
        self._rows, self._lane = np.zeros(0, _FLOW), np.zeros(0, np.int64)

    def add(self, rows: np.ndarray, lane: np.ndarray) -> None:
        self._rows, self._lane = joined([self._rows, rows], _FLOW), np.concatenate([self._lane, lane])

    def until(self, end: int) -> tuple[np.ndarray, np.ndarray]:
        """Remove the ends before a time (ns), and return them sorted by lane and time, with their lanes."""
        now = self._rows["time"] < end
        rows, lane = self._rows[now], self._lane[now]
        self._rows, self._lane = self._rows[~now], self._lane[~now]
        order = np.lexsort((rows["time"], lane))
        return rows.take(order), lane[order]


def _flows(numbers: np.ndarray, time: np.ndarray, other: np.ndarray, closes: np.ndarray) -> np.ndarray:
    rows = np.zeros(len(time), _FLOW)
    rows["time"], rows["id"], rows["other"], rows["closes"] = time, numbers, other, closes
    return rows
