"""Thread of a rank: its clock, its tables in the file, and facts about the whole thread."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from analyzer._kernels import ffi, lib
from analyzer.c_arrays import pointer
from analyzer.recording.rank_file.clock import Clock
from analyzer.recording.rank_file.file import RankFile
from analyzer.recording.rank_file.thread_table import ThreadTable
from analyzer.recording.thread_records.burst_mode import BurstMode, as_polls, last_exit, stretches, totals
from analyzer.recording.thread_records.count_table import CountTable
from analyzer.recording.thread_records.displacements import Units, in_target_units
from analyzer.recording.thread_records.procedures import ProcedureTable
from analyzer.recording.thread_records.regions import Regions, is_one_of
from analyzer.recording.thread_records.samples import ThreadSamples, is_reading
from analyzer.trace import FLUSH, REQUEST, State
from tracelib.schema import (
    CPU_WAIT_TYPE,
    ERROR_TYPE,
    FLUSH_TYPE,
    PATHS_TYPE,
    SYNC_TYPE,
    TRACERS_TYPES,
    TRACING_TYPE,
    CpuWait,
)

_NOT_THE_PROGRAMS = (FLUSH_TYPE, SYNC_TYPE, PATHS_TYPE, TRACING_TYPE, CPU_WAIT_TYPE)
"""Types of events that begin or end time of the tracer, time without recording, or a wait for a CPU."""

_LAST = {"calls": "exit", "polls": "exit", "events": "time"}
"""Column of a table's last row that may be the thread's last time. In `summaries` any row may have the last time."""

_NO_FLUSHES = np.zeros(0, FLUSH)

_OF_TRACER = frozenset({int(State.IO), int(State.OTHERS), int(State.PATHS)})
_OF_NOBODY, _OF_CPUS = frozenset({int(State.TRACING_DISABLED)}), frozenset({int(State.SCHEDULING)})
_TRACERS_TYPES = frozenset(TRACERS_TYPES)

RECORDED = ("calls", "polls", "events", "summaries")
"""Tables that have many rows if a thread did much."""


class RankTables:
    """Tables that the rows of one rank refer to, in the form that the kernels need."""

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


class ThreadRecords:
    """Thread of a rank, with its clock and its tables. Times are in ns unless stated otherwise.

    start, stop: first and last time. overhead, cpu_overhead: time and CPU time of the tracer after each call.
    """

    def __init__(
        self, rank: int, thread: int, cpu: int, clock: Clock, tables: dict[str, ThreadTable], refers: RankTables
    ) -> None:
        self.rank, self.thread, self.cpu, self.clock, self.tables = rank, thread, cpu, clock, tables
        self.start, self.stop = self._bounds()
        self.cpu_overhead = refers.overhead_cpu_ns
        self.overhead = clock.ns(refers.start_ticks + refers.overhead_ticks) - clock.ns(refers.start_ticks)
        self.regions: Regions | None = None  # if the program has any
        self.counts: CountTable | None = None  # if the rank reads counters
        self.samples: ThreadSamples | None = None  # if the rank reads counters
        self._refers = refers
        self._window = (0, -1), (0, 0)  # times and ticks of the latest window

    def _bounds(self) -> tuple[int, int]:
        """Return the times of the thread's first and last row, ns; (0, 0) if it has none."""
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
        """`struct lane *` of the kernels, with the present values of `start`, `stop` and `overhead`."""
        found = self._struct
        found.start, found.stop, found.overhead = self.start, self.stop, self.overhead
        return found

    def rows(self, table: str, begin: int, end: int, around: int = 0) -> np.ndarray:
        """Return the raw rows of a table in a window.

        Args:
            table: Name of the table.
            begin: Begin of the window, ns.
            end: End of the window, ns.
            around: Number of further rows before and after the window.
        """
        rows = self.tables[table]
        return rows.window(*self.ticks(begin, end), around) if len(rows) else rows.read(0, 0)

    def ticks(self, begin: int, end: int) -> tuple[int, int]:
        """Convert the begin and the end of a window to ticks.

        The latest result is kept, as it is usually needed again.
        """
        if self._window[0] != (begin, end):
            self._window = (begin, end), (self.clock.ticks(begin), self.clock.ticks(end))
        return self._window[1]

    def group(self, row: int) -> np.ndarray:
        """Return the world ranks of the group of a communicator.

        Args:
            row: Row of the file's table `communicators`.
        """
        group = self._refers.communicators[row]
        return np.asarray(self._refers.ranks_of(int(group["members"]), int(group["size"])), np.int64)

    def accesses(self, begin: int, end: int, around: int = 0) -> np.ndarray:
        """Return raw rows of `accesses` in [begin, end) ns, and `around` more rows on both sides.

        Offsets of one-sided operations are in bytes of the target's RMA window.
        """
        rows, windows = self.rows("accesses", begin, end, around), self._refers.uneven_windows
        return in_target_units(rows, self.rows("calls", begin, end, around), windows) if windows else rows

    def folded(self, begin: int, end: int, around: int = 0) -> np.ndarray:
        """Return raw rows of `polls` in [begin, end) ns, in order of enter, and `around` more rows on both sides.

        Stretches of summed calls are included, in the same form.
        """
        polls, summaries = self.rows("polls", begin, end, around), self.tables["summaries"]
        if not len(summaries):
            return polls
        ticks = self.clock.ticks(begin), self.clock.ticks(end)
        rows = np.concatenate([polls, as_polls(stretches(summaries, *ticks, around), self._refers.summed)])
        return rows[np.argsort(rows["enter"], kind="stable")]

    def paths(self, begin: int, end: int) -> np.ndarray:
        """Return the path of each call and folded poll that is entered in [begin, end) ns, in the order of `calls`.

        Returns:
            int64 rows of the file's table `paths`; 0: not known.
        """
        ticks = self.ticks(begin, end)
        calls, polls = self.rows("calls", begin, end), self.folded(begin, end)
        of_calls = self.tables["calls"].beside("call_paths", *ticks)
        of_polls = self.tables["polls"].beside("poll_paths", *ticks)
        if len(polls) > len(of_polls):  # stretches of summed calls have no paths
            known = np.isin(polls["call"], (self._refers.summed,), invert=True)
            of_polls, of_known = np.zeros(len(polls), of_polls.dtype), of_polls
            of_polls[known] = of_known
        order = np.argsort(np.concatenate([polls["enter"], calls["enter"]]), kind="stable")
        return np.concatenate([of_polls, of_calls])[order].astype(np.int64)

    @property
    def summed(self) -> np.ndarray:
        """Sums of this thread's summed calls, by procedure (SUMMED)."""
        found = totals(self.tables["summaries"])
        ns_per_tick = Fraction(
            self.stop - self.start, max(self.clock.ticks(self.stop) - self.clock.ticks(self.start), 1)
        )
        found["call"] = [self.procedure_index(int(call)) for call in found["call"]]
        found["inside"] = [round(int(ticks) * ns_per_tick) for ticks in found["inside"]]
        return found

    def event_rows(self, begin: int, end: int) -> np.ndarray:
        """Return raw events in [begin, end) ns, without readings of counters.

        Regions and parameters have the numbers of the trace, and regions are well nested.
        """
        if self.regions is None:
            rows = self.rows("events", begin, end)
        else:
            rows = self.regions.rows(*(self.clock.ticks(t) for t in (begin, end, self.stop)))
        return rows[~is_reading(rows["type"])]

    @cached_property
    def burst_mode(self) -> BurstMode | None:
        """Events that show summed calls, as in a .prv; None: no calls were summed."""
        if not len(self.tables["summaries"]):
            return None
        buffers = self.not_the_programs["begin"][self.not_the_programs["state"] == State.IO]
        return BurstMode(self.tables["summaries"], self.clock, self._refers.kinds, buffers)

    def object_index(self, rows: np.ndarray) -> np.ndarray:
        """Return for each row of the file's table `objects` the index in Objects.known; -1: none."""
        index = self._refers.object_index
        return np.where(rows < len(index), index[np.minimum(rows, len(index) - 1)], -1)

    def procedure_indices(self, rows: np.ndarray) -> np.ndarray:
        """Return for each row of the file's table `procedures` the index in Trace.procedures."""
        index = self._refers.procedures["index"]
        return index[np.minimum(rows, len(index) - 1)]

    def procedure_index(self, row: int) -> int:
        """Return for one row of the file's table `procedures` the index in Trace.procedures."""
        index = self._refers.procedures["index"]
        return int(index[min(row, len(index) - 1)])

    def requests(self, rows: np.ndarray) -> np.ndarray:
        """Convert raw rows of `requests` to requests of the trace (REQUEST), in the same order."""
        found = np.empty(len(rows), REQUEST)
        lib.expand_requests(self.struct, pointer(rows), len(rows), pointer(found))
        return found

    @cached_property
    def not_the_programs(self) -> np.ndarray:
        """Times of this thread that are not the program's (FLUSH), in order, without overlap.

        In these times the thread wrote buffers, measured clocks, looked for callers, did not record, or waited for a
        CPU (a predicted thread, also inside calls). An interval without an end (the process died while flushing) lasts
        until `stop`. If recording is switched on without having been switched off, it was off from the begin: the rows
        before were dropped.
        """
        table = self.tables["events"]
        if not len(table):
            return _NO_FLUSHES
        if len(table) <= table.sizes.scan_rows:
            events = table.read(0, len(table))
        else:
            events = np.concatenate([block[is_one_of(block["type"], _NOT_THE_PROGRAMS)] for block in table.scan()])
        found = np.empty(len(events) + 1, FLUSH)
        return found[: lib.interruptions(self.struct, pointer(events), len(events), pointer(found))].copy()

    @property
    def has_programs_events(self) -> bool:
        """True if the thread has events that are not the tracer's. It is assumed if there are very many events."""
        return self._event_types is None or not _TRACERS_TYPES.issuperset(self._event_types)

    @property
    def has_errors(self) -> bool:
        """True if calls returned errors. It is assumed if there are very many events."""
        return self._event_types is None or ERROR_TYPE in self._event_types

    @cached_property
    def _event_types(self) -> frozenset[int] | None:
        """Types of the events of this thread; None: there are too many events to read them all."""
        table = self.tables["events"]
        return None if len(table) > table.sizes.scan_rows else frozenset(table.read(0, len(table))["type"].tolist())

    @property
    def flushes(self) -> np.ndarray:
        """Times of the tracer (FLUSH), in which this thread wrote buffers, measured clocks or looked for callers."""
        return self._in_state(_OF_TRACER)

    @property
    def unrecorded(self) -> np.ndarray:
        """Times in which nothing was recorded (FLUSH)."""
        return self._in_state(_OF_NOBODY)

    @cached_property
    def cpu_waits(self) -> np.ndarray:
        """Times in which this thread waited for a CPU to compute, outside calls (FLUSH)."""
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
        """States of the intervals in `not_the_programs`."""
        return frozenset(self.not_the_programs["state"].tolist())

    @cached_property
    def recorded(self) -> int:
        """Number of rows of calls, polls, events, and stretches of summed calls."""
        return sum([len(self.tables[name]) for name in RECORDED])
