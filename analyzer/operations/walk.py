"""Makes one rank's calls into operations, a window of time at a time: joins them with requests for the kernel."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from analyzer._kernels import ffi, lib
from analyzer.metrics.profile import by_index
from analyzer.metrics.requests import Choice, Posted, gather_blocks, window_calls, windows_of_rank
from analyzer.operations.bursts import CpuBursts
from analyzer.operations.events import NO_EVENTS, PROGRAM_EVENT, ProgramEvents
from analyzer.operations.operation import OP
from analyzer.operations.persistent import tell_bytes
from analyzer.operations.plan import (
    NOTHING,
    dimemas_plan_of,
    is_in_dimemas,
    is_on_window,
    moves_data,
    plan_of,
)
from analyzer.operations.threads import RankThreads
from analyzer.operations.windows import Partners, Windows, is_fence, window_groups
from analyzer.trace import FLUSH, REQUEST, Communicator, Trace
from tracelib.schema import WHAT_ORDINAL_SHIFT, What

if TYPE_CHECKING:
    from analyzer.operations.message_numbers import MessageNumbers


ORDINALS = 256


def _any_ordinal(what: What) -> tuple[int, ...]:
    """All that the column `what` says of a partitioned operation."""
    return tuple(what | ordinal << WHAT_ORDINAL_SHIFT for ordinal in range(ORDINALS))


_POSTED = (
    What.RECV_DONE, What.RECV_FREED, What.RECEIVED, What.SEND_STARTED, What.COLLECTIVE_STARTED,
    *_any_ordinal(What.PARTITIONED_SEND_STARTED), *_any_ordinal(What.PARTITIONED_RECV_DONE),
)  # fmt: skip
_Arrays = Mapping[str, np.ndarray | None]
_DONE = (
    What.RECV_DONE, What.RECEIVED, What.COLLECTIVE_DONE, What.RMA_DONE,
    *_any_ordinal(What.PARTITIONED_SEND_DONE), *_any_ordinal(What.PARTITIONED_RECV_DONE),
)  # fmt: skip


def is_definable(communicator: Communicator) -> bool:
    """Dimemas knows intracommunicators of distinct tasks only."""
    return not communicator.remote and len(set(communicator.members)) == len(communicator.members) > 0


class RankOperations:
    """The operations of ranks, one after the other with the same tables.

    Bursts last from the end of an MPI call to the begin of the next, in whole ns. In measured runs
    (flush_mode "subtract") they begin at the start of the process and leave out flushes and the tracer's own
    time after each call, so that they sum up to the useful time; in imported traces they begin at 0 and keep
    flushes, as prv2dim does. Where CPU time was measured, they last that long unless told otherwise.
    by_thread: the threads of a rank compute side by side; else they are one sequence, in order of time.
    events: EVENT in order of time, which the trace does not have.
    """

    def __init__(
        self, trace: Trace, *, cpu_time: bool = True, by_thread: bool = False, events: np.ndarray = NO_EVENTS
    ) -> None:
        self._trace, self._cpu_time, self._events = trace, cpu_time, events
        self._numbers = message_numbers(trace) if by_thread else None
        means = plan_of if by_thread else dimemas_plan_of
        self._plan = np.array([*map(means, trace.procedures), (NOTHING, 0)], np.int32)
        self._lost = np.array([not is_in_dimemas(p) and moves_data(p) for p in trace.procedures], bool)
        self._done = Choice(_DONE, by_completed=True)
        uses = is_on_window if by_thread else is_fence
        self.windows = window_groups(trace, uses)  # their communicators come after those of the trace
        self._on_window = np.array([*map(uses, trace.procedures), False])
        self._windows = Windows(trace, self._plan)
        defined = [False, *map(is_definable, trace.communicators), *map(bool, self.windows)]
        self._defined = np.array(defined, np.int8)
        ids = [len(self.windows), *(c.id for c in trace.communicators)]
        self._channels = max(ids) + 2 + len(self.windows), len(trace.communicators) + 1
        first, many = self._channels
        self._first_window = first + ORDINALS * many
        self._members = np.array([len(c.members) for c in trace.communicators], np.int64)
        self.left_out = np.zeros(len(trace.procedures), np.int64)  # calls that move data and have no record in Dimemas
        self.idle_events = 0  # events that would mean something else to Dimemas
        self.threads = 1  # of the rank under way
        self.slots = 0  # requests that it had open at once
        self.shared_slots = 0  # those of it that another thread completed than the one that posted them

    def of(self, rank: int) -> Iterator[np.ndarray]:
        """OP of one rank, block by block; `block` is their thread. Communicators by their index + 1; 0 is the world."""
        threads = RankThreads.of(self._trace, rank, self._plan) if self._numbers else RankThreads.one()
        self.threads = threads.count
        begin, end = self._trace.span(rank)
        subtract = self._trace.flush_mode == "subtract"
        bursts = CpuBursts(self._trace, rank, wanted=self._cpu_time)
        walk = _Walk(
            rank, threads, begin if subtract else 0, self._no_burst(rank) if subtract else np.zeros(0, FLUSH),
            self._defined, self._channels, (self._trace.overhead_ns(rank), bursts.overhead_ns),
        )  # fmt: skip
        events = ProgramEvents(self._trace, rank, self._events)
        partners = self._windows.partners(rank)
        for window, calls, posted, done in self._by_window(rank, threads.count > 1):
            cpu = bursts.window(window, calls)
            said = _in_order(threads.edges(window), events.window(window), "time")
            yield self._operations(walk, calls, cpu, self._on_windows(partners, window, calls), posted, done, said)
        self._trace.forget(rank)
        self.idle_events += events.left_out
        yield self._operations(walk, threads.last_calls(end, len(self._trace.procedures)), None, {}, *_nothing())
        yield walk.finish()
        self.slots, self.shared_slots = walk.slots, walk.shared_slots

    def _no_burst(self, rank: int) -> np.ndarray:
        """FLUSH in order of time: what is neither a call nor a burst."""
        return _in_order(self._trace.flushes(rank), self._trace.unrecorded(rank), "begin")

    def _by_window(self, rank: int, threaded: bool) -> Iterator[tuple]:
        """Window by window: its begin and end, calls, requests posted and requests done.

        threaded: also which thread completes a collective, where it is begun.
        """
        windows = windows_of_rank(self._trace, rank)
        posted = Posted(
            self._trace, rank, windows, (*_POSTED, What.COLLECTIVE_DONE, What.RMA_DONE) if threaded else _POSTED
        )
        for index, (begin, end) in enumerate(pairwise(windows.tolist())):
            calls = window_calls(self._trace, rank, begin, end)
            lost = calls[self._lost[calls["call"]]]
            self.left_out += by_index(lost["call"], lost["count"], len(self.left_out))
            rows = gather_blocks(self._trace.requests(rank, begin, end), REQUEST)
            done = self._done.of(rows)
            yield (begin, end), calls, self._posted(rank, posted.window(index, rows), calls), done

    def _posted(self, rank: int, posted: np.ndarray, calls: np.ndarray) -> np.ndarray:
        """Rows of a window as the kernel wants them."""
        return tell_bytes(posted, calls, rank, self._plan, self._members)

    def _on_windows(self, partners: Partners, window: tuple[int, int], calls: np.ndarray) -> _Arrays:
        """What the kernel needs by call where any is on a window."""
        chosen = self._on_window[calls["call"]]
        if not chosen.any():
            return {}
        found = partners.of(window, calls, np.where(chosen, self._plan[calls["call"], 0], NOTHING))
        object_ = found.pop("object")
        first = 1 + len(self._trace.communicators)
        return found | {"window": np.where(chosen & (object_ >= 0), object_ + first, 0).astype(np.int32)}

    def _operations(
        self, walk: _Walk, calls: np.ndarray, cpu: np.ndarray | None, on_windows: _Arrays, *rows: np.ndarray
    ) -> np.ndarray:
        """OP of one window; `rows`: posted, done and events."""
        calls = np.ascontiguousarray(calls)
        numbers = None
        if self._numbers:
            self._numbers.to_posted(walk.rank, rows[0])
            numbers = self._numbers.of_calls(walk.rank, calls, self._plan)
        of_calls: _Arrays = {"calls": calls, "cpu": cpu, "message": numbers, **on_windows}
        plans: _Arrays = {
            "call": self._plan, "defined": self._defined, "by_turns": walk.by_turns, "left_out": self.left_out,
        }  # fmt: skip
        return walk.operations(of_calls, rows, plans, (self._first_window, self._windows.start_waits))


def message_numbers(trace: Trace) -> MessageNumbers | None:
    """None: no rank has several threads."""
    if not (np.asarray(trace.threads) > 1).any():
        return None
    from analyzer.operations.message_numbers import MessageNumbers

    return MessageNumbers(trace)


class _Walk:
    """Where the kernel stands in one rank, from window to window."""

    def __init__(
        self, rank: int, threads: RankThreads, begin: int, flushes: np.ndarray, defined: np.ndarray,
        channels: tuple[int, int], overhead_ns: tuple[int, int],
    ) -> None:  # fmt: skip
        communicators = len(defined)
        self.rank, turns, self._channels = rank, threads.by_turns, channels
        self.by_turns = None if turns is None else np.pad(turns, (0, communicators - len(turns)))
        self._threads = threads
        self._flushes, self._first_flush = threads.split(flushes)
        begins = np.concatenate([[begin], threads.begin[1:]]).astype(np.int64)
        struct = lib.op_walk_open(rank, threads.count, _pointer(begins, "int64_t *"), communicators, *overhead_ns)
        self.struct = ffi.gc(struct, lib.op_walk_close)
        if not self.struct:
            raise MemoryError
        self._rest = _nothing()

    @property
    def slots(self) -> int:
        """Requests that were open at once."""
        return lib.op_walk_slots(self.struct)

    @property
    def shared_slots(self) -> int:
        """Requests that another thread completed than the one that posted them."""
        return lib.op_walk_shared_slots(self.struct)

    def operations(
        self, calls: _Arrays, rows: tuple[np.ndarray, ...], plans: _Arrays, windows: tuple[int, bool]
    ) -> np.ndarray:
        """OP of consecutive calls and the rows (posted, done, events) of their window; see the kernel's header."""
        posted, done, events = (
            np.concatenate((rest, new)) if len(rest) else np.ascontiguousarray(new)
            for rest, new in zip(self._rest, rows, strict=True)
        )
        done, first_done = self._threads.split(done)
        events, first_event = self._threads.split(events)
        firsts = {"first_done": first_done, "first_event": first_event, "first_flush": self._first_flush}
        tables = {"posted": posted, "done": done, "events": events, "flushes": self._flushes}
        c_rows = _struct("struct op_rows *", {**calls, **tables, **firsts})
        c_plans = _struct("struct op_plans *", plans)
        c_plans.first_channel, c_plans.channels = self._channels
        c_plans.first_window, c_plans.start_waits = windows
        c_plans.n_procedures = len(plans["left_out"])  # type: ignore[arg-type]
        c_rows.n_calls, c_rows.n_posted = len(calls["calls"]), len(posted)  # type: ignore[arg-type]
        out = np.empty(lib.op_walk_room(self.struct, c_rows), OP)
        used = np.zeros(1 + 2 * self._threads.count, np.int64)
        count = lib.op_walk_calls(self.struct, c_plans, c_rows, _pointer(used, "int64_t *"), _pointer(out))
        if count < 0:
            raise MemoryError
        of_done, of_events = used[1:].reshape(2, -1)
        self._rest = posted[used[0] :].copy(), _left(done, of_done, first_done), _left(events, of_events, first_event)
        return out[:count]

    def finish(self) -> np.ndarray:
        """The last operations (OP), if any were held back."""
        out = np.zeros(self._threads.count, OP)
        return out[: lib.op_walk_finish(self.struct, _pointer(out))]


