"""One thread of a rank: its rows in the file, and the records of the trace made from them by the kernels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Any

import numpy as np

from analyzer._kernels import ffi, lib
from analyzer.native import pointer
from analyzer.sources.lane.burst_mode import BurstMode, kind_of
from analyzer.sources.lane.count_table import CountTable
from analyzer.sources.lane.displacements import Units, in_target_units
from analyzer.sources.lane.regions import Regions, is_one_of
from analyzer.sources.lane.samples import ThreadSamples, is_reading
from analyzer.sources.lane.summed import SUMMED_PROCEDURE, as_polls, last_exit, stretches, totals
from analyzer.sources.rank_file.clock import Clock
from analyzer.sources.rank_file.index import SCAN_ROWS, ThreadTable
from analyzer.sources.rank_file.rank_file import RankFile
from analyzer.trace import ACCESS, CALL, ERROR, EVENT, FLUSH, REQUEST, STATE, State
from analyzer.trace.paraver import event_table, state_table
from analyzer.trace.region_labels import region_events
from tracelib.schema import (
    ACCESS_HAS_GROUP,
    CPU_WAIT_TYPE,
    ERROR_TYPE,
    FLUSH_TYPE,
    SYNC_TYPE,
    TRACERS_TYPES,
    TRACING_TYPE,
    CpuWait,
)
from tracelib.schema import REQUEST as RAW_REQUEST
from tracelib.schema.procedures import (
    CLOCKS,
    COLLECTIVES,
    ONE_SIDED_OPERATIONS,
    ROWS_THAT_RECEIVE,
    ROWS_THAT_SEND,
    base_name,
)

PROCEDURE = np.dtype([("value", "<i8"), ("type", "<u4"), ("state", "<i4"), ("index", "<i4"), ("role", "<i4")])
"""`struct procedure` of the kernels."""

_NOT_THE_PROGRAMS = (FLUSH_TYPE, SYNC_TYPE, TRACING_TYPE, CPU_WAIT_TYPE)
"""Events that begin and end time that is not the program's, or in which it waits for a CPU."""

_LAST = {"calls": "exit", "polls": "exit", "events": "time"}
"""The column of a table's last row that ends its thread; of summaries any row may."""

_NO_FLUSHES = np.zeros(0, FLUSH)

_OF_TRACER = frozenset({int(State.IO), int(State.OTHERS)})
_OF_NOBODY, _OF_CPUS = frozenset({int(State.TRACING_DISABLED)}), frozenset({int(State.SCHEDULING)})
_TRACERS_TYPES = frozenset(TRACERS_TYPES)

RECORDED = ("calls", "polls", "events", "summaries")
"""Tables of which a thread that did much has many rows."""

ProcedureTable = tuple[np.ndarray, np.ndarray]
"""PROCEDURE, and the kind for burst mode, of each row of a file's `procedures`, of calls that were summed up, and of a
number without a name."""

UNKNOWN_PROCEDURE = "MPI_Unknown"
"""Stands for a call number that the file's `procedures` does not have."""


def role_of(name: str) -> int:
    """What the kernels need to know of a procedure: ROLE_SEND, ..."""
    base = base_name(name)
    if base in ROWS_THAT_SEND:
        return lib.ROLE_SEND
    if base in ROWS_THAT_RECEIVE:
        return lib.ROLE_RECEIVE
    if base in ONE_SIDED_OPERATIONS:
        return lib.ROLE_ONE_SIDED
    if base in CLOCKS:
        return lib.ROLE_CLOCK
    return lib.ROLE_COLLECTIVE if base in COLLECTIVES else lib.ROLE_NONE


def merge_procedures(files: Sequence[RankFile]) -> tuple[str, ...]:
    """The names in all files, each once, in order of appearance; last the one for numbers without a name."""
    lists = {id(f.procedures): f.procedures for f in files}  # a few: files that say the same share one
    names = dict.fromkeys(name for own in lists.values() for name in own)
    summed = (SUMMED_PROCEDURE,) if any(f.lengths["summaries"] for f in files) else ()
    return (*names, *summed, UNKNOWN_PROCEDURE)


