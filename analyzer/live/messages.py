"""Messages in order of time: how many there are in a stretch, and, if they are few, each of them."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from analyzer.columns.rows import Rows
from analyzer.trace import Trace

ARROW = np.dtype([
    ("send", "<i8"), ("receive", "<i8"), ("size", "<i8"), ("tag", "<i8"), ("source", "<i4"), ("source_thread", "<i4"),
    ("destination", "<i4"), ("destination_thread", "<i4"),
])  # fmt: skip
"""A message: when its send is entered and when it has been received (ns)."""

MOST = 1000
"""Of more messages in sight only the number is told."""
_MOST_LOOKED_AT = 1 << 16


@dataclass(frozen=True)
class InSight:
    """Messages of a stretch of time."""

    count: int  # that are sent in it
    size_bytes: int
    arrows: np.ndarray | None  # ARROW of all that are on their way in it; None: they are too many


class Messages:
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
            for name in ("size", "tag", "source", "source_thread", "destination", "destination_thread"):
                rows[name] = found[name]
            received = np.maximum.accumulate(np.maximum(rows["receive"], latest))
            sums = np.cumsum(rows["size"]) + total
            self._rows.append(rows)
            self._latest.append(received)
            self._bytes.append(sums)
            latest, total = int(received[-1]), int(sums[-1])

    def __len__(self) -> int:
        return len(self._rows)

    def until(self, times: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """How many are sent before each time (ns), and how many bytes they have."""
        at = np.searchsorted(self._rows.mapped()["send"], times, side="left")
        return at, self._bytes.mapped()[at]

    def between(self, begin: int, end: int, ranks: np.ndarray) -> InSight:
        """Those of [begin, end) ns that come from or go to one of these ranks (bool by rank); the number of all that
        are sent there is that of all ranks where they are too many to look at."""
        count, size = self.until(np.array([begin, end]))
        low, high = int(np.searchsorted(self._latest.mapped(), begin, side="right")), int(count[1])
        if high - low > _MOST_LOOKED_AT:
            return InSight(int(count[1] - count[0]), int(size[1] - size[0]), None)
        rows = self._rows.mapped()[low:high]
        rows = rows.compress((rows["receive"] > begin) & (ranks[rows["source"]] | ranks[rows["destination"]]))
        sent = rows["send"] >= begin
        arrows = rows if len(rows) <= MOST else None
        return InSight(int(sent.sum()), int(rows["size"][sent].sum()), arrows)
