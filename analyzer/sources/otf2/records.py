"""Records of an OTF2 archive in temporary files, from which windows of time are read."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from analyzer.columns.arrays import joined
from analyzer.columns.sorted_runs import RankRuns, SortedRuns
from analyzer.sources.otf2.location import HALF, LocationActivity
from analyzer.trace.call_trace import call_events, call_states, running
from analyzer.trace.read_sizes import DEFAULT_SIZES, ReadSizes
from analyzer.trace.records import CALL, EVENT, MARK, MESSAGE, REQUEST, STATE
from tracelib.schema import RequestKind

_AT_ONCE = 1 << 18
"""Number of calls, marks and sends that are written to files together."""
_EVER = 2**62


class RecordSpill:
    """Temporary files of records. First each thread's records are appended in order of time, then `finish` is called.

    `calls`, `requests` and `marks` are then read by rank and window; `states`, `events` and `messages` by window.
    """

    def __init__(self, size: int, procedures: Sequence[str], sizes: ReadSizes = DEFAULT_SIZES) -> None:
        self._procedures, self._step = procedures, sizes.sorted_step
        self.calls = RankRuns(CALL, "enter", size)
        self.requests = RankRuns(REQUEST, "completed", size)
        self.marks = RankRuns(MARK, "time", size)
        self.states = SortedRuns(STATE, "begin", "rank", "thread", step=self._step)
        self.events = SortedRuns(EVENT, "time", "rank", "thread", step=self._step)
        self.messages = SortedRuns(MESSAGE, "logical_send", "source", step=self._step)
        self._sends = SortedRuns(HALF, "logical", "rank", "thread", step=self._step)
        self._receives = SortedRuns(HALF, "logical", "rank", "thread", step=self._step)
        self._waiting: list[tuple[int, LocationActivity]] = []
        self._before: dict[tuple[int, int], int] = {}  # by (rank, thread): end of its last call, or its begin
        self._computed = [np.zeros(0, STATE)]
        self._sample: list[np.ndarray] = [np.zeros(0, np.int64)]

    def append(self, rank: int, thread: int, begin: int, did: LocationActivity) -> None:
        """Add a thread's next records.

        Args:
            rank: The rank.
            thread: The thread. The main thread computes from `begin` on, other threads from the end of their first
                call.
            begin: Time of the first event, ns.
            did: The records.
        """
        begins = did.calls["exit"]
        if thread == 0:
            self._before.setdefault((rank, thread), begin)
        if (rank, thread) in self._before:
            begins, ends = np.append(self._before[rank, thread], begins), did.calls["enter"]
        else:
            ends = did.calls["enter"][1:]
        self._computed.append(running(rank, thread, begins[: len(ends)], ends))
        if len(did.calls):
            self._before[rank, thread] = int(did.calls["exit"][-1])
        self._waiting.append((rank, did))
        if sum(len(one.calls) + len(one.marks) + len(one.sends) for _, one in self._waiting) >= _AT_ONCE:
            self._put()

    def end_of(self, rank: int, end: int) -> None:
        """Finish a rank. Its main thread computes until `end` (ns)."""
        last = self._before.get((rank, 0), end)
        self._computed.append(running(rank, 0, np.array([last]), np.array([end])))

    def _put(self) -> None:
        """Write the records that were collected to the temporary files."""
        ranks = [rank for rank, _ in self._waiting]
        calls = [did.calls for _, did in self._waiting]
        every = joined(calls, CALL)
        self._sample.append(np.sort(every["enter"])[:: self._step])
        self.calls.append(every, np.repeat(ranks, list(map(len, calls))))
        marks = [did.marks for _, did in self._waiting]
        self.marks.append(joined(marks, MARK), np.repeat(ranks, list(map(len, marks))))
        halves = [(rank, _requests(did)) for rank, did in self._waiting]
        done = [rows for _, rows in halves]
        self.requests.append(joined(done, REQUEST), np.repeat(ranks, list(map(len, done))))
        pairs = list(zip(ranks, calls, strict=True))
        of_calls = [call_states(rank, rows, self._procedures) for rank, rows in pairs]
        self.states.append(joined([*of_calls, *self._computed], STATE))
        self.events.append(joined([call_events(rank, rows, self._procedures) for rank, rows in pairs], EVENT))
        self._sends.append(joined([did.sends for _, did in self._waiting], HALF))
        self._receives.append(joined([did.receives for _, did in self._waiting], HALF))
        self._waiting, self._computed = [], self._computed[:1]

    def finish(self) -> None:
        """Write the last records, and match the messages. Memory holds one window, and the unmatched messages."""
        self._put()
        self._times = np.sort(np.concatenate(self._sample))
        halves = (self._sends, self._receives)
        bounds = np.unique(np.concatenate([half.sample() for half in halves]))[:: max(_AT_ONCE // self._step, 1)]
        rest = [np.zeros(0, HALF), np.zeros(0, HALF)]
        for begin, end in pairwise([-_EVER, *bounds[1:].tolist(), _EVER]):
            sides = [joined([left, half.read(begin, end)], HALF) for left, half in zip(rest, halves, strict=True)]
            messages, *rest = _matched(*sides)
            self.messages.append(messages)
        for half in halves:
            half.close()

    def windows(self, records: int, duration_ns: int) -> np.ndarray:
        """Return the bounds of windows, as `Trace.windows` does."""
        inner = self._times[:: max(records // self._step, 1)]
        inner = inner[(inner > 0) & (inner <= duration_ns)]
        return np.unique(np.concatenate([[0], inner, [duration_ns + 1]]))

    def close(self) -> None:
        """Remove all temporary files."""
        for table in (self.calls, self.requests, self.marks, self.states, self.events, self.messages):
            table.close()


def _matched(sends: np.ndarray, receives: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Match messages: in each channel the k-th receive takes the k-th send.

    A channel is (source, destination, communicator, tag).

    Returns:
        The messages (MESSAGE), the sends that are left, and the receives that are left.
    """
    keys = [_channels(sends, "rank", "peer"), _channels(receives, "peer", "rank")]
    _, channel = np.unique(np.concatenate(keys), axis=0, return_inverse=True)
    channel = channel.ravel()
    sides = []
    for rows, of in ((sends, channel[: len(sends)]), (receives, channel[len(sends) :])):
        order = np.lexsort((rows["order"], rows["thread"], rows["logical"], of))
        first = np.searchsorted(of[order], of[order])
        sides.append((order, of[order], np.arange(len(order)) - first))
    width = max(len(sends), len(receives)) + 1
    places = [of * np.int64(width) + number for _, of, number in sides]
    _, one, other = np.intersect1d(places[0], places[1], assume_unique=True, return_indices=True)
    one, other = sides[0][0][one], sides[1][0][other]
    sent, received = sends[one], receives[other]
    found = np.zeros(len(sent), MESSAGE)
    found["logical_send"], found["physical_send"] = sent["logical"], sent["physical"]
    found["logical_receive"], found["physical_receive"] = received["logical"], received["physical"]
    found["size"], found["tag"], found["comm"] = sent["size"], sent["tag"], sent["comm"]
    found["source"], found["source_thread"] = sent["rank"], sent["thread"]
    found["destination"], found["destination_thread"] = received["rank"], received["thread"]
    return found, np.delete(sends, one), np.delete(receives, other)


def _channels(rows: np.ndarray, source: str, destination: str) -> np.ndarray:
    return np.stack([rows[name].astype(np.int64) for name in (source, destination, "comm", "tag")], axis=1)


def _requests(did: LocationActivity) -> np.ndarray:
    """Return the requests (REQUEST) of nonblocking sends and receives."""
    parts = []
    for rows, what in ((did.sends, RequestKind.SEND_DONE), (did.receives, RequestKind.RECV_DONE)):
        rows = rows[rows["done"] > 0]
        found = np.zeros(len(rows), REQUEST)
        found["posted"], found["completed"], found["bytes"] = rows["logical"], rows["done"], rows["size"]
        for name in ("comm", "peer", "tag", "thread"):
            found[name] = rows[name]
        found["what"] = what
        parts.append(found)
    return joined(parts, REQUEST)
