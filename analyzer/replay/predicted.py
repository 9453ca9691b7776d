"""Predicted run: the calls of the traced run at the times that the simulator gave them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

import numpy as np

from analyzer.pairing.requests import gather_blocks
from analyzer.program.model import Program
from analyzer.program.operation import OperationFlag, OperationKind, between_calls
from analyzer.replay.cpu_waits import Intervals, outside_calls, wait_events
from analyzer.replay.recorded import in_order, recorded, regions_of
from analyzer.replay.simulate import ReplayPrediction
from analyzer.trace import ACCESS, CALL, MARK, REQUEST, Objects, Regions, Trace
from analyzer.trace.paraver import EventType
from analyzer.trace.region_labels import is_of_region
from analyzer.writers.run_file import RankRecords, write_run
from tracelib import schema
from tracelib.schema.procedures import is_of_files, is_one_sided

NO_THREADS: Mapping[int, Intervals] = MappingProxyType({})
_NO_WAITS: Intervals = (np.zeros(0, np.int64), np.zeros(0, np.int64))


def write_predicted(
    trace: Trace, program: Program, prediction: ReplayPrediction, path: Path, machine: str, called: Path | None = None
) -> None:
    """Write the predicted run to `path`, as a packed run that `analyze` opens like a measured run.

    A call lasts from the end of the burst before it to the end of its last operation. Regions and events of the program
    keep their relative position within a burst. In a Dimemas trace, which has no calls, each operation becomes a call.

    Calls that take no time last 1 ns, so that their order is kept. They begin earlier if the burst before them is long
    enough, so that no message is received before it is sent. If it is too short, the following calls begin later, and
    catch up at the next burst.

    Args:
        trace: The traced run.
        program: Its program.
        prediction: Replay of `program` alone, with `times`. With `cpu_waits`, the run also has the waits for CPUs.
        path: File to write.
        machine: Name of the machine.
        called: Name of the file in error messages. None: `path`.

    Raises:
        TracelibError: The file cannot be written.
    """
    regions = () if trace.has_call_times else regions_of(program)
    records = (
        _rank(trace, program, prediction, rank)
        if trace.has_call_times
        else recorded(program, prediction, rank, regions)
        for rank in range(trace.size)
    )
    write_run(trace, _said(records), path, {"predicted_from": trace.path, "machine": machine}, called)


def _said(records: Iterator[RankRecords]) -> Iterator[RankRecords]:
    """Yield the records of all ranks, with an event in the first that marks the run as predicted."""
    first = next(records)
    event = np.array([(0, 1, schema.PREDICTED_TYPE, 0, 0)], schema.EVENT)
    yield replace(first, events=np.concatenate([event, first.events]))
    yield from records


def _rank(trace: Trace, program: Program, prediction: ReplayPrediction, rank: int) -> RankRecords:
    calls = gather_blocks(trace.calls(rank), CALL)
    times = CallTimes(program, prediction, rank)
    map_ = TimeMap(calls, *times.next(calls["thread"]), times.waits)
    requests = gather_blocks(trace.requests(rank), REQUEST).copy()
    requests["posted"] = map_.entries(requests["posted"])
    started = requests["completed"] <= 0
    requests["completed"] = np.where(started, requests["completed"], map_.exits(requests["completed"]))
    marks = gather_blocks([trace.extra(Regions).marks(rank)], MARK).copy()
    marks["time"] = map_.between(marks["time"], marks["thread"])
    events = trace.extra(Regions).events(rank)
    events = events[~is_of_region(events["type"])]
    own = np.zeros(len(events), schema.EVENT)
    own["time"] = map_.between(events["time"], events["thread"])
    for column in ("type", "value", "thread"):
        own[column] = events[column]
    end = max(times.end, int(map_.exit.max())) if len(calls) else 0
    own = np.concatenate([own, *map_.wait_events, np.array([(end, 0, EventType.APPLICATION, 0, 0)], schema.EVENT)])
    moved = calls.copy()
    moved["enter"], moved["exit"] = map_.enter, map_.exit
    moved["inside"] = np.minimum(moved["inside"], moved["exit"] - moved["enter"])
    moved["tracer"] = 0
    accesses = gather_blocks(trace.extra(Objects).accesses(rank), ACCESS).copy()
    shares = np.array([is_one_sided(name) or is_of_files(name) for name in trace.procedures], bool)
    accesses["enter"] = map_.entries_of(accesses["enter"], accesses["thread"], shares[calls["call"]])
    return RankRecords(moved[np.argsort(moved["enter"], kind="stable")], requests, marks, own, accesses)


def times_of_calls(
    program: Program, prediction: ReplayPrediction, streams: range, counts: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return the predicted entries and exits (ns) of the calls of neighbouring streams, stream after stream.

    What a thread does after its last call counts as one more call.

    Args:
        program: The replayed program.
        prediction: Replay of the program, with `times`.
        streams: The streams.
        counts: Number of first calls of each stream that are returned. None: all calls.
    """
    assert prediction.times is not None, "simulate(..., times=True)"
    bounds = program.offsets[streams.start : streams.stop + 1]
    ops, times = (table[bounds[0] : bounds[-1]] for table in (program.ops, prediction.times))
    of_call = np.flatnonzero(~between_calls(ops) & (ops["kind"] != OperationKind.PARALLEL))
    begins = np.flatnonzero(ops["flags"][of_call] & OperationFlag.FIRST)
    ends = np.append(begins[1:], len(of_call))[: len(begins)] - 1
    if counts is not None:
        stream = np.searchsorted(bounds - bounds[0], of_call[begins], "right") - 1
        number = np.arange(len(begins)) - np.searchsorted(stream, stream)
        chosen = number < counts[stream]
        begins, ends = begins[chosen], ends[chosen]
    return times["begin"][of_call[begins]], times["end"][of_call[ends]]


