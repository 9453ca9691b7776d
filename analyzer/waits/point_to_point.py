"""What each call that completes messages and nonblocking collectives waited for last."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from analyzer._kernels import ffi, lib
from analyzer.paraver import (
    IMMEDIATE_SEND_RECEIVES,
    IMMEDIATE_SENDS,
    SEND_RECEIVES,
    SENDS,
    STARTS,
    TESTS,
    WAITS,
    base_name,
    is_one_sided,
)
from analyzer.sources.spill import Spill
from analyzer.trace import CALL, REQUEST, Trace
from analyzer.waits.kinds import WAIT
from analyzer.waits.lanes import Lanes, window_pairs
from analyzer.waits.messages import MATCHED_PROBES, PROBES

BEGIN_SENDS = IMMEDIATE_SENDS | IMMEDIATE_SEND_RECEIVES | STARTS
"""Procedures that begin sends which other calls complete."""
_BUFFERED = frozenset({"MPI_Bsend", "MPI_Ibsend"})
_STATUSES = frozenset(f"MPI_Request_get_status{which}" for which in ("", "_all", "_any", "_some"))
_ROLES = (
    ((SENDS | SEND_RECEIVES) - _BUFFERED, lib.WAITS_SENDS),
    (_BUFFERED, lib.WAITS_BUFFERS),
    (PROBES, lib.WAITS_PROBES),
    (MATCHED_PROBES, lib.WAITS_MATCHES),
    (TESTS | _STATUSES | {"MPI_Iprobe", "MPI_Improbe", "MPI_Win_test"}, lib.WAITS_POLLS),
    (WAITS | {"MPI_Win_wait"}, lib.WAITS_FINISHES),
)
POLLS_KEPT = 1 << 20
"""Runs of failing polls that are kept apart until an operation completes, of all threads together; if there are more,
neighbours are put together."""


def message_waits(
    trace: Trace, lanes: Lanes, ranks: range, windows: np.ndarray, candidates: Spill, *, begins_sends: bool
) -> Iterator[np.ndarray]:
    """WAIT of the calls of some ranks, in no order. `candidates`: CANDIDATE by window; `begins_sends`:
    whether there may be sends that other calls complete.

    A receive (or the call that completes it) waits until the send is entered, a send until the receive is posted, if
    it has not returned before: a message that MPI buffers delays no sender. Of a call that completes several messages
    the wait that ended last counts; so no call waits longer than it lasts. Polls that failed waited for what the next
    call completed that completes anything, from when it was posted on.
    """
    calls = _Calls(trace, lanes)
    for index, (begin, end) in enumerate(window_pairs(windows)):
        calls.add(candidates.read(index))
        for rank in ranks:
            for block in trace.requests(rank, begin, end) if begins_sends else ():
                calls.feed(lib.waits_done, rank, np.ascontiguousarray(block, REQUEST))
            for block in trace.calls(rank, begin, end):
                calls.feed(lib.waits_calls, rank, np.ascontiguousarray(block, CALL), trace.overhead_ns(rank))
        yield calls.take()
    calls.finish()
    yield calls.take()


def roles(trace: Trace) -> np.ndarray:
    """What each procedure may do (uint8): the sum of WAITS_... of the kernel."""
    names = [base_name(p) for p in trace.procedures]
    found = [sum(role for of, role in _ROLES if name in of) for name in names]
    on_window = [lib.WAITS_ON_WINDOW * is_one_sided(name) for name in names]
    return np.array(found, np.uint8) | np.array(on_window, np.uint8)


class _Calls:
    """The kernel, which walks through calls and candidates."""

    def __init__(self, trace: Trace, lanes: Lanes) -> None:
        self._lanes = lanes
        self._roles = roles(trace)
        pointer = ffi.cast("uint8_t *", self._roles.ctypes.data)
        most_polls = max(POLLS_KEPT // max(len(lanes), 1), 64)
        self._struct = ffi.gc(lib.waits_new(len(lanes), pointer, most_polls), lib.waits_free)
        if not self._struct:
            raise MemoryError

    def add(self, candidates: np.ndarray) -> None:
        pointer = ffi.cast("struct wait_candidate *", candidates.ctypes.data)
        self._check(lib.waits_add(self._struct, pointer, len(candidates)))

    def feed(self, kernel: Callable[..., int], rank: int, rows: np.ndarray, *more: int) -> None:
        """The next rows of a rank, for one of the kernel's functions."""
        first, last = (int(lane) for lane in self._lanes.first[rank : rank + 2])
        pointer = ffi.cast("void *", rows.ctypes.data)
        self._check(kernel(self._struct, pointer, len(rows), first, last - first, *more))

    def finish(self) -> None:
        self._check(lib.waits_finish(self._struct))

    def take(self) -> np.ndarray:
        """WAIT found since the last time."""
        found = np.zeros(lib.waits_found(self._struct), WAIT)
        lib.waits_take(self._struct, ffi.cast("struct wait_state *", found.ctypes.data))
        return found

    @staticmethod
    def _check(failed: int) -> None:
        if failed:
            raise MemoryError
