"""Rebuilds MPI calls and completed receives of a .prv from its events and messages.

Facts that a .prv does not have stay unknown: the communicator of a message, the root on ranks that are not the root,
and requests of sends. A .prv does not tell which call completed a nonblocking collective. As in prv2dim, an MPI_Wait in
which no receive completes is assumed to wait for the oldest nonblocking collective.
"""

from __future__ import annotations

from functools import reduce
from itertools import pairwise
from operator import or_

import numpy as np

from analyzer._kernels import ffi, lib
from analyzer.columns.sorted_runs import RankRuns, SortedRuns
from analyzer.sources.paraver.body import TraceBody
from analyzer.sources.paraver.labels import Labels
from analyzer.trace import CALL, EVENT, MESSAGE, REQUEST, STATE, State
from analyzer.trace.paraver import MPI_TYPES, call_name
from tracelib.schema import RequestKind
from tracelib.schema.procedures import (
    BY_A_ROOT,
    CLOCKS,
    IMMEDIATE_RECEIVES,
    IMMEDIATE_SEND_RECEIVES,
    IMMEDIATE_SENDS,
    MATCHED_PROBES,
    NONBLOCKING_COLLECTIVES,
    RECEIVES,
    ROWS_THAT_RECEIVE,
    SEND_RECEIVES,
    SENDS,
    STARTS,
    TESTS,
    WAITS,
    of_kinds,
)

_ROLES = (
    (SENDS | IMMEDIATE_SENDS, lib.PRV_SENDS),
    (RECEIVES - ROWS_THAT_RECEIVE, lib.PRV_RECEIVES | lib.PRV_COMPLETES),
    (RECEIVES, lib.PRV_RECEIVES),
    (IMMEDIATE_RECEIVES | MATCHED_PROBES, lib.PRV_POSTS),
    (SEND_RECEIVES, lib.PRV_SENDS | lib.PRV_RECEIVES),
    (IMMEDIATE_SEND_RECEIVES, lib.PRV_SENDS | lib.PRV_POSTS),
    (STARTS, lib.PRV_SENDS | lib.PRV_POSTS | lib.PRV_MANY),
    (WAITS | TESTS, lib.PRV_COMPLETES),
    (of_kinds("wait"), lib.PRV_WAITS_FOR_ONE),
    (BY_A_ROOT, lib.PRV_ROOTED),
    (NONBLOCKING_COLLECTIVES, lib.PRV_BEGINS_COLLECTIVE),
    (CLOCKS, lib.PRV_LOOKS_AT_CLOCK),
)


def find_procedures(body: TraceBody, labels: Labels) -> tuple[tuple[str, ...], np.ndarray]:
    """Return the names of the MPI procedures that a trace calls.

    Also return an int32 table of shape (MPI types, values): the index of the procedure; -1: none.
    """
    table = np.full(body.calls.shape, -1, np.int32)
    rows: dict[str, int] = {}
    for kind, value in np.argwhere(body.calls).tolist():
        name = call_name(MPI_TYPES[kind], value, labels)
        table[kind, value] = rows.setdefault(name, len(rows))
    return tuple(rows), table


def _roles(procedures: tuple[str, ...]) -> np.ndarray:
    roles = np.zeros(max(1, len(procedures)), np.uint16)
    for index, name in enumerate(procedures):
        roles[index] = reduce(or_, (role for names, role in _ROLES if name in names), 0)
    return roles