def procedure_tables(files: Sequence[RankFile], procedures: Sequence[str]) -> dict[int, ProcedureTable]:
    """Those of all files, by the `id` of what they share: their `procedures`."""
    lists = {id(f.procedures): f.procedures for f in files}
    return {key: _procedure_table(own, tuple(procedures)) for key, own in lists.items()}


@lru_cache(maxsize=16)
def _procedure_table(own: tuple[str, ...], procedures: tuple[str, ...]) -> ProcedureTable:
    number = {name: k for k, name in enumerate(procedures)}
    summed = SUMMED_PROCEDURE if SUMMED_PROCEDURE in number else UNKNOWN_PROCEDURE
    names = (*own, summed, UNKNOWN_PROCEDURE)
    index = np.array([number[name] for name in names], np.int32)
    table = np.zeros(len(names), PROCEDURE)
    types, values = event_table(procedures)
    table["type"], table["value"] = types[index], values[index]
    table["state"] = state_table(procedures)[index]
    table["index"] = index
    table["role"] = [role_of(name) for name in names]
    return table, np.array([kind_of(name) for name in names])


class RankTables:
    """What the rows of one rank refer to, as the kernels take it."""

    def __init__(
        self,
        file: RankFile,
        procedures: ProcedureTable,
        communicator_index: np.ndarray,
        object_index: np.ndarray,
        uneven_windows: Mapping[int, Units],
    ) -> None:
        a = file.attributes
        self.start_ticks, self.overhead_ticks = int(a["start_ticks"]), int(a["overhead_ticks"])
        self.overhead_cpu_ns = int(a["overhead_cpu_ns"])
        self.summed = len(file.procedures)
        self.procedures, self.kinds = procedures
        self.communicators = file.communicators if len(file.communicators) else np.zeros(1, file.communicators.dtype)
        self.members, self.ranks, self.ranks_of = file.members, file.size, file.ranks_of
        self.object_index, self.uneven_windows = object_index, uneven_windows
        self.communicator_index = communicator_index  # int32


