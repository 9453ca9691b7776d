"""The records of one rank of a Dimemas trace: joins calls with requests, and lets a kernel format them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, BinaryIO

import numpy as np

from analyzer._kernels import ffi, lib
from analyzer.metrics.profile import by_index
from analyzer.metrics.requests import Posted, gather_blocks, rank_windows, window_calls
from analyzer.trace import CALL, FLUSH, REQUEST, Communicator, Trace
from analyzer.writers.dim_bursts import CpuBursts
from analyzer.writers.dim_events import DIM_EVENT, ProgramEvents
from analyzer.writers.dim_plan import GLOBAL_START, NOTHING, moves_data, plan_of
from tracelib.schema import What

CALL_BYTES = 320
ROW_BYTES = 160
"""Room for the text of one call, of one request or event (see the kernel's header)."""

_POSTED = (What.RECV_DONE, What.RECV_FREED, What.RECEIVED, What.SEND_STARTED)
_DONE = (What.RECV_DONE, What.RECEIVED, What.COLLECTIVE_DONE)


def is_definable(communicator: Communicator) -> bool:
    """Dimemas knows intracommunicators of distinct tasks only."""
    return not communicator.remote and len(set(communicator.members)) == len(communicator.members) > 0


def world_id(trace: Trace) -> int:
    """Id of the communicator of all ranks: the first of that size, else a new one."""
    for communicator in trace.communicators:
        if is_definable(communicator) and len(communicator.members) == trace.size:
            return communicator.id
    return max((c.id for c in trace.communicators), default=0) + 1


class RankWriter:
    """Formats ranks one after the other with the same tables and the same memory."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._windows = rank_windows(trace)
        self._plan = np.array([*map(plan_of, trace.procedures), (NOTHING, 0)], np.int32)
        self._starts_operation = self._plan[:-1, 0] == GLOBAL_START
        self._lost = np.array([plan_of(p)[0] == NOTHING and moves_data(p) for p in trace.procedures], bool)
        self._comm_ids = np.array([world_id(trace), *(c.id for c in trace.communicators)], np.int32)
        self._defined = np.array([False, *map(is_definable, trace.communicators)], np.int8)
        self._out = np.zeros(0, np.uint8)
        self.left_out = np.zeros(len(trace.procedures), np.int64)
        self.idle_events = 0  # events that would mean something else to Dimemas

    def write(self, rank: int, file: BinaryIO) -> int:
        """Write the records of one rank; returns their size in bytes."""
        size = file.write(f"1:{rank}:0:0.000000000\n".encode())
        begin, end = self._trace.span(rank)
        subtract = self._trace.flush_mode == "subtract"
        hidden = self._no_burst(rank) if subtract else np.zeros(0, FLUSH)
        bursts = CpuBursts(self._trace, rank)
        overhead = self._trace.overhead_ns(rank), bursts.overhead_ns
        walk = _Walk(rank, begin if subtract else 0, hidden, overhead)
        events = ProgramEvents(self._trace, rank)
        for window, calls, *rows in self._by_window(rank):
            cpu = bursts.window(window, calls)
            size += file.write(self._format(walk, calls, cpu, *rows, events.window(window)))
        last = np.zeros(1, CALL)
        last["enter"] = last["exit"] = end
        last["call"] = len(self._trace.procedures)
        self.idle_events += events.left_out
        return size + file.write(self._format(walk, last, None, *_nothing()))

    def _no_burst(self, rank: int) -> np.ndarray:
        """FLUSH in order of time: what is neither a call nor a burst."""
        rows = np.concatenate([self._trace.flushes(rank), self._trace.unrecorded(rank)])
        return rows[np.argsort(rows["begin"], kind="stable")]

    def _by_window(self, rank: int) -> Iterator[tuple]:
        """Window by window: its begin and end, calls, requests posted, requests done, and for the latter the
        collectives begun."""
        posted = Posted(self._trace, rank, self._windows, _POSTED)
        open_ = np.zeros(0, CALL)
        for index, (begin, end) in enumerate(pairwise(self._windows.tolist())):
            calls = window_calls(self._trace, rank, begin, end)
            self.left_out += by_index(calls["call"], calls["count"], len(self.left_out)) * self._lost
            done = gather_blocks(self._trace.requests(rank, begin, end), REQUEST)
            done = done[np.isin(done["what"], _DONE)]
            done = done[np.argsort(done["completed"], kind="stable")]
            open_ = np.concatenate((open_, calls[self._starts_operation[calls["call"]]]))
            started, open_ = _join_collectives(done, open_)
            yield (begin, end), calls, posted.window(index), done, started

    def _format(self, walk: _Walk, calls: np.ndarray, cpu: np.ndarray | None, *rows: np.ndarray):
        """The text (bytes-like) of the records of one window; `rows`: posted, done, started and events."""
        calls = np.ascontiguousarray(calls)
        posted, done, started, events = walk.join_rest(*rows)
        room = len(calls) * CALL_BYTES + (len(posted) + len(done) + len(events)) * ROW_BYTES
        if len(self._out) < room:
            self._out = np.empty(room, np.uint8)
        tables = (
            _pointer(self._plan, "int32_t *"),
            _pointer(self._comm_ids, "int32_t *"),
            _pointer(self._defined, "int8_t *"),
        )
        size = lib.dim_records(
            _pointer(walk.position, "int64_t *"), walk.rank, *_rows(calls),
            ffi.NULL if cpu is None else _pointer(cpu, "int64_t *"), *tables,
            *_rows(posted), _pointer(done), *_rows(started), *_rows(events), *_rows(walk.flushes),
            *walk.overhead_ns, _pointer(self.left_out, "int64_t *"), _pointer(self._out, "char *"),
        )  # fmt: skip
        walk.keep_rest(posted, done, started, events)
        return self._out[:size].data


class _Walk:
    """Where the kernel stands in one rank, from window to window."""

    def __init__(self, rank: int, begin: int, flushes: np.ndarray, overhead_ns: tuple[int, int]) -> None:
        self.rank = rank
        self.flushes = flushes
        self.overhead_ns = overhead_ns
        self.position = np.array([begin, begin, 0, 0, 0, 0, 0, 0], np.int64)
        self._rest = _nothing()

    def join_rest(self, *rows: np.ndarray) -> list[np.ndarray]:
        """The rows of this window after those whose call had not come yet."""
        pairs = zip(self._rest, rows, strict=True)
        return [np.concatenate(pair) if len(pair[0]) else np.ascontiguousarray(pair[1]) for pair in pairs]

    def keep_rest(self, posted: np.ndarray, done: np.ndarray, started: np.ndarray, events: np.ndarray) -> None:
        """Remember the rows that the kernel did not use."""
        used_posted, used_done, used_events = self.position[[3, 4, 7]].tolist()
        used = (used_posted, used_done, used_done, used_events)
        rows = (posted, done, started, events)
        self._rest = tuple(table[first:].copy() for table, first in zip(rows, used, strict=True))


def _nothing() -> tuple[np.ndarray, ...]:
    return np.zeros(0, REQUEST), np.zeros(0, REQUEST), np.zeros(0, CALL), np.zeros(0, DIM_EVENT)


def _pointer(array: np.ndarray, kind: str = "void *") -> Any:
    return ffi.cast(kind, array.ctypes.data)


def _rows(array: np.ndarray) -> tuple[Any, int]:
    return _pointer(array), len(array)


def _join_collectives(done: np.ndarray, open_: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """For each row of `done` the call of `open_` that began it (else zeros), and the calls still open."""
    started = np.zeros(len(done), CALL)
    started["call"] = -1
    if not len(open_):
        return started, open_
    at = np.searchsorted(open_["enter"], done["posted"]).clip(max=len(open_) - 1)
    found = (done["what"] == What.COLLECTIVE_DONE) & (open_["enter"][at] == done["posted"])
    started[found] = open_[at[found]]
    still = np.ones(len(open_), bool)
    still[at[found]] = False
    return started, open_[still]
