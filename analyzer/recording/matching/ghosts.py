"""Messages and collectives that took place while nothing was recorded.

The tracer counts them in the table `skipped`. They keep the recorded messages and collectives in the right order.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from analyzer.recording.matching.half_message import HALF
from analyzer.recording.rank_file.file import RankFile
from analyzer.recording.thread_records.thread import ThreadRecords
from analyzer.trace import MISSED_COLLECTIVES
from tracelib import schema
from tracelib.schema import RequestKind

CHANNEL = ("peer", "tag", "comm")
_NONBLOCKING = 1
"""`tag` of collectives that one call begins and another call completes. Blocking collectives have 0."""


class Ghosts:
    """Unrecorded sends and receives of one rank in order of posting, and its sends that were cancelled meanwhile.

    Each row (HALF) stands for `bytes` messages of a channel. They were posted at the row's time or before, and after
    all recorded messages that were posted earlier than the first of them.
    """

    def __init__(self, file: RankFile | None = None, lane: ThreadRecords | None = None) -> None:
        """Read `skipped` of a rank. Without arguments there are no ghosts.

        Args:
            file: File of the rank.
            lane: Main thread of the rank.
        """
        found = _of(file, lane) if file and lane and len(file.skipped) else _NONE
        self._what: np.ndarray = found[0]
        self._ticks: np.ndarray = found[1]
        self._halves: np.ndarray = found[2]

    def __len__(self) -> int:
        """Return the number of rows of `skipped`."""
        return len(self._ticks)

    def _window(self, what: Sequence[RequestKind], begin: int, end: int) -> np.ndarray:
        """Return ghosts of some kinds that were posted in [begin, end) ticks."""
        first, last = np.searchsorted(self._ticks, np.array([begin, end], np.uint64))
        return self._halves[first:last][np.isin(self._what[first:last], what)]

    def sends(self, begin: int, end: int) -> np.ndarray:
        """Return the unrecorded sends (HALF) posted in [begin, end) ticks."""
        return self._window((RequestKind.SEND_DONE, RequestKind.PARTITIONED_SEND_DONE), begin, end)

    def receives(self, begin: int, end: int) -> np.ndarray:
        """Return the unrecorded receives (HALF) posted in [begin, end) ticks."""
        return self._window((RequestKind.RECV_DONE, RequestKind.PARTITIONED_RECV_DONE), begin, end)

    def cancelled(self, begin: int, end: int) -> np.ndarray:
        """Return the sends (HALF) posted in [begin, end) ticks that were cancelled while nothing was recorded."""
        return self._window((RequestKind.SEND_CANCELLED,), begin, end)

    def forget_send(self, cancelled: np.void) -> None:
        """Remove one send from the ghosts: the one to which this cancelled request belongs."""
        h = self._halves
        alike = (self._what == RequestKind.SEND_DONE) & (h["posted"] >= cancelled["posted"]) & (h["bytes"] > 0)
        for column in CHANNEL:
            alike &= h[column] == cancelled[column]
        if alike.any():
            h["bytes"][np.flatnonzero(alike)[0]] -= 1


def collectives_of(file: RankFile, lane: ThreadRecords) -> np.ndarray:
    """Return the unrecorded collectives (MISSED_COLLECTIVES) of a rank, in order of time.

    Args:
        file: File of the rank.
        lane: Main thread of the rank.
    """
    rows = _rows(file)
    kinds = _kinds(rows)
    mine = np.isin(kinds, (RequestKind.COLLECTIVE_DONE, RequestKind.COLLECTIVE_STARTED))
    rows, persistent = rows[mine], kinds[mine] == RequestKind.COLLECTIVE_STARTED
    raw = _as_requests(rows)
    raw["what"] = kinds[mine]
    requests = lane.requests(raw)
    found = np.zeros(len(rows), MISSED_COLLECTIVES)
    found["time"], found["count"], found["comm"] = requests["posted"], rows["count"], requests["comm"]
    found["call"] = np.where(persistent, requests["tag"], -1)
    found["begins"] = ~persistent & (rows["tag"] == _NONBLOCKING)
    return found


_NONE = np.zeros(0, np.uint16), np.zeros(0, np.uint64), np.zeros(0, HALF)
"""Kinds, ticks and halves of a rank whose messages were all recorded."""


def _of(file: RankFile, lane: ThreadRecords) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return for each valid row of `skipped` its kind, its ticks, and its HALF."""
    rows = _rows(file)
    return _kinds(rows), rows["time"], _halves(rows, lane)


def _rows(file: RankFile) -> np.ndarray:
    """Return the valid rows of `skipped`, in order of time."""
    rows = file.skipped[: _valid(file)]
    return rows[np.argsort(rows["time"], kind="stable")]


def _kinds(rows: np.ndarray) -> np.ndarray:
    """Return the RequestKind of each row."""
    return rows["what"] & np.uint16(schema.SKIPPED_BY_DROPPING - 1)


def _valid(file: RankFile) -> int:
    """Count the valid rows of `skipped`.

    The last ones may belong to a block whose dropping was interrupted by a kill.
    """
    counted = int((file.blocks["flags"] >> schema.BLOCK_SKIPPED_SHIFT).sum())
    dropped = np.flatnonzero(file.skipped["what"] & schema.SKIPPED_BY_DROPPING)
    return int(dropped[counted]) if len(dropped) > counted else len(file.skipped)


def _as_requests(rows: np.ndarray) -> np.ndarray:
    """Convert rows of `skipped` to rows of `requests`, with the number of messages in `bytes`."""
    raw = np.zeros(len(rows), schema.REQUEST)
    raw["posted"], raw["bytes"] = rows["time"], rows["count"]
    for column in (*CHANNEL, "thread"):
        raw[column] = rows[column]
    return raw


def _halves(rows: np.ndarray, lane: ThreadRecords) -> np.ndarray:
    requests = lane.requests(_as_requests(rows))
    halves = np.zeros(len(rows), HALF)
    for column in ("posted", "bytes", *CHANNEL, "thread"):
        halves[column] = requests[column]
    halves["call"], halves["ghost"] = -1, 1
    kind, ordinal = rows["what"] & (schema.SKIPPED_BY_DROPPING - 1), rows["what"] >> schema.WHAT_ORDINAL_SHIFT
    partitioned = np.isin(kind, (RequestKind.PARTITIONED_SEND_DONE, RequestKind.PARTITIONED_RECV_DONE))
    halves["channel"] = np.where(partitioned, 1 + ordinal, 0)
    return halves


NO_GHOSTS = Ghosts()