class Lane:
    """A thread with its clock; times in ns unless said otherwise."""

    def __init__(
        self, rank: int, thread: int, cpu: int, clock: Clock, tables: dict[str, ThreadTable], refers: RankTables
    ) -> None:
        self.rank, self.thread, self.cpu, self.clock, self.tables = rank, thread, cpu, clock, tables
        self.start, self.stop = self._bounds()
        self.cpu_overhead = refers.overhead_cpu_ns
        self.overhead = clock.ns(refers.start_ticks + refers.overhead_ticks) - clock.ns(refers.start_ticks)
        self.regions: Regions | None = None  # if the program has any
        self.counts: CountTable | None = None  # if the rank reads counters
        self.samples: ThreadSamples | None = None  # likewise
        self._refers = refers
        self._window = (0, -1), (0, 0)  # times and ticks that were asked for last

    def _bounds(self) -> tuple[int, int]:
        """Times of the thread's first and last row; (0, 0) if it has none."""
        first, last = [], []
        for name, table in self.tables.items():
            if len(table) and name != "requests":
                first.append(self.clock.ns(table.first_key))
                if name == "summaries":
                    last.append(self.clock.ns(last_exit(table)))
                elif name in _LAST:
                    last.append(self.clock.ns(table.last()[_LAST[name]]))
        return min(first, default=0), max(last, default=0)

    @cached_property
    def _struct(self) -> Any:
        r = self._refers
        found = ffi.new(
            "struct lane *",
            {
                "procedures": pointer(r.procedures, "struct procedure *"), "n_procedures": len(r.procedures),
                "communicators": pointer(r.communicators), "n_communicators": len(r.communicators),
                "members": pointer(r.members, "uint32_t *"), "n_members": len(r.members),
                "communicator_index": pointer(r.communicator_index, "int32_t *"),
                "rank": self.rank, "thread": self.thread, "cpu": self.cpu, "ranks": r.ranks,
            },
        )  # fmt: skip
        self.clock.fill(found.clock)
        return found

    @property
    def struct(self) -> Any:
        """`struct lane *` with the present bounds."""
        found = self._struct
        found.start, found.stop, found.overhead = self.start, self.stop, self.overhead
        return found

    def rows(self, table: str, begin: int, end: int, around: int = 0) -> np.ndarray:
        """Raw rows whose key lies in [begin, end), and `around` more on both sides."""
        rows = self.tables[table]
        return rows.window(*self.ticks(begin, end), around) if len(rows) else rows.read(0, 0)

    def ticks(self, begin: int, end: int) -> tuple[int, int]:
        """Times as ticks; mostly one window is asked for again and again."""
        if self._window[0] != (begin, end):
            self._window = (begin, end), (self.clock.ticks(begin), self.clock.ticks(end))
        return self._window[1]

    def group(self, row: int) -> np.ndarray:
        """World ranks of the group of a row of `communicators`."""
        group = self._refers.communicators[row]
        return np.asarray(self._refers.ranks_of(int(group["members"]), int(group["size"])), np.int64)

    def accesses(self, begin: int, end: int, around: int = 0) -> np.ndarray:
        """Raw rows of `accesses`, with the offsets of one-sided operations in bytes of the target's window."""
        rows, windows = self.rows("accesses", begin, end, around), self._refers.uneven_windows
        return in_target_units(rows, self.rows("calls", begin, end, around), windows) if windows else rows

    def folded(self, begin: int, end: int, around: int = 0) -> np.ndarray:
        """Raw rows of `polls`, and stretches of calls that were summed up as such, in order of enter."""
        polls, summaries = self.rows("polls", begin, end, around), self.tables["summaries"]
        if not len(summaries):
            return polls
        ticks = self.clock.ticks(begin), self.clock.ticks(end)
        rows = np.concatenate([polls, as_polls(stretches(summaries, *ticks, around), self._refers.summed)])
        return rows[np.argsort(rows["enter"], kind="stable")]

    def paths(self, begin: int, end: int) -> np.ndarray:
        """Rows of `paths` (int64; 0: not known) of the calls and folded polls with enter in [begin, end), in the order
        of `calls`."""
        ticks = self.ticks(begin, end)
        calls, polls = self.rows("calls", begin, end), self.folded(begin, end)
        of_calls = self.tables["calls"].beside("call_paths", *ticks)
        of_polls = self.tables["polls"].beside("poll_paths", *ticks)
        if len(polls) > len(of_polls):  # stretches of calls that were summed up have none
            known = np.isin(polls["call"], (self._refers.summed,), invert=True)
            of_polls, of_known = np.zeros(len(polls), of_polls.dtype), of_polls
            of_polls[known] = of_known
        order = np.argsort(np.concatenate([polls["enter"], calls["enter"]]), kind="stable")
        return np.concatenate([of_polls, of_calls])[order].astype(np.int64)

    @property
    def summed(self) -> np.ndarray:
        """SUMMED of this thread."""
        found = totals(self.tables["summaries"])
        ns_per_tick = Fraction(
            self.stop - self.start, max(self.clock.ticks(self.stop) - self.clock.ticks(self.start), 1)
        )
        found["call"] = [self.procedure_index(int(call)) for call in found["call"]]
        found["inside"] = [round(int(ticks) * ns_per_tick) for ticks in found["inside"]]
        return found

    def event_rows(self, begin: int, end: int) -> np.ndarray:
        """Raw events with time in [begin, end), without readings of counters; regions and parameters have the trace's
        numbers, and nest."""
        if self.regions is None:
            rows = self.rows("events", begin, end)
        else:
            rows = self.regions.rows(*(self.clock.ticks(t) for t in (begin, end, self.stop)))
        return rows[~is_reading(rows["type"])]

    @cached_property
    def burst_mode(self) -> BurstMode | None:
        """What a .prv says of calls that were summed up; None: none were."""
        if not len(self.tables["summaries"]):
            return None
        buffers = self.not_the_programs["begin"][self.not_the_programs["state"] == State.IO]
        return BurstMode(self.tables["summaries"], self.clock, self._refers.kinds, buffers)

    def object_index(self, rows: np.ndarray) -> np.ndarray:
        """Index in Objects.known of rows of `objects`; -1: none."""
        index = self._refers.object_index
        return np.where(rows < len(index), index[np.minimum(rows, len(index) - 1)], -1)

    def procedure_indices(self, rows: np.ndarray) -> np.ndarray:
        """The same of many rows of `procedures`."""
        index = self._refers.procedures["index"]
        return index[np.minimum(rows, len(index) - 1)]

    def procedure_index(self, row: int) -> int:
        """Index in Trace.procedures of a row of `procedures`."""
        index = self._refers.procedures["index"]
        return int(index[min(row, len(index) - 1)])

    def requests(self, rows: np.ndarray) -> np.ndarray:
        """Raw rows of `requests` as REQUEST, in the same order."""
        found = np.empty(len(rows), REQUEST)
        lib.expand_requests(self.struct, pointer(rows), len(rows), pointer(found))
        return found

    @cached_property
    def not_the_programs(self) -> np.ndarray:
        """FLUSH of this thread in order, disjoint: buffers that were written, clocks that were measured, times when
        nothing was recorded, and (in calls, too) those in which a predicted thread waits for a CPU.

        What began and did not end (a process that died while flushing) lasts until `stop`. Recording that goes on
        without having stopped did not begin before: all was dropped up to there.
        """
        table = self.tables["events"]
        if not len(table):
            return _NO_FLUSHES
        if len(table) <= SCAN_ROWS:
            events = table.read(0, len(table))
        else:
            events = np.concatenate([block[is_one_of(block["type"], _NOT_THE_PROGRAMS)] for block in table.scan()])
        found = np.empty(len(events) + 1, FLUSH)
        return found[: lib.interruptions(self.struct, pointer(events), len(events), pointer(found))].copy()

    @property
    def has_programs_events(self) -> bool:
        """Whether there are events of others than the tracer; of very many events it is taken for granted."""
        return self._event_types is None or not _TRACERS_TYPES.issuperset(self._event_types)

    @property
    def has_errors(self) -> bool:
        """Whether calls returned errors; likewise."""
        return self._event_types is None or ERROR_TYPE in self._event_types

    @cached_property
    def _event_types(self) -> frozenset[int] | None:
        """Those that occur; None: there are very many events."""
        table = self.tables["events"]
        return None if len(table) > SCAN_ROWS else frozenset(table.read(0, len(table))["type"].tolist())

    @property
    def flushes(self) -> np.ndarray:
        """FLUSH of the tracer's own time: buffers that this thread wrote, clocks that it measured."""
        return self._in_state(_OF_TRACER)

    @property
    def unrecorded(self) -> np.ndarray:
        """FLUSH of the times when nothing was recorded."""
        return self._in_state(_OF_NOBODY)

    @cached_property
    def cpu_waits(self) -> np.ndarray:
        """FLUSH of the times when this thread waited for a CPU to compute."""
        waits = self._in_state(_OF_CPUS)
        if not len(waits):
            return waits
        said = (rows[rows["type"] == CPU_WAIT_TYPE] for rows in self.tables["events"].scan())
        begins = np.concatenate([rows["time"][rows["value"] == CpuWait.OUTSIDE] for rows in said])
        return waits[np.isin(waits["begin"], self.clock.times(begins))]

    def _in_state(self, states: frozenset[int]) -> np.ndarray:
        if self._states.isdisjoint(states):
            return _NO_FLUSHES
        return self.not_the_programs[is_one_of(self.not_the_programs["state"], states)]

    @cached_property
    def _states(self) -> frozenset[int]:
        """Those in `not_the_programs`."""
        return frozenset(self.not_the_programs["state"].tolist())

    @cached_property
    def recorded(self) -> int:
        """How many calls, polls and events the thread recorded, and stretches of calls that were summed up."""
        return sum([len(self.tables[name]) for name in RECORDED])