class CallTimes:
    """Predicted entries and exits of a rank's calls, in the order in which the trace has the calls."""

    def __init__(self, program: Program, prediction: ReplayPrediction, rank: int) -> None:
        assert prediction.times is not None, "simulate(..., times=True)"
        self.end = 0  # end of the rank, ns
        self.waits: dict[int, Intervals] = {}  # waits for a CPU, by thread, for threads that waited
        self._times: dict[int, tuple[np.ndarray, np.ndarray]] = {}
        for index in program.streams_of(rank):
            times = prediction.times[program.stream(index)]
            self.end = max(self.end, int(times["end"][-1]) if len(times) else 0)
            self._times[int(program.thread[index])] = times_of_calls(program, prediction, range(index, index + 1))
            waits = prediction.cpu_waits.shown_of_stream(index) if prediction.cpu_waits else _NO_WAITS
            if len(waits[0]):
                self.waits[int(program.thread[index])] = waits
        self._next = dict.fromkeys(self._times, 0)

    def next(self, threads: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the predicted times of the next calls.

        Args:
            threads: Thread of each call, shape (calls,), in the order of the trace.

        Returns:
            Entries and exits, int64 ns of shape (calls,).
        """
        found = np.zeros((2, len(threads)), np.int64)
        for thread, times in self._times.items():
            mine = threads == thread if len(self._times) > 1 else np.ones(len(threads), bool)
            first = self._next[thread]
            self._next[thread] = last = first + int(np.count_nonzero(mine))
            for row, of_all in zip(found, times, strict=True):
                row[mine] = of_all[first:last]
        return found[0], found[1]


class TimeMap:
    """Map from the times of a traced rank to the times of its prediction.

    waits: waits for a CPU, by thread. `wait_events` has the same waits as events of the rank's file.
    """

    def __init__(
        self, calls: np.ndarray, enter: np.ndarray, exit_: np.ndarray, waits: Mapping[int, Intervals] = NO_THREADS
    ) -> None:
        self.enter, self.exit = enter.copy(), exit_.copy()
        self.wait_events: list[np.ndarray] = []
        self._between: dict[int, tuple[np.ndarray, np.ndarray]] = {}
        for thread in np.unique(calls["thread"]).tolist():
            mine = calls["thread"] == thread
            no_time = enter[mine] == exit_[mine]
            self.enter[mine], self.exit[mine] = in_order(enter[mine], exit_[mine], no_time)
            moved = self.enter[mine], self.exit[mine]
            points = _points(calls[mine], *moved)
            if thread in waits:
                events = wait_events(waits[thread], (enter[mine], exit_[mine]), moved, thread)
                points = _with_waits(*points, *outside_calls(events))
                self.wait_events.append(events)
            self._between[thread] = points
        self._enter, self._thread = calls["enter"], calls["thread"]
        order = np.argsort(calls["exit"], kind="stable")
        self._exit, self._exit_to = calls["exit"][order], self.exit[order]

    def entries(self, times: np.ndarray) -> np.ndarray:
        """Map the times at which calls were entered. A time that is no entry is mapped as in `between`."""
        return self._exact(times, self._enter, self.enter)

    def entries_of(self, times: np.ndarray, threads: np.ndarray, calls: np.ndarray) -> np.ndarray:
        """Map times at which threads entered calls.

        Args:
            times: Times in ns, ascending.
            threads: Thread of each time.
            calls: Mask of the calls of the rank. If several calls began at the same time, one of these is preferred.
        """
        found = times.copy()
        for thread in np.unique(threads).tolist():
            asked = np.flatnonzero(threads == thread)
            for own in (self._thread == thread, calls & (self._thread == thread)):
                entered, when = self._enter[own], times[asked]
                first, last = (np.searchsorted(entered, when, side) for side in ("left", "right"))
                equals_before = np.arange(len(when)) - np.searchsorted(when, when)
                there = first < last
                found[asked[there]] = self.enter[own][np.minimum(first + equals_before, last - 1)[there]]
        return found

    def exits(self, times: np.ndarray) -> np.ndarray:
        """Map the times at which calls ended. A time that is no exit is mapped as in `between`."""
        return self._exact(times, self._exit, self._exit_to)

    def _exact(self, times: np.ndarray, from_: np.ndarray, to: np.ndarray) -> np.ndarray:
        if not len(from_):
            return times
        at = np.searchsorted(from_, times).clip(max=len(from_) - 1)
        return np.where(from_[at] == times, to[at], self.between(times, np.zeros(len(times), np.int64)))

    def between(self, times: np.ndarray, threads: np.ndarray) -> np.ndarray:
        """Map any times of threads by linear interpolation between the nearest entries and exits.

        A time after the last exit keeps its distance from the last exit.
        """
        found = times.astype(np.int64)
        for thread in np.unique(threads).tolist():
            mine = threads == thread
            from_, to = self._between.get(thread, (np.zeros(1), np.zeros(1)))
            beyond = np.maximum(times[mine] - from_[-1], 0)
            found[mine] = np.rint(np.interp(times[mine], from_, to)).astype(np.int64) + beyond
        return found


def _points(calls: np.ndarray, enter: np.ndarray, exit_: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the entries and exits of a thread's calls in the trace and in the prediction, both ascending."""
    pairs = (np.column_stack([calls["enter"], calls["exit"]]), np.column_stack([enter, exit_]))
    from_, to = (np.maximum.accumulate(np.concatenate([[0], pair.ravel()])) for pair in pairs)
    return from_, to


def _with_waits(from_: np.ndarray, to: np.ndarray, begin: np.ndarray, end: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Add the begin and the end of each wait between calls to the points of the map; no traced time lies inside a wait.

    The share of the burst's computation before the wait is the same in the trace and in the prediction.
    """
    inside = end <= to[-1]
    begin, end = begin[inside], end[inside]
    at = np.searchsorted(to, begin, "right") - 1  # the point before
    length = end - begin
    all_waits = np.append(0, np.cumsum(length))
    first, last = np.searchsorted(at, at), np.searchsorted(at, at, "right")
    computed = begin - to[at] - (all_waits[:-1] - all_waits[first])
    whole = to[at + 1] - to[at] - (all_waits[last] - all_waits[first])
    share = np.divide(computed, whole, out=np.zeros(len(at)), where=whole > 0).clip(0, 1)
    traced = from_[at] + np.rint(share * (from_[at + 1] - from_[at])).astype(np.int64)
    froms = np.concatenate([from_, np.repeat(traced, 2)])
    tos = np.concatenate([to, np.column_stack([begin, end]).ravel()])
    order = np.lexsort((froms, tos))
    return froms[order], tos[order]
