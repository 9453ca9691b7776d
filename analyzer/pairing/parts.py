"""Parts of a run: calls and requests of some ranks in a stretch of time, over which sums are computed.

Neighbouring ranks with few calls share a part, so that numpy works on long arrays however many ranks there are. A rank
with many calls has several parts, so that memory is bounded.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from analyzer.columns.arrays import Sorted, by_index, distinct, joined
from analyzer.columns.spill import Spill
from analyzer.pairing.requests import Posted, choice_of
from analyzer.trace import REQUEST, CallPaths, Trace
from tracelib.schema import RequestKind

_AT_POSTING = (RequestKind.RECV_DONE, RequestKind.SEND_STARTED, RequestKind.READ_DONE)
"""Completions whose bytes count at the call that posted or started the operation, which did not know them."""


class RankRows(NamedTuple):
    """Rows of several ranks, each rank's rows in order, with the rank of each row."""

    rank: np.ndarray  # int64, by row
    rows: np.ndarray

    @classmethod
    def of(cls, ranks: range, rows: np.ndarray, counts: np.ndarray) -> RankRows:
        """Build from the rows of `ranks`, rank after rank, and the number of rows of each rank."""
        return cls(np.repeat(np.arange(ranks.start, ranks.stop), counts), rows)

    @classmethod
    def joined(cls, parts: Sequence[RankRows], dtype: np.dtype) -> RankRows:
        """Concatenate the rows of several parts, whose type is `dtype`."""
        ranks = [np.zeros(0, np.int64), *(part.rank for part in parts)]
        return cls(np.concatenate(ranks), joined([part.rows for part in parts], dtype))

    def where(self, chosen: np.ndarray) -> RankRows:
        """Select rows by a mask."""
        return RankRows(self.rank[chosen], self.rows.compress(chosen))


class Part:
    """Calls, requests and states of some ranks in [begin, end) ns. Each table is read at its first use."""

    def __init__(self, group: _Group, index: int) -> None:
        self._group, self._index = group, index
        self.trace, self.ranks = group.trace, group.ranks
        self.begin, self.end = group.bounds[index : index + 2].tolist()

    @property
    def is_whole(self) -> bool:
        """True if the part covers all the time of its ranks."""
        return len(self._group.bounds) == 2

    @cached_property
    def calls(self) -> RankRows:
        """The calls (CALL) that enter in this part, by rank, then by enter."""
        return RankRows.of(self.ranks, *self.trace.rank_calls(self.ranks, self.begin, self.end))

    @cached_property
    def paths(self) -> np.ndarray:
        """Call path of each call: row of CallPaths.tables, int64; 0: not known."""
        paths = self.trace.extra(CallPaths)
        if not paths.known:
            return np.zeros(len(self.calls.rows), np.int64)
        found = (block for rank in self.ranks for block in paths.of(rank, self.begin, self.end))
        return np.concatenate([np.zeros(0, np.int64), *found])

    @cached_property
    def posted_bytes(self) -> tuple[np.ndarray, np.ndarray]:
        """Bytes of the sends that each call started, and bytes of the receives that each call posted.

        These are two int64 arrays with one element for each row of `calls`.
        """
        posted = self.posted(_AT_POSTING)
        at = self.find(posted.rank, posted.rows["posted"])
        is_send = posted.rows["what"] == RequestKind.SEND_STARTED
        length = len(self.calls.rows)
        chosen = ((at >= 0) & is_send, (at >= 0) & ~is_send)
        sent, received = (by_index(at[f], posted.rows["bytes"][f], length) for f in chosen)
        return sent, received

    @cached_property
    def requests(self) -> RankRows:
        """The operations (REQUEST) that complete in this part, by rank, then in order of the file."""
        return RankRows.of(self.ranks, *self.trace.rank_requests(self.ranks, self.begin, self.end))

    @cached_property
    def states(self) -> np.ndarray:
        """The states (STATE) that begin in this part, by thread, then by time."""
        return self.trace.rank_states(self.begin, self.end, self.ranks)

    def posted(self, kinds: tuple[int, ...]) -> RankRows:
        """Return the operations (REQUEST) of some kinds that were posted in this part, by rank, then by posting.

        `kinds`: values of `what`, tracelib.schema.RequestKind.
        """
        return self._group.posted(kinds, self._index, self.requests)

    def find(self, rank: np.ndarray, enter: np.ndarray) -> np.ndarray:
        """Return the row in `calls` of the call that each rank entered at a time (ns); -1: none."""
        return Sorted(self.calls.rank, self.calls.rows["enter"]).exactly(rank, enter)


