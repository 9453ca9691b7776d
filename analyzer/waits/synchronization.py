"""Synchronizations: the times at which two threads were last in step. From then on their delays are compared.

Calls leave threads in step: messages between two of them, and MPI_Init, which nobody leaves before all have come.
"""

from __future__ import annotations

import numpy as np

from analyzer._kernels import ffi, lib
from analyzer.c_arrays import pointer
from analyzer.columns.arrays import Sorted
from analyzer.columns.spill import Spill
from analyzer.pairing.parts import Pieces
from analyzer.trace import Trace
from analyzer.waits.message_candidates import append_by_window, some_messages
from analyzer.waits.threads import Lanes
from tracelib.schema.procedures import INIT, base_name

SYNC = np.dtype(
    [
        ("key", "<i8"),
        ("time", "<i8"),
        ("other_time", "<i8"),
        ("lane", "<i4"),
        ("other", "<i4"),
        ("comm", "<i4"),  # communicator of a collective that nobody leaves before all have come
        ("what", "<i4"),
    ]
)
"""A row of the kernel, which takes rows in order of `key`.

MESSAGE: `lane` and `other` were in step; they went on at `time` and `other_time`. MEMBER: `lane` left a collective of
`comm` at `time`. QUESTION: when were both last in step? The kernel answers in `time`.
"""

MESSAGE, MEMBER, QUESTION = lib.SYNC_MESSAGE, lib.SYNC_MEMBER, lib.SYNC_QUESTION


class LastSyncs:
    """The kernel that finds when two threads were last in step, from the rows before each question."""

    def __init__(self, starts: np.ndarray) -> None:
        """Start with `starts`, the begin of each lane (ns), when no lane has been in step with another yet."""
        self._starts = np.ascontiguousarray(starts, np.int64)
        self._struct = ffi.gc(lib.syncs_new(len(starts), ffi.from_buffer("int64_t[]", self._starts)), lib.syncs_free)
        if not self._struct:
            raise MemoryError

    def feed(self, rows: np.ndarray) -> np.ndarray:
        """Answer the QUESTION rows among `rows` (SYNC, in any order), and return them in order of key."""
        rows = rows[np.lexsort((rows["lane"], -rows["what"], rows["key"]))]
        if lib.syncs_feed(self._struct, pointer(rows), len(rows)):
            raise MemoryError
        return rows[rows["what"] == QUESTION]


_EVERYBODY = -1
"""Number that stands for the communicator of MPI_Init."""


def add_syncs_of_calls(trace: Trace, lanes: Lanes, pieces: Pieces, windows: np.ndarray, syncs: Spill) -> None:
    """Put SYNC rows of messages and MPI_Init of some ranks aside, by the window of their key.

    `pieces` are the pieces in which the calls of these ranks are read.
    """
    sent, inits = _sends(trace, lanes, pieces), _Inits(trace)
    for index, (ranks, begin, end) in enumerate(pieces.all):
        rows, counts = trace.rank_calls(ranks, begin, end)
        rank = np.repeat(np.arange(ranks.start, ranks.stop), counts)
        lane = lanes.lane_numbers(rank, rows["thread"])
        for found in (_left(sent.read(index), lane, rows), inits.sync_rows(rank, lane, rows)):
            append_by_window(syncs, found, found["key"], windows)
    sent.close()


def _sends(trace: Trace, lanes: Lanes, pieces: Pieces) -> Spill:
    """Put SYNC rows of all messages from these ranks to other threads aside, by the piece in which they were sent.

    `time` is when the call that sent was entered.
    """
    sent = Spill(SYNC)
    for messages in some_messages(trace, pieces.ranks):
        rows = np.zeros(len(messages), SYNC)
        rows["lane"] = lanes.lane_numbers(messages["source"], messages["source_thread"])
        rows["other"] = lanes.lane_numbers(messages["destination"], messages["destination_thread"])
        rows["time"], rows["other_time"] = messages["logical_send"], messages["physical_receive"]
        mine = (messages["source"] >= pieces.ranks.start) & (messages["source"] < pieces.ranks.stop)
        rows = rows.compress(mine & (rows["lane"] != rows["other"]))
        pieces.put_aside(sent, rows, lanes.rank[rows["lane"]], rows["time"])
    return sent


def _left(sent: np.ndarray, lane: np.ndarray, calls: np.ndarray) -> np.ndarray:
    """Complete SYNC rows of messages: the sender had done its part when it left the call that sent."""
    order = np.argsort(lane, kind="stable") if (np.diff(lane) < 0).any() else slice(None)
    exit_ = calls["exit"][order]
    at = Sorted(lane[order], calls["enter"][order]).exactly(sent["lane"], sent["time"])
    if len(calls):
        sent["time"] = np.where(at >= 0, exit_[at], sent["time"])
    else:
        sent["time"] = sent["other_time"]
    sent["key"] = np.maximum(sent["time"], sent["other_time"])
    return sent


class _Inits:
    """The first MPI_Init of each rank, found in the calls of each window."""

    def __init__(self, trace: Trace) -> None:
        self._is_init = np.array([base_name(p) in INIT for p in trace.procedures], bool)
        self._began = np.zeros(trace.size, bool)

    def sync_rows(self, rank: np.ndarray, lane: np.ndarray, calls: np.ndarray) -> np.ndarray:
        """Return the SYNC rows of MPI_Init among the next calls of some ranks."""
        at = np.flatnonzero(self._is_init[calls["call"]] & ~self._began[rank])
        at = at[np.unique(rank[at], return_index=True)[1]]
        self._began[rank] = True
        rows = np.zeros(len(at), SYNC)
        rows["key"] = rows["time"] = calls["exit"][at]
        rows["lane"], rows["comm"], rows["what"] = lane[at], _EVERYBODY, MEMBER
        return rows
