"""Makes one rank's calls into operations, a window of time at a time: joins them with requests for the kernel."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np

from analyzer._kernels import ffi, lib
from analyzer.metrics.profile import by_index
from analyzer.metrics.requests import Choice, Posted, gather_blocks, window_calls, windows_of_rank
from analyzer.operations.bursts import CpuBursts
from analyzer.operations.events import PROGRAM_EVENT, ProgramEvents
from analyzer.operations.operation import OP
from analyzer.operations.plan import GLOBAL_START, NOTHING, is_in_dimemas, moves_data, plan_of
from analyzer.trace import CALL, FLUSH, REQUEST, Communicator, Trace
from tracelib.schema import What

_POSTED = (What.RECV_DONE, What.RECV_FREED, What.RECEIVED, What.SEND_STARTED)
_DONE = (What.RECV_DONE, What.RECEIVED, What.COLLECTIVE_DONE)


def is_definable(communicator: Communicator) -> bool:
    """Dimemas knows intracommunicators of distinct tasks only."""
    return not communicator.remote and len(set(communicator.members)) == len(communicator.members) > 0


class RankOperations:
    """The operations of ranks, one after the other with the same tables.

    Bursts last from the end of an MPI call to the begin of the next, in whole ns. In measured runs
    (flush_mode "subtract") they begin at the start of the process and leave out flushes and the tracer's own
    time after each call, so that they sum up to the useful time; in imported traces they begin at 0 and keep
    flushes, as prv2dim does. Where CPU time was measured, they last that long unless told otherwise.
    """

    def __init__(self, trace: Trace, *, cpu_time: bool = True) -> None:
        self._trace, self._cpu_time = trace, cpu_time
        self._plan = np.array([*map(plan_of, trace.procedures), (NOTHING, 0)], np.int32)
        self._starts_operation = self._plan[:-1, 0] == GLOBAL_START
        self._lost = np.array([not is_in_dimemas(p) and moves_data(p) for p in trace.procedures], bool)
        self._done = Choice(_DONE, by_completed=True)
        self._defined = np.array([False, *map(is_definable, trace.communicators)], np.int8)
        self.left_out = np.zeros(len(trace.procedures), np.int64)  # calls that move data and have no record in Dimemas
        self.idle_events = 0  # events that would mean something else to Dimemas
        self.slots = 0  # requests that the last rank had open at once

    def of(self, rank: int) -> Iterator[np.ndarray]:
        """OP of one rank, block by block. Communicators by their index + 1; 0 is the world."""
        begin, end = self._trace.span(rank)
        subtract = self._trace.flush_mode == "subtract"
        hidden = self._no_burst(rank) if subtract else np.zeros(0, FLUSH)
        bursts = CpuBursts(self._trace, rank, wanted=self._cpu_time)
        overhead = self._trace.overhead_ns(rank), bursts.overhead_ns
        walk = _Walk(rank, begin if subtract else 0, hidden, overhead)
        events = ProgramEvents(self._trace, rank)
        for window, calls, *rows in self._by_window(rank):
            cpu = bursts.window(window, calls)
            yield self._operations(walk, calls, cpu, *rows, events.window(window))
        last = np.zeros(1, CALL)
        last["enter"] = last["exit"] = end
        last["call"] = len(self._trace.procedures)
        self.idle_events += events.left_out
        yield self._operations(walk, last, None, *_nothing())
        yield walk.finish()
        self.slots = walk.slots

    def _no_burst(self, rank: int) -> np.ndarray:
        """FLUSH in order of time: what is neither a call nor a burst."""
        rows = np.concatenate([self._trace.flushes(rank), self._trace.unrecorded(rank)])
        return rows[np.argsort(rows["begin"], kind="stable")]

    def _by_window(self, rank: int) -> Iterator[tuple]:
        """Window by window: its begin and end, calls, requests posted, requests done, and for the latter the
        collectives begun."""
        windows = windows_of_rank(self._trace, rank)
        posted = Posted(self._trace, rank, windows, _POSTED)
        open_ = np.zeros(0, CALL)
        for index, (begin, end) in enumerate(pairwise(windows.tolist())):
            calls = window_calls(self._trace, rank, begin, end)
            lost = calls[self._lost[calls["call"]]]
            self.left_out += by_index(lost["call"], lost["count"], len(self.left_out))
            done = self._done.of(gather_blocks(self._trace.requests(rank, begin, end), REQUEST))
            open_ = np.concatenate((open_, calls[self._starts_operation[calls["call"]]]))
            started, open_ = _join_collectives(done, open_)
            yield (begin, end), calls, posted.window(index), done, started

    def _operations(self, walk: _Walk, calls: np.ndarray, cpu: np.ndarray | None, *rows: np.ndarray) -> np.ndarray:
        """OP of one window; `rows`: posted, done, started and events."""
        calls = np.ascontiguousarray(calls)
        posted, done, started, events = walk.join_rest(*rows)
        out = np.empty(len(calls) + len(posted) + len(done) + len(events) + 1, OP)
        tables = _pointer(self._plan, "int32_t *"), _pointer(self._defined, "int8_t *")
        count = lib.op_walk_calls(
            walk.struct, *_rows(calls), ffi.NULL if cpu is None else _pointer(cpu, "int64_t *"), *tables,
            *_rows(posted), _pointer(done), *_rows(started), *_rows(events), *_rows(walk.flushes),
            _pointer(self.left_out, "int64_t *"), _pointer(out),
        )  # fmt: skip
        if count < 0:
            raise MemoryError
        walk.keep_rest(posted, done, started, events)
        return out[:count]


class _Walk:
    """Where the kernel stands in one rank, from window to window."""

    def __init__(self, rank: int, begin: int, flushes: np.ndarray, overhead_ns: tuple[int, int]) -> None:
        self.flushes = flushes
        self.struct = ffi.gc(lib.op_walk_open(rank, begin, *overhead_ns), lib.op_walk_close)
        if not self.struct:
            raise MemoryError
        self._rest = _nothing()

    @property
    def slots(self) -> int:
        """Requests that were open at once."""
        return lib.op_walk_slots(self.struct)

    def finish(self) -> np.ndarray:
        """The last operation (OP), if one was held back."""
        out = np.zeros(1, OP)
        return out[: lib.op_walk_finish(self.struct, _pointer(out))]

    def join_rest(self, *rows: np.ndarray) -> list[np.ndarray]:
        """The rows of this window after those whose call had not come yet."""
        pairs = zip(self._rest, rows, strict=True)
        return [np.concatenate(pair) if len(pair[0]) else np.ascontiguousarray(pair[1]) for pair in pairs]

    def keep_rest(self, posted: np.ndarray, done: np.ndarray, started: np.ndarray, events: np.ndarray) -> None:
        """Remember the rows that the kernel did not use."""
        used = [lib.op_walk_used(self.struct, k) for k in (0, 1, 1, 2)]
        rows = (posted, done, started, events)
        self._rest = tuple(table[first:].copy() for table, first in zip(rows, used, strict=True))


def _nothing() -> tuple[np.ndarray, ...]:
    return np.zeros(0, REQUEST), np.zeros(0, REQUEST), np.zeros(0, CALL), np.zeros(0, PROGRAM_EVENT)


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
