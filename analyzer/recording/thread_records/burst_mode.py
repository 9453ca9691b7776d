"""Summed calls (TRACELIB_CALLS, TRACELIB_BURSTS) as events of a Paraver trace.

Extrae's event "Tracing mode" shows where details are missing. Its statistics of burst mode tell what each buffer holds,
by kind of call. Each stretch between two long computations has events of tracelib, because the kinds of its calls are
not known.

As in Extrae, the value of a statistic stands at the end of the time that it describes, and a 0 at the begin. So the
values of a type sum up to the sum of the run. Numbers and labels: Extrae's MPI_STATS_..._EV (versions 3 and 4; version
5 numbers those from 54000006 anew).
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import IntEnum

import numpy as np

from analyzer.columns.arrays import distinct
from analyzer.recording.rank_file.clock import Clock
from analyzer.recording.rank_file.thread_table import ThreadTable
from analyzer.trace import SUMMED
from tracelib import schema
from tracelib.schema.procedures import COLLECTIVES, POINT_TO_POINT, base_name

SUMMED_PROCEDURE = "MPI_Summed"
"""Name of the procedure in a call that represents a stretch of summed calls."""

_STEP = 256
"""Number of rows that are read at once to find the next stretch."""


def stretches(table: ThreadTable, begin: int, end: int, around: int) -> np.ndarray:
    """Return the stretches of summed calls (SUMMARY) that begin in [begin, end) ticks.

    Args:
        table: Table `summaries` of a thread.
        begin: Begin, ticks.
        end: End, ticks.
        around: Number (0 or 1) of further stretches before and after.
    """
    first, last = table.find(begin), table.find(end)
    parts = [_stretches_only(table.read(first, last))]
    if around:
        parts = [_nearest(table, first, -1), *parts, _nearest(table, last, 1)]
    return np.concatenate(parts)


def as_polls(rows: np.ndarray, call: int) -> np.ndarray:
    """Convert stretches to raw rows of `polls`, with procedure number `call`."""
    found = np.zeros(len(rows), schema.POLL)
    for column in ("enter", "exit", "inside", "count", "thread"):
        found[column] = rows[column]
    found["call"] = call
    return found


def _stretches_only(rows: np.ndarray) -> np.ndarray:
    return rows[rows["flags"] == 0]


def _nearest(table: ThreadTable, at: int, direction: int) -> np.ndarray:
    """Return the last stretch before row `at`, or the first from there on; empty if there is none."""
    while at > 0 if direction < 0 else at < len(table):
        low, high = (max(at - _STEP, 0), at) if direction < 0 else (at, min(at + _STEP, len(table)))
        rows = _stretches_only(table.read(low, high))
        if len(rows):
            return rows[-1:] if direction < 0 else rows[:1]
        at = low if direction < 0 else high
    return np.zeros(0, schema.SUMMARY)


def last_exit(table: ThreadTable) -> int:
    """Return the exit (ticks) of the last summed call."""
    rows = _nearest(table, len(table), -1)
    return int(rows["exit"].max(initial=0))


def totals(table: ThreadTable) -> np.ndarray:
    """Return the sums of all summed calls (SUMMED), by procedure number of the file, with ticks instead of ns."""
    sums: dict[int, np.ndarray] = {}
    for rows in table.scan():
        rows = rows[rows["flags"] > 0]
        for flags in distinct(rows["flags"]).tolist():
            mine = rows[rows["flags"] == flags]
            columns = ("count", "inside", "sent", "received")
            line = np.array([int(mine[column].astype(np.int64).sum()) for column in columns])
            sums[flags - 1] = sums.get(flags - 1, 0) + line
    return np.array([(call, *line.tolist()) for call, line in sorted(sums.items())], SUMMED)


class Statistic(IntEnum):
    """Event types of Extrae's statistics of burst mode, and of tracelib's for stretches."""

    TRACING_MODE = 40000018
    STRETCH_CALLS = 49000030
    STRETCH_TIME = 49000031
    STRETCH_SENT = 49000032
    STRETCH_RECEIVED = 49000033
    P2P_COUNT = 54000000
    P2P_SENT = 54000001
    P2P_RECEIVED = 54000002
    GLOBAL_COUNT = 54000003
    GLOBAL_SENT = 54000004
    GLOBAL_RECEIVED = 54000005
    TIME_IN_MPI = 54000006
    TIME_IN_OTHER = 54000011
    TIME_IN_P2P = 54000012
    TIME_IN_GLOBAL = 54000013
    OTHER_COUNT = 54000014


DETAILED, CPU_BURSTS = 1, 2

BURST_LABELS: dict[int, tuple[str, dict[int, str]]] = {
    Statistic.TRACING_MODE: ("Tracing mode:", {DETAILED: "Detailed", CPU_BURSTS: "CPU Bursts"}),
    Statistic.STRETCH_CALLS: ("Calls in a stretch that was summed up", {}),
    Statistic.STRETCH_TIME: ("Time in MPI of a stretch that was summed up (ns)", {}),
    Statistic.STRETCH_SENT: ("Bytes sent in a stretch that was summed up", {}),
    Statistic.STRETCH_RECEIVED: ("Bytes received in a stretch that was summed up", {}),
    Statistic.P2P_COUNT: ("Number of P2P MPI calls", {}),
    Statistic.P2P_SENT: ("Bytes sent in P2P MPI calls", {}),
    Statistic.P2P_RECEIVED: ("Bytes received in P2P MPI calls", {}),
    Statistic.GLOBAL_COUNT: ("Number of GLOBAL MPI calls", {}),
    Statistic.GLOBAL_SENT: ("Bytes sent in GLOBAL MPI calls", {}),
    Statistic.GLOBAL_RECEIVED: ("Bytes received in GLOBAL MPI calls", {}),
    Statistic.TIME_IN_MPI: ("Elapsed time in MPI", {}),
    Statistic.TIME_IN_OTHER: ("Elapsed time in OTHER MPI calls", {}),
    Statistic.TIME_IN_P2P: ("Elapsed time in P2P MPI calls", {}),
    Statistic.TIME_IN_GLOBAL: ("Elapsed time in GLOBAL MPI calls", {}),
    Statistic.OTHER_COUNT: ("Number of OTHER MPI calls", {}),
}
"""Labels of these events for the .pcf: by type the label, and labels by value."""

_OF_STRETCH = {Statistic.STRETCH_CALLS: "count", Statistic.STRETCH_SENT: "sent", Statistic.STRETCH_RECEIVED: "received"}
OTHER, P2P, GLOBAL = range(3)
"""Kinds of calls in Extrae's statistics: other calls, point-to-point calls, and collectives."""