class ParaverCalls:
    """Calls and requests of all ranks in temporary files, rebuilt in one pass over the windows of the trace."""

    def __init__(
        self, body: TraceBody, messages: SortedRuns, procedures: tuple[str, ...], table: np.ndarray, windows: np.ndarray
    ) -> None:
        """Rebuild the calls.

        Args:
            body: The trace.
            messages: Messages (MESSAGE) without arrows inside a task.
            procedures: Names of the procedures.
            table: Index of the procedure by MPI type and value, as from `find_procedures`.
            windows: Bounds of the windows, ns.
        """
        self.calls = RankRuns(CALL, "enter", body.header.size)
        self.requests = RankRuns(REQUEST, "completed", body.header.size)
        self._body, self._messages = body, messages
        keys = np.array(body.communicator_keys, np.int64).reshape(-1, 2)
        self._communicator_keys = (keys[:, 0] << 32) + keys[:, 1]
        sizes = body.header.applications
        self._application = np.repeat(np.arange(len(sizes)), sizes)
        self.broken = self._build(procedures, table, windows)

    def _build(self, procedures: tuple[str, ...], table: np.ndarray, windows: np.ndarray) -> int:
        roles, threads = _roles(procedures), self._body.header.threads
        builder = lib.prv_calls_new(
            len(threads),
            ffi.from_buffer("int32_t[]", threads),
            ffi.from_buffer("int32_t[]", table),
            ffi.from_buffer("uint16_t[]", roles),
        )
        if builder == ffi.NULL:
            raise MemoryError
        builder = ffi.gc(builder, lib.prv_calls_free)
        receives = self._by_receive(windows)
        for begin, end in pairwise(windows.tolist()):
            rows = (
                self._body.events.read(begin, end), self._tracer(begin, end),
                self._messages.read(begin, end), receives.read(begin, end),
            )  # fmt: skip
            pointers = [
                item
                for array, dtype in zip(rows, (EVENT, STATE, MESSAGE, MESSAGE), strict=True)
                for item in (ffi.from_buffer("char[]", np.ascontiguousarray(array, dtype).view(np.uint8)), len(array))
            ]
            if lib.prv_calls_feed(builder, *pointers):
                raise MemoryError
            self._take(builder)
        receives.close()
        if lib.prv_calls_finish(builder, self._body.last_ns):
            raise MemoryError
        self._take(builder)
        return lib.prv_calls_broken(builder)

    def _by_receive(self, windows: np.ndarray) -> SortedRuns:
        receives = SortedRuns(MESSAGE, "logical_receive", "destination", step=self._body.sizes.sorted_step)
        for begin, end in pairwise(windows.tolist()):
            receives.append(self._messages.read(begin, end))
        return receives

    def _tracer(self, begin: int, end: int) -> np.ndarray:
        """Return the states (STATE) of a window in which the tracer held a thread."""
        if not self._body.tracer_states:
            return np.zeros(0, STATE)
        states = self._body.states.read(begin, end)
        return states[states["state"] == State.TRACER]

    def _take(self, builder: object) -> None:
        """Move the calls and requests that the kernel has completed to the temporary files."""
        counts = ffi.new("int64_t[2]")
        lib.prv_calls_counts(builder, counts)
        calls, requests = np.empty(counts[0], CALL), np.empty(counts[1], REQUEST)
        call_ranks, request_ranks = np.empty(counts[0], np.int32), np.empty(counts[1], np.int32)
        lib.prv_calls_take(
            builder,
            ffi.from_buffer("char[]", calls.view(np.uint8)),
            ffi.from_buffer("int32_t[]", call_ranks),
            ffi.from_buffer("char[]", requests.view(np.uint8)),
            ffi.from_buffer("int32_t[]", request_ranks),
        )
        self._number_communicators(calls, call_ranks)
        collective = requests["what"] == RequestKind.COLLECTIVE_DONE
        done = requests[collective]
        self._number_communicators(done, request_ranks[collective])
        requests[collective] = done
        self.calls.append(calls, call_ranks)
        self.requests.append(requests, request_ranks)

    def _number_communicators(self, rows: np.ndarray, ranks: np.ndarray) -> None:
        """Replace the trace's ids of communicators by indices in `communicators`; -1: unknown."""
        keys = self._communicator_keys
        if not len(keys):
            rows["comm"] = -1
            return
        order = np.argsort(keys, kind="stable")
        wanted = (self._application[ranks] << 32) + rows["comm"]
        at = np.searchsorted(keys[order], wanted).clip(max=len(keys) - 1)
        rows["comm"] = np.where((rows["comm"] >= 0) & (keys[order][at] == wanted), order[at], -1)

    def close(self) -> None:
        self.calls.close()
        self.requests.close()