def _in_order(first: np.ndarray, second: np.ndarray, column: str) -> np.ndarray:
    """Rows of both by a column."""
    some = [rows for rows in (first, second) if len(rows)]
    rows = np.concatenate(some) if len(some) > 1 else (*some, first)[0]
    return rows[np.argsort(rows[column], kind="stable")] if len(rows) > 1 else rows


def _nothing() -> tuple[np.ndarray, ...]:
    return np.zeros(0, REQUEST), np.zeros(0, REQUEST), np.zeros(0, PROGRAM_EVENT)


def _left(rows: np.ndarray, used: np.ndarray, first: np.ndarray) -> np.ndarray:
    """Of each thread's rows those from `used` on."""
    parts = [rows[begin:end] for begin, end in zip(used.tolist(), first[1:].tolist(), strict=True)]
    return parts[0].copy() if len(parts) == 1 else np.concatenate(parts)


def _pointer(array: np.ndarray, kind: str = "void *") -> Any:
    return ffi.cast(kind, ffi.from_buffer(array))


def _struct(kind: str, arrays: _Arrays) -> Any:
    """A struct of pointers to arrays, whose owner keeps them; None: NULL."""
    found, types = ffi.new(kind), _pointers_in(kind)
    for name, array in arrays.items():
        if array is not None:
            setattr(found, name, _pointer(array, types[name]))
    return found


@cache
def _pointers_in(kind: str) -> dict[str, str]:
    """The type of each field of a struct, of which `kind` is the pointer."""
    return {name: field.type.cname for name, field in ffi.typeof(kind).item.fields}
