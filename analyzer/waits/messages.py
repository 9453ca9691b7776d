"""Messages as what calls may have waited for."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from analyzer._kernels import lib
from analyzer.columns.sorted_rows import Sorted
from analyzer.columns.spill import Spill
from analyzer.native import pointer
from analyzer.pairing.parts import window_of
from analyzer.trace import Trace
from analyzer.waits.lanes import Lanes, lane_calls, window_pairs
from analyzer.waits.pieces import Pieces
from analyzer.waits.syncs import SYNC

_MESSAGES = 1 << 18
"""So many are looked at together."""

CANDIDATE = np.dtype(
    [
        ("complete", "<i8"),
        ("until", "<i8"),
        ("first", "<i8"),
        ("posted", "<i8"),
        ("lane", "<i4"),
        ("cause", "<i4"),
        ("kind", "<i4"),
        ("peer", "<i4"),
        ("tag", "<i4"),
        ("reserved", "<i4"),
    ]
)
"""`struct wait_candidate` of the kernel: the call of `lane` that returns at `complete` could not do so before `until`,
when `cause` entered the other side's call."""


def add_messages(trace: Trace, lanes: Lanes, mine: range, pieces: Pieces, spill: Spill, *, probes: bool) -> None:
    """Put the CANDIDATE of all messages of some lanes aside, by the piece in which the call completed that may have
    waited, or was entered that sent. `probes`: whether there are calls that may have waited before the receive."""
    received = np.zeros((len(lanes), 3), np.int64)
    first = np.ascontiguousarray(lanes.first, np.int64)
    for messages in _some_messages(trace):
        rows = np.empty(3 * len(messages), CANDIDATE)
        count = lib.waits_candidates(
            pointer(messages),
            len(messages),
            pointer(first, "int64_t *"),
            mine.start,
            mine.stop,
            probes,
            pointer(received, "int64_t *"),
            pointer(rows, "struct wait_candidate *"),
        )
        rows = rows[:count]
        pieces.put_aside(spill, rows, lanes.rank[rows["lane"]], rows["complete"])


def _some_messages(trace: Trace) -> Iterator[np.ndarray]:
    """All MESSAGE in order, some at a time: a window of many ranks holds many."""
    for begin, end in window_pairs(trace.windows()):
        every = np.ascontiguousarray(trace.messages(begin, end))
        for first in range(0, len(every), _MESSAGES):
            yield every[first : first + _MESSAGES]


def add_message_syncs(trace: Trace, lanes: Lanes, ranks: range, windows: np.ndarray, syncs: Spill) -> None:
    """Put SYNC of all messages of some senders aside: they had done their part when they left the call that sent."""
    for begin, end in window_pairs(windows):
        messages = trace.messages(begin, end)
        if len(ranks) < trace.size:
            messages = messages.compress((messages["source"] >= ranks.start) & (messages["source"] < ranks.stop))
        source = lanes.of(messages["source"], messages["source_thread"])
        target = lanes.of(messages["destination"], messages["destination_thread"])
        other = source != target
        messages, source, target = messages.compress(other), source[other], target[other]
        calls = lane_calls(trace, lanes, ranks, begin, end)
        at = Sorted(calls["lane"], calls["enter"]).exactly(source, messages["logical_send"])
        received = messages["physical_receive"]
        left = np.where(at >= 0, calls["exit"][at], messages["logical_send"]) if len(calls) else received
        rows = np.zeros(len(messages), SYNC)
        rows["lane"], rows["other"], rows["time"], rows["other_time"] = source, target, left, received
        rows["key"] = np.maximum(left, received)
        append_by_window(syncs, rows, rows["key"], windows)


def append_by_window(spill: Spill, rows: np.ndarray, times: np.ndarray, windows: np.ndarray) -> None:
    """Put rows aside under the number of the window that their time lies in."""
    spill.append_each(window_of(windows, times), rows)
