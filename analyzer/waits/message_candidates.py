"""Messages as candidates for what calls waited for."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from analyzer._kernels import lib
from analyzer.c_arrays import pointer
from analyzer.columns.spill import Spill
from analyzer.pairing.parts import Pieces, window_of
from analyzer.trace import Trace
from analyzer.waits.threads import Lanes

_MESSAGES = 1 << 18
"""Number of messages that are read together."""

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
"""One possible cause of a wait (`struct wait_candidate` of the kernel).

The call of `lane` that returns at `complete` could not return before `until`, when `cause` entered the other side's
call.
"""


def add_messages(trace: Trace, lanes: Lanes, mine: range, pieces: Pieces, spill: Spill, *, probes: bool) -> None:
    """Put the CANDIDATE rows of all messages of some lanes aside.

    They go to the piece in which the call completed that may have waited, or in which the call that sent was entered.
    `probes`: True if there are calls that may have waited before the receive.
    """
    received = np.zeros((len(lanes), 3), np.int64)
    first = np.ascontiguousarray(lanes.first, np.int64)
    for messages in some_messages(trace, pieces.ranks):
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


def some_messages(trace: Trace, ranks: range) -> Iterator[np.ndarray]:
    """Yield all messages (MESSAGE) that these ranks send or receive, in order, at most _MESSAGES at a time.

    A window of many ranks may hold many.
    """
    for begin, end in pairwise(trace.message_windows().tolist()):
        every = np.ascontiguousarray(trace.messages_of(ranks, begin, end))
        for first in range(0, len(every), _MESSAGES):
            yield every[first : first + _MESSAGES]


def append_by_window(spill: Spill, rows: np.ndarray, times: np.ndarray, windows: np.ndarray) -> None:
    """Put rows aside under the number of the window that contains their time."""
    spill.append_each(window_of(windows, times), rows)
