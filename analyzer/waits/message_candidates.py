"""Possible waits of calls for messages: who could not go on before whom."""

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
"""Number of messages that are read at a time."""

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
"""One possible wait (`struct wait_candidate` of the kernel). Times are in ns.

The call of thread `lane` that returns at `complete` could not return before `until`. At `until`, the thread `cause`
entered the call that it needed. `posted`: when the operation was begun; a poll before that did not wait for it.
`first`: for N-to-1 collectives, when the first giver entered; for a late sender, when the last message that had been
sent before this one was received. `peer`, `tag`: other rank and tag of a message.
"""


def add_messages(trace: Trace, lanes: Lanes, mine: range, pieces: Pieces, spill: Spill, *, probes: bool) -> None:
    """Put the possible waits (CANDIDATE) of all messages of some threads into `spill`, by number of the piece.

    The piece is that of the call's completion, or of the entry of the call that sent.

    Args:
        trace: The trace.
        lanes: The threads of the trace.
        mine: Range of lanes whose calls may have waited.
        pieces: The pieces in which their calls are read.
        spill: Gets the rows.
        probes: True if there are probes, which may have waited for the message before the receive.
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
    """Yield all messages (MESSAGE) that these ranks send or receive, in order, at most _MESSAGES (2^18) at a time.

    The limit holds although a window of many ranks may have more messages.
    """
    for begin, end in pairwise(trace.message_windows().tolist()):
        every = np.ascontiguousarray(trace.messages_of(ranks, begin, end))
        for first in range(0, len(every), _MESSAGES):
            yield every[first : first + _MESSAGES]


def append_by_window(spill: Spill, rows: np.ndarray, times: np.ndarray, windows: np.ndarray) -> None:
    """Append rows to a spill, each under the number of the window that contains its time (ns)."""
    spill.append_each(window_of(windows, times), rows)