_OF_KIND = {
    P2P: {
        Statistic.P2P_COUNT: "count",
        Statistic.P2P_SENT: "sent",
        Statistic.P2P_RECEIVED: "received",
        Statistic.TIME_IN_P2P: "inside",
    },
    GLOBAL: {
        Statistic.GLOBAL_COUNT: "count",
        Statistic.GLOBAL_SENT: "sent",
        Statistic.GLOBAL_RECEIVED: "received",
        Statistic.TIME_IN_GLOBAL: "inside",
    },
    OTHER: {Statistic.OTHER_COUNT: "count", Statistic.TIME_IN_OTHER: "inside"},
}
"""Statistics of each kind of calls, with the column that each sums up."""


def kind_of(procedure: str) -> int:
    """Return the kind of a procedure in Extrae's statistics: P2P, GLOBAL or OTHER."""
    base = base_name(procedure)
    return P2P if base in POINT_TO_POINT else GLOBAL if base in COLLECTIVES else OTHER


class BurstMode:
    """Events that show the summed calls of one thread, by windows of ticks."""

    def __init__(self, table: ThreadTable, clock: Clock, kinds: np.ndarray, buffers: np.ndarray) -> None:
        """Read the statistics of the buffers.

        Args:
            table: Table `summaries` of the thread.
            clock: Clock of the thread.
            kinds: Kind of each procedure of the file.
            buffers: Times (ns) at which the thread began to write each buffer.
        """
        self._table, self._clock, self._kinds = table, clock, kinds
        rows = list(self._of_buffers(np.array([clock.ticks(int(ns)) for ns in buffers], np.uint64)))
        self._buffers = _rows(rows)

    def rows(self, begin: int, end: int) -> np.ndarray:
        """Return raw events (the schema's EVENT) with time in [begin, end) ticks, in order."""
        near = stretches(self._table, begin, end, around=1)
        values = {kind: near[column].astype(np.int64) for kind, column in _OF_STRETCH.items()}
        values[Statistic.STRETCH_TIME] = self._ns(near)
        parts = [_at(near["enter"], Statistic.TRACING_MODE, CPU_BURSTS)]
        parts += [_at(near["enter"], kind, 0) for kind in values]
        parts += [_at(near["exit"], kind, value) for kind, value in values.items()]
        parts += [_at(near["exit"], Statistic.TRACING_MODE, DETAILED), self._buffers]
        found = np.concatenate(parts)
        found = found[(found["time"] >= begin) & (found["time"] < end)]
        return found[np.argsort(found["time"], kind="stable")]

    def _of_buffers(self, written: np.ndarray) -> Iterator[tuple[int, int, int]]:
        """Yield (ticks, type, value) of each statistic of each buffer that is not 0."""
        sums: dict[int, dict[int, int]] = {}
        times: dict[int, tuple[int, int]] = {}
        for rows in self._table.scan():
            rows = rows[rows["flags"] > 0]
            buffer = np.searchsorted(written, rows["enter"])
            for number in distinct(buffer).tolist():
                mine = rows[buffer == number]
                first, last = times.get(number, (2**64 - 1, 0))
                times[number] = min(first, int(mine["enter"].min())), max(last, int(mine["exit"].max()))
                self._add(sums.setdefault(number, {}), mine)
        for number, statistics in sums.items():
            for statistic, value in statistics.items():
                if value:
                    yield times[number][0], statistic, 0
                    yield times[number][1], statistic, value

    def _add(self, sums: dict[int, int], rows: np.ndarray) -> None:
        kinds = self._kinds[np.minimum(rows["flags"] - 1, len(self._kinds) - 1)]
        inside = self._ns(rows)
        for kind, statistics in _OF_KIND.items():
            for statistic, column in statistics.items():
                values = inside if column == "inside" else rows[column].astype(np.int64)
                sums[statistic] = sums.get(statistic, 0) + int(values[kinds == kind].sum())
        sums[Statistic.TIME_IN_MPI] = sums.get(Statistic.TIME_IN_MPI, 0) + int(inside.sum())

    def _ns(self, rows: np.ndarray) -> np.ndarray:
        """Return the time in MPI of rows of `summaries`, in ns."""
        return self._clock.times(rows["enter"] + rows["inside"]) - self._clock.times(rows["enter"])


def _at(times: np.ndarray, kind: int, value: np.ndarray | int) -> np.ndarray:
    found = np.zeros(len(times), schema.EVENT)
    found["time"], found["type"], found["value"] = times, kind, value
    return found


def _rows(rows: list[tuple[int, int, int]]) -> np.ndarray:
    found = np.zeros(len(rows), schema.EVENT)
    for position, column in enumerate(("time", "type", "value")):
        found[column] = [row[position] for row in rows]
    return found
