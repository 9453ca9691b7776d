"""Index of messages by time: their number in any window, and the messages themselves if they are few."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from itertools import pairwise

import numpy as np

from analyzer.columns.rows import Rows
from analyzer.trace import Trace

ARROW = np.dtype([
    ("send", "<i8"), ("receive", "<i8"), ("size", "<i8"), ("tag", "<i8"), ("source", "<i4"), ("source_thread", "<i4"),
    ("destination", "<i4"), ("destination_thread", "<i4"), ("leaves", "<i8"), ("posted", "<i8"),
])  # fmt: skip
"""Record of one message. All times are in ns.

send: the send is called. leaves: the data leave. receive: the data have been received. posted: the receive is called.
Paraver's logical line goes from send to posted, its physical line from leaves to receive.
"""


class MessageLines(StrEnum):
    """The two moments that the drawn line of a message connects."""

    WHOLE = "whole"  # from the call of the send until the data have been received
    LOGICAL = "logical"  # from the call of the send to the call of the receive
    PHYSICAL = "physical"  # from the data leaving until they have been received
    BOTH = "both"  # a logical and a physical line


_ENDS = {
    MessageLines.WHOLE: ("send", "receive"),
    MessageLines.LOGICAL: ("send", "posted"),
    MessageLines.PHYSICAL: ("leaves", "receive"),
    MessageLines.BOTH: ("send", "posted", "leaves", "receive"),
}  # fmt: skip

MOST = 1000
"""Largest number of messages that are drawn. If a window has more, only their number is given."""
_MOST_LOOKED_AT = 1 << 16
_TOGETHER = 1 << 12
"""Number of messages for which one earliest receive is stored."""


@dataclass(frozen=True)
class VisibleMessages:
    """The messages of a window of time.

    Attributes:
        count, size_bytes: Number and bytes of the messages that are sent in the window.
        arrows: Records (ARROW) of the messages whose lines cross the window; None if they are more than MOST.
    """

    count: int  # number of messages sent in the window
    size_bytes: int
    arrows: np.ndarray | None  # ARROW; None: too many to draw


class MessageIndex:
    """All messages of a run in temporary files, ordered by the time of their send."""

    def __init__(self, trace: Trace) -> None:
        self._rows = Rows(ARROW)
        self._latest, self._bytes = Rows(np.dtype(np.int64)), Rows(np.dtype(np.int64))
        self._bytes.append(np.array([0]))
        latest = total = 0
        trace.match()
        for begin, end in pairwise(trace.message_windows().tolist()):
            found = trace.messages(begin, end)
            if not len(found):
                continue
            rows = np.empty(len(found), ARROW)
            rows["send"], rows["receive"] = found["logical_send"], found["physical_receive"]
            rows["leaves"], rows["posted"] = found["physical_send"], found["logical_receive"]
            for name in ("size", "tag", "source", "source_thread", "destination", "destination_thread"):
                rows[name] = found[name]
            received = np.maximum.accumulate(np.maximum(np.maximum(rows["receive"], rows["posted"]), latest))
            sums = np.cumsum(rows["size"]) + total
            self._rows.append(rows)
            self._latest.append(received)
            self._bytes.append(sums)
            latest, total = int(received[-1]), int(sums[-1])

    def __len__(self) -> int:
        return len(self._rows)

    def until(self, times: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the number of messages that are sent before each time (ns), and the sum of their bytes."""
        at = np.searchsorted(self._rows.mapped()["send"], times, side="left")
        return at, self._bytes.mapped()[at]

    @cached_property
    def _earliest(self) -> np.ndarray:
        """Earliest "posted" or "leaves" in ns of each block of _TOGETHER messages and all later blocks, int64."""
        rows, least = self._rows.mapped(), []
        for first in range(0, len(rows), _TOGETHER):
            some = rows[first : first + _TOGETHER]
            least.append(min(int(some["posted"].min()), int(some["leaves"].min())))
        return np.minimum.accumulate(np.array(least, np.int64)[::-1])[::-1]

    def between(
        self, begin: int, end: int, ranks: np.ndarray, lines: MessageLines = MessageLines.WHOLE
    ) -> VisibleMessages:
        """Find the messages whose lines cross the window [begin, end) ns.

        Args:
            begin: Begin of the window in ns.
            end: End of the window in ns.
            ranks: Mask by rank, bool of shape (ranks,). A message needs its source or its destination among them.
            lines: The two moments that the line of a message connects.

        Returns:
            Messages with number and bytes of those that are sent in the window. If more than _MOST_LOOKED_AT messages
            would have to be examined, number and bytes are of all ranks and `arrows` is None.
        """
        count, size = self.until(np.array([begin, end]))
        low, high = int(np.searchsorted(self._latest.mapped(), begin, side="left")), int(count[1])
        if lines in (
            MessageLines.LOGICAL,
            MessageLines.BOTH,
        ):  # a receive may be called long before its message is sent
            high = min(max(high, int(np.searchsorted(self._earliest, end)) * _TOGETHER), len(self))
        if high - low > _MOST_LOOKED_AT:
            return VisibleMessages(int(count[1] - count[0]), int(size[1] - size[0]), None)
        rows = self._rows.mapped()[low:high]
        rows = rows.compress(ranks[rows["source"]] | ranks[rows["destination"]])
        times = np.stack([rows[name] for name in _ENDS[lines]])
        shown = rows.compress((times.max(axis=0) > begin) & (times.min(axis=0) < end))
        sent = (rows["send"] >= begin) & (rows["send"] < end)
        return VisibleMessages(int(sent.sum()), int(rows["size"][sent].sum()), shown if len(shown) <= MOST else None)