class _Group:
    """Ranks that are read with the same bounds of time."""

    def __init__(self, trace: Trace, ranks: range, bounds: np.ndarray) -> None:
        self.trace, self.ranks, self.bounds = trace, ranks, bounds
        self._posted: dict[tuple[tuple[int, ...], int], Posted] = {}

    def posted(self, kinds: tuple[int, ...], index: int, requests: RankRows) -> RankRows:
        """Return the operations (REQUEST) that each rank posted in window `index`.

        `requests`: the operations that complete in the window.
        """
        cuts = np.searchsorted(requests.rank, np.arange(self.ranks.start, self.ranks.stop + 1))
        if len(self.bounds) == 2:
            return RankRows.of(self.ranks, *choice_of(kinds).of_each(requests.rows, cuts))
        every = []
        for rank, (first, last) in zip(self.ranks, pairwise(cuts.tolist()), strict=True):
            if (kinds, rank) not in self._posted:
                self._posted[kinds, rank] = Posted(self.trace, rank, self.bounds, kinds)
            every.append(self._posted[kinds, rank].window(index, requests.rows[first:last]))
        return RankRows.of(self.ranks, joined(every, REQUEST), np.array(list(map(len, every))))


def parts(trace: Trace, ranks: range) -> Iterator[Part]:
    """Yield all parts of some ranks. The parts of one rank are in order of time."""
    for some, bounds in trace.parts(ranks, trace.sizes.part_calls):
        group = _Group(trace, some, bounds)
        for index in range(len(bounds) - 1):
            yield Part(group, index)


def window_of(windows: np.ndarray, times: np.ndarray) -> np.ndarray:
    """Return the number of the window that contains each time (ns).

    Args:
        windows: Bounds of the windows, ascending, ns. Earlier times count in the first window, later times in the last.
        times: The times.
    """
    return (np.searchsorted(windows, times, side="right") - 1).clip(0, len(windows) - 2)


class CallsAt:
    """Search in the calls (CALL) of some ranks by rank, thread and time."""

    def __init__(self, calls: RankRows) -> None:
        self.rows = calls.rows
        self._threads = 1 + int(calls.rows["thread"].max(initial=0))
        rank, enter = calls.rank, calls.rows["enter"]
        self._order: np.ndarray | None = None  # None: each rank has one thread, whose calls are in order
        if self._threads > 1:
            rank = rank * self._threads + calls.rows["thread"]
            self._order = np.lexsort((enter, rank))
            rank, enter = rank[self._order], enter[self._order]
        self._sorted = Sorted(rank, enter)

    def last_begun(self, rank: np.ndarray, thread: np.ndarray, time_ns: np.ndarray) -> np.ndarray:
        """Return the row of the last call that each thread had begun at a time (ns), ended or not; -1: none."""
        known = thread < self._threads
        lane = np.where(known, rank.astype(np.int64) * self._threads + thread, 0)
        at = self._sorted.at_or_before(lane, time_ns)
        at[~known] = -1
        if self._order is not None:
            at[at >= 0] = self._order[at[at >= 0]]
        return at


class Pieces:
    """Division of the time of some ranks into pieces, to read their calls piece by piece.

    `all` has (ranks, begin, end in ns) of each piece; the pieces of a rank are in order of time. Neighbouring ranks
    with few calls are one piece with all their time, so that each rank is read once.
    """

    def __init__(self, trace: Trace, ranks: range) -> None:
        self.ranks, groups = ranks, list(trace.parts(ranks, trace.sizes.part_calls))
        self.all = [(some, begin, end) for some, bounds in groups for begin, end in pairwise(bounds.tolist())]
        self._first_rank = np.array([some.start for some, _ in groups], np.int64)
        self._bounds = [bounds for _, bounds in groups]
        self._before = np.concatenate([[0], np.cumsum([len(bounds) - 1 for bounds in self._bounds])]).astype(np.int64)

    def of(self, rank: np.ndarray, time: np.ndarray) -> np.ndarray:
        """Return the number of the piece that contains each rank and time (ns)."""
        group = np.searchsorted(self._first_rank, rank, side="right") - 1
        number = self._before[group]
        for one in distinct(group).tolist():
            if len(self._bounds[one]) > 2:
                mine = group == one
                number[mine] += window_of(self._bounds[one], time[mine])
        return number

    def put_aside(self, spill: Spill, rows: np.ndarray, rank: np.ndarray, time: np.ndarray) -> None:
        """Append rows to a spill, each under the number of the piece that contains its rank and time (ns)."""
        spill.append_each(self.of(rank, time), rows)
