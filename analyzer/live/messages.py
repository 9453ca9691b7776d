"""Messages in order of time: how many there are in a stretch, and, if they are few, each of them."""

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
"""One message, times in ns.

send: its send is called. receive: its data have been received. leaves: its data leave. posted: its receive is called.
Paraver's logical line is from send to posted, its physical line from leaves to receive.
"""


class MessageLines(StrEnum):
    """From when to when the line of a message goes."""

    WHOLE = "whole"  # from the call of the send until the data have been received
    LOGICAL = "logical"  # from call to call
    PHYSICAL = "physical"  # while the data are on their way
    BOTH = "both"  # these two


_ENDS = {
    MessageLines.WHOLE: ("send", "receive"),
    MessageLines.LOGICAL: ("send", "posted"),
    MessageLines.PHYSICAL: ("leaves", "receive"),
    MessageLines.BOTH: ("send", "posted", "leaves", "receive"),
}  # fmt: skip

MOST = 1000
"""Largest number of messages in sight that are drawn. If there are more, only their number is given."""
_MOST_LOOKED_AT = 1 << 16
_TOGETHER = 1 << 12
"""Messages of which the earliest receive is kept as one number."""


@dataclass(frozen=True)
class VisibleMessages:
    """Messages of a stretch of time."""

    count: int  # that are sent in it
    size_bytes: int
    arrows: np.ndarray | None  # ARROW of all that are on their way in it; None: they are too many


class MessageIndex:
    """All messages of a run, in temporary files, by the time at which they are sent."""

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
        """Count the messages that are sent before each time (ns), and their bytes."""
        at = np.searchsorted(self._rows.mapped()["send"], times, side="left")
        return at, self._bytes.mapped()[at]

    @cached_property
    def _earliest(self) -> np.ndarray:
        """The first time at which a receive of these _TOGETHER messages or of later ones is called, int64."""
        rows, least = self._rows.mapped(), []
        for first in range(0, len(rows), _TOGETHER):
            some = rows[first : first + _TOGETHER]
            least.append(min(int(some["posted"].min()), int(some["leaves"].min())))
        return np.minimum.accumulate(np.array(least, np.int64)[::-1])[::-1]

    def between(
        self, begin: int, end: int, ranks: np.ndarray, lines: MessageLines = MessageLines.WHOLE
    ) -> VisibleMessages:
        """Find messages whose lines are in [begin, end) ns and that come from or go to one of `ranks` (bool by rank).

        The number and the bytes are of those messages that are sent in the stretch. If there are too many to look at,
        they are of the messages that all ranks send there.
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
