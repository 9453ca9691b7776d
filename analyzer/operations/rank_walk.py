"""State of the kernel that turns one rank's calls into operations, kept from window to window."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np

from analyzer._kernels import ffi, lib
from analyzer.c_arrays import pointer
from analyzer.operations.events import PROGRAM_EVENT
from analyzer.operations.threads import CallingThreads
from analyzer.program.operation import OP
from analyzer.trace import REQUEST

Arrays = Mapping[str, np.ndarray | None]

_FIRST_OF_NONE = ffi.new("int64_t[2]")


class RankWalk:
    """State of the kernel that translates one rank."""

    def __init__(
        self, rank: int, threads: CallingThreads, begin: int, flushes: np.ndarray, communicators: int,
        cpu_overhead_ns: int,
    ) -> None:  # fmt: skip
        self.rank, turns = rank, threads.by_turns
        self.by_turns = None if turns is None else np.pad(turns, (0, communicators - len(turns)))
        self._threads = threads
        self._flushes, self._first_flush = threads.split(flushes)
        begins = threads.begin.copy()
        begins[0] = begin
        struct = lib.op_walk_open(rank, threads.count, pointer(begins, "int64_t *"), communicators, cpu_overhead_ns)
        self.struct = ffi.gc(struct, lib.op_walk_close)
        if not self.struct:
            raise MemoryError
        self._rest = nothing()

    @property
    def slots(self) -> int:
        """Number of requests that were open at once."""
        return lib.op_walk_slots(self.struct)

    @property
    def shared_slots(self) -> int:
        """Number of requests that were completed by another thread than the one that posted them."""
        return lib.op_walk_shared_slots(self.struct)

    def operations(self, calls: Arrays, rows: tuple[np.ndarray, ...], plans: Any) -> np.ndarray:
        """Return the operations (OP) of consecutive calls, as `op_walk_calls` of the kernel's header.

        Args:
            calls: Columns of the calls.
            rows: Requests posted, requests completed, and events of the calls' window.
            plans: `struct op_plans *`.
        """
        posted, done, events = (
            np.concatenate((rest, new)) if len(rest) else np.ascontiguousarray(new)
            for rest, new in zip(self._rest, rows, strict=True)
        )
        done, first_done = self._threads.split(done)
        events, first_event = self._threads.split(events)
        firsts = {"first_done": first_done, "first_event": first_event, "first_flush": self._first_flush}
        tables = {"posted": posted, "done": done, "events": events, "flushes": self._flushes}
        c_rows = struct_of("struct op_rows *", {**calls, **tables, **firsts})
        c_rows.n_calls, c_rows.n_posted = len(calls["calls"]), len(posted)  # type: ignore[arg-type]
        out = np.empty(lib.op_walk_room(self.struct, c_rows), OP)
        used = np.zeros(1 + 2 * self._threads.count, np.int64)
        count = lib.op_walk_calls(self.struct, plans, c_rows, pointer(used, "int64_t *"), pointer(out))
        if count < 0:
            raise MemoryError
        of_done, of_events = used[1:].reshape(2, -1)
        self._rest = posted[used[0] :].copy(), _left(done, of_done, first_done), _left(events, of_events, first_event)
        return out[:count]

    def finish(self) -> np.ndarray:
        """Return the operations (OP) that the kernel held back until the end of the rank."""
        out = np.zeros(self._threads.count, OP)
        return out[: lib.op_walk_finish(self.struct, pointer(out))]

    def rest(self, events: np.ndarray) -> tuple[Any, np.ndarray]:
        """Make the `struct op_rows *` of a window whose calls and requests come from elsewhere.

        The rank must have one thread.

        Args:
            events: Events (PROGRAM_EVENT) of the window.

        Returns:
            The struct, and the events with those left over from the window before.
        """
        if len(self._rest[2]):
            events = np.concatenate((self._rest[2], events))
        self._first_event = np.array([0, len(events)], np.int64)  # as long as the struct needs it
        return ffi.new(
            "struct op_rows *",
            {
                "events": ffi.from_buffer(events), "first_event": pointer(self._first_event, "int64_t *"),
                "flushes": ffi.from_buffer(self._flushes), "first_flush": pointer(self._first_flush, "int64_t *"),
                "first_done": _FIRST_OF_NONE,
            },
        ), events  # fmt: skip

    def leave(self, events: np.ndarray) -> None:
        """Keep these events (PROGRAM_EVENT) for the next window."""
        if len(events) or len(self._rest[2]):
            self._rest = (*self._rest[:2], events.copy())


@cache
def nothing() -> tuple[np.ndarray, ...]:
    """Return empty tables for requests posted, requests completed, and events."""
    return np.zeros(0, REQUEST), np.zeros(0, REQUEST), np.zeros(0, PROGRAM_EVENT)


def _left(rows: np.ndarray, used: np.ndarray, first: np.ndarray) -> np.ndarray:
    """Return the rows of each thread from index `used` on. `first` has the first row of each thread."""
    parts = [rows[begin:end] for begin, end in zip(used.tolist(), first[1:].tolist(), strict=True)]
    return parts[0].copy() if len(parts) == 1 else np.concatenate(parts)


def struct_of(kind: str, arrays: Arrays) -> Any:
    """Make a struct of pointers to arrays; None becomes NULL. The owner of the arrays must keep them alive."""
    found, types = ffi.new(kind), _pointers_in(kind)
    for name, array in arrays.items():
        if array is not None:
            setattr(found, name, pointer(array, types[name]))
    return found


@cache
def _pointers_in(kind: str) -> dict[str, str]:
    """Return the C type of each field of the struct to which the pointer type `kind` points."""
    return {name: field.type.cname for name, field in ffi.typeof(kind).item.fields}