class Buffer:
    """Records of several lanes one after the other, each lane's in order of time, then merged into one order."""

    def __init__(self, dtype: np.dtype, room: int) -> None:
        self._records = np.empty(room, dtype)
        self._offsets = [0]

    def tail(self) -> Any:
        """Where the next lane's records go."""
        return pointer(self._records[self._offsets[-1] :])

    def wrote(self, count: int) -> None:
        """The lane is done."""
        self._offsets.append(self._offsets[-1] + int(count))

    def records(self) -> np.ndarray:
        """All records by (lane, order in the lane)."""
        return self._records[: self._offsets[-1]]

    def merged(self) -> np.ndarray:
        """All records by (time, lane, order in the lane)."""
        records = self.records()
        runs = [(a, b) for a, b in pairwise(self._offsets) if b > a]
        if len(runs) < 2:
            return records
        return merge_runs(records, np.array(self._offsets, np.int64))


def merge_runs(records: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """Runs records[offsets[k]:offsets[k+1]], each in order of its first column, merged by (that, k)."""
    merged = np.empty_like(records)
    runs = len(offsets) - 1
    if lib.lane_merge(pointer(records), pointer(offsets, "int64_t *"), runs, records.itemsize, pointer(merged)) < 0:
        raise MemoryError
    return merged


def states(lanes: Sequence[Lane], begin: int, end: int) -> np.ndarray:
    """STATE that begin in [begin, end), by (begin, lane)."""
    return _states(lanes, begin, end).merged()


def lane_states(lanes: Sequence[Lane], begin: int, end: int) -> np.ndarray:
    """The same by (lane, begin)."""
    return _states(lanes, begin, end).records()


def _states(lanes: Sequence[Lane], begin: int, end: int) -> Buffer:
    inputs = []
    for lane in lanes:
        flushes = lane.not_the_programs
        near = np.searchsorted(flushes["end"], begin - 1 - lane.overhead), np.searchsorted(flushes["begin"], end) + 1
        first = begin - 1 - lane.overhead
        calls, polls = lane.rows("calls", first, end, around=1), lane.folded(first, end, around=1)
        inputs.append((lane, calls, polls, flushes[near[0] : near[1]]))
    buffer = Buffer(STATE, sum(3 * (len(c) + len(p) + len(f)) + 3 for _, c, p, f in inputs))
    for lane, *rows in inputs:
        buffer.wrote(lib.expand_states(lane.struct, *_counted(rows), begin, end, buffer.tail()))
    return buffer


def events(lanes: Sequence[Lane], begin: int, end: int) -> np.ndarray:
    """EVENT with time in [begin, end), by (time, lane)."""
    inputs = []
    for lane in lanes:
        calls, polls = lane.rows("calls", begin, end, around=1), lane.folded(begin, end, around=1)
        events, accesses = _all_events(lane, begin, end), lane.accesses(begin, end, around=1)
        inputs.append((lane, calls, polls, events, accesses))
    buffer = Buffer(EVENT, sum(6 * len(c) + 2 * len(p) + len(e) + 2 for _, c, p, e, _ in inputs))
    for lane, *rows in inputs:
        buffer.wrote(lib.expand_events(lane.struct, *_counted(rows), begin, end, buffer.tail()))
    return buffer.merged()


def _all_events(lane: Lane, begin: int, end: int) -> np.ndarray:
    """Rows of the schema's EVENT as a .prv has them, with those that stand for calls that were summed up."""
    rows = region_events(lane.event_rows(begin, end))
    if lane.burst_mode is None:
        return rows
    rows = np.concatenate([rows, lane.burst_mode.rows(lane.clock.ticks(begin), lane.clock.ticks(end))])
    return rows[np.argsort(rows["time"], kind="stable")]


def calls(lanes: Sequence[Lane], begin: int, end: int) -> np.ndarray:
    """CALL (calls and folded polls) with enter in [begin, end), by (enter, lane)."""
    if len(lanes) == 1:
        return _calls_of(lanes[0], begin, end)
    inputs = [(lane, lane.rows("calls", begin, end), lane.folded(begin, end)) for lane in lanes]
    buffer = Buffer(CALL, sum(len(c) + len(p) for _, c, p in inputs))
    for lane, *rows in inputs:
        buffer.wrote(lib.expand_calls(lane.struct, *_counted(rows), buffer.tail()))
    return buffer.merged()


def _calls_of(lane: Lane, begin: int, end: int) -> np.ndarray:
    rows, polls = lane.rows("calls", begin, end), lane.folded(begin, end)
    found = np.empty(len(rows) + len(polls), CALL)
    lib.expand_calls(lane.struct, *_counted((rows, polls)), pointer(found))
    return found


_ENTERED_PATH = np.dtype([("enter", "<i8"), ("path", "<i8")])


def paths(lanes: Sequence[Lane], begin: int, end: int) -> np.ndarray:
    """Rows of `paths` of the records that `calls` gives, in their order."""
    if len(lanes) == 1:
        return lanes[0].paths(begin, end)
    found = [np.zeros(0, _ENTERED_PATH)]
    for lane in lanes:
        of_lane = np.zeros(len(rows := lane.paths(begin, end)), _ENTERED_PATH)
        of_lane["enter"], of_lane["path"] = _calls_of(lane, begin, end)["enter"], rows
        found.append(of_lane)
    offsets = np.cumsum([len(rows) for rows in found])
    return merge_runs(np.concatenate(found), offsets.astype(np.int64))["path"]


def accesses(lane: Lane, begin: int, end: int) -> np.ndarray:
    """ACCESS with enter in [begin, end), in order of enter."""
    rows = lane.accesses(begin, end)
    found = np.zeros(len(rows), ACCESS)
    raw = np.zeros(len(rows), RAW_REQUEST)
    raw["posted"] = rows["enter"]
    found["enter"] = lane.requests(raw)["posted"]
    has_group = rows["detail"] & ACCESS_HAS_GROUP > 0
    found["group"] = np.where(has_group, rows["offset"], 0)
    found["offset"] = np.where(has_group, -1, rows["offset"])
    found["detail"] = rows["detail"] & ~np.uint16(ACCESS_HAS_GROUP)
    found["object"], found["thread"] = lane.object_index(rows["object"]), lane.thread
    return found


def errors(lane: Lane) -> np.ndarray:
    """ERROR of a thread, in order of time: each belongs to the call entered last before it."""
    found = []
    for block in lane.tables["events"].scan():
        for row in block[block["type"] == ERROR_TYPE]:
            calls = lane.tables["calls"].window(int(row["time"]), int(row["time"]), 1)
            calls = calls[calls["enter"] <= row["time"]]
            call = lane.procedure_index(int(calls["call"][-1])) if len(calls) else -1
            found.append((lane.clock.ns(int(row["time"])), int(row["value"]), call, lane.thread))
    return np.array(found, ERROR)


def requests(lane: Lane, begin: int, end: int) -> np.ndarray:
    """REQUEST whose key lies in [begin, end), in file order."""
    return lane.requests(lane.rows("requests", begin, end))


def _counted(tables: Sequence[np.ndarray]) -> list[Any]:
    """address, count, address, count, ..."""
    return [item for table in tables for item in (pointer(table), len(table))]
