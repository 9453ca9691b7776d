"""Sends and receives of one rank in a window, in the order in which MPI matches them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from analyzer._kernels import lib
from analyzer.c_arrays import pointer
from analyzer.columns.arrays import joined
from analyzer.columns.spill import Spill
from analyzer.recording.matching.half_message import HALF
from analyzer.recording.thread_records.stored import StoredThreads
from analyzer.recording.thread_records.thread import ThreadRecords
from tracelib import schema
from tracelib.schema import REQUEST, RequestKind

if TYPE_CHECKING:
    from analyzer.recording.matching.ghosts import Ghosts


@dataclass(frozen=True)
class WindowRows:
    """Raw rows of one thread in the window [begin, end) ticks.

    late: requests that were posted in the window and completed after it.
    """

    lane: ThreadRecords
    begin: int
    end: int
    times: tuple[int, int]  # begin and end of the window, ns
    calls: np.ndarray
    requests: np.ndarray
    late: np.ndarray

    def all_requests(self) -> np.ndarray:
        """Return the requests completed in the window, then the late requests."""
        return joined([self.requests, self.late], REQUEST) if len(self.late) else self.requests

    def sends(self) -> np.ndarray:
        """Return the sends (HALF) in order of posting, cancelled sends included."""
        found = np.empty(len(self.calls) + len(self.requests), HALF)
        args = pointer(self.calls), len(self.calls), pointer(self.requests), len(self.requests)
        return found[: lib.match_sends(self.lane.struct, *args, halves_of(found))]

    def receives(self) -> np.ndarray:
        """Return the completed receives (HALF) that were posted in the window."""
        requests = self.all_requests()
        found = np.empty(len(self.calls) + len(requests), HALF)
        args = pointer(self.calls), len(self.calls), pointer(requests), len(requests)
        return found[: lib.match_receives(self.lane.struct, *args, *self.times, halves_of(found))]

    def cancelled(self) -> np.ndarray:
        """Return the requests (REQUEST) of sends that were posted in the window and cancelled."""
        rows = np.concatenate([self.requests, self.late]) if len(self.late) else self.requests
        rows = rows[rows["what"] == RequestKind.SEND_CANCELLED]
        return self.lane.requests(rows[(rows["posted"] >= self.begin) & (rows["posted"] < self.end)])

    def name(self, halves: np.ndarray) -> None:
        """Fill the column `call` of halves that this thread posted. The rows of `requests` do not have it."""
        lib.match_names(self.lane.struct, pointer(self.calls), len(self.calls), halves_of(halves), len(halves))


def sends_of(rows: Sequence[WindowRows], ghosts: Ghosts) -> np.ndarray:
    """Return the sends (HALF) of a rank that took place, with ghosts, in order of posting."""
    sends = _by_posting([r.sends() for r in rows])
    window = rows[0].begin, rows[0].end
    cancelled = [r.cancelled() for r in rows]
    cancelled += [_columns(c, cancelled[0].dtype) for c in [ghosts.cancelled(*window)] if len(c)]
    if any(len(c) for c in cancelled):
        sends = _without(sends, np.concatenate(cancelled), ghosts)
    for r in rows:
        r.name(sends)
    return _among(sends, ghosts.sends(*window))


def receives_of(rows: Sequence[WindowRows], ghosts: Ghosts) -> np.ndarray:
    """Return the receives (HALF) of a rank that took place, with ghosts, in order of posting."""
    receives = _by_posting([r.receives() for r in rows])
    for r in rows:
        r.name(receives)
    return _among(receives, ghosts.receives(rows[0].begin, rows[0].end))


def _among(halves: np.ndarray, ghosts: np.ndarray) -> np.ndarray:
    """Merge ghosts and halves by time of posting. At equal times ghosts come first."""
    return _by_posting([ghosts, halves]) if len(ghosts) else halves


def _columns(halves: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Copy the columns that halves and requests have in common into rows of another dtype."""
    rows = np.zeros(len(halves), dtype)
    for column in ("posted", "peer", "tag", "comm"):
        rows[column] = halves[column]
    return rows


def halves_of(array: np.ndarray) -> Any:
    """Return a C pointer to an array of HALF."""
    return pointer(array, "struct half *")


def _by_posting(parts: Sequence[np.ndarray]) -> np.ndarray:
    """Merge the halves of all threads by time of posting. At equal times the order of the rows is kept."""
    halves = np.concatenate(parts) if len(parts) > 1 else parts[0]
    posted = np.ascontiguousarray(halves["posted"])
    if (posted[1:] >= posted[:-1]).all():
        return halves
    return halves.take(np.argsort(posted, kind="stable"))


def _without(sends: np.ndarray, cancelled: np.ndarray, ghosts: Ghosts) -> np.ndarray:
    """Remove one send for each cancelled request.

    Of several equal sends started at once, the last is removed. If there is none, a ghost is removed.
    """
    keep = np.ones(len(sends), bool)
    first, last = (np.searchsorted(sends["posted"], cancelled["posted"], side=side) for side in ("left", "right"))
    for request, low, high in zip(cancelled, first, last, strict=True):
        alike = keep[low:high].copy()
        for column in ("peer", "tag", "comm"):
            alike &= sends[column][low:high] == request[column]
        if alike.any():
            keep[low + np.flatnonzero(alike)[-1]] = False
        else:
            ghosts.forget_send(request)
    return sends[keep]


LATE = np.dtype([("row", schema.REQUEST), ("rank", "<i4"), ("window", "<i4")])
"""Request that was posted in an earlier window than it was completed in: its row, rank, and that earlier window.

It is `struct late_request` of the kernel.
"""

_MOST_RANKS = 1024
"""Largest number of neighbouring ranks that are passed to the kernel together."""


class StoredRanks:
    """Ranks whose rows the kernel reads itself and adds to a matcher.

    All groups must be added in each window, in order.
    """

    def __init__(self, matcher: Any, lanes: StoredThreads, ranks: Iterable[int], bounds: np.ndarray, size: int) -> None:
        """Find the groups of ranks.

        Args:
            matcher: The kernel's matcher.
            lanes: Stored threads.
            ranks: Ranks that may be read in this way, ascending.
            bounds: Bounds of the windows, ns.
            size: Number of ranks of the run.
        """
        self._matcher, self._lanes, self._size = matcher, lanes, size
        least, most = np.iinfo(np.int64).min, np.iinfo(np.int64).max
        self._bounds = np.array([least, *bounds[1:-1].tolist(), most], np.int64)
        self._taken = np.zeros((size, 2), np.int64)  # by rank: number of rows of calls and of requests that were added
        self._late = Spill(LATE)  # by window * size + first rank of the group
        self.groups = list(self._grouped(ranks))
        """Ranges of neighbouring ranks that are added together. Ranks in no group must be read in another way."""

    def add(self, group: range, window: int, most: int) -> Iterator[tuple[int, np.ndarray] | None]:
        """Add the calls and requests of a group in a window to the matcher.

        Args:
            group: One of `groups`.
            window: Number of the window.
            most: Number of complete messages after which the caller must take them.

        Yields:
            None when there are more than `most` complete messages. Or (rank, rows): a rank that the kernel cannot read
            and did not add, with its requests that were completed in later windows.
        """
        late = self._late.read(window * self._size + group.start)
        begin, end = self._bounds[window : window + 2].tolist()
        at = group.start
        while at < group.stop:
            stored = self._lanes.of(range(at, group.stop))
            assert stored is not None
            added = lib.match_add_lanes(
                self._matcher, stored.structs, group.stop - at, pointer(self._taken[at:], "int64_t *"), begin, end,
                pointer(late), len(late), most,
            )  # fmt: skip
            if added < 0:
                raise MemoryError
            at += added
            if lib.match_found(self._matcher) > most:
                yield None
            elif at < group.stop:
                yield at, late["row"].compress(late["rank"] == at)
                at += 1

    def close(self) -> None:
        """Remove the temporary file. Nothing may be added after this."""
        self._late.close()

    def _grouped(self, ranks: Iterable[int]) -> Iterator[range]:
        for run in _runs(np.fromiter(ranks, np.int64)):
            for stored in _runs(run.start + np.flatnonzero(self._lanes.are(run))):
                while stored:
                    read = self._find_late(stored)
                    if read:
                        yield stored[:read]
                    stored = stored[read + 1 :]

    def _find_late(self, ranks: range) -> int:
        """Write requests that belong to an earlier window to the temporary file. Return the number of ranks read."""
        stored, windows = self._lanes.of(ranks), len(self._bounds) - 1
        assert stored is not None
        if windows == 1:
            return len(ranks)
        read = lib.match_find_late(
            self._matcher, stored.structs, len(ranks), pointer(self._bounds, "int64_t *"), windows
        )
        if read < 0:
            raise MemoryError
        late = np.empty(lib.match_late_found(self._matcher), LATE)
        lib.match_take_late(self._matcher, pointer(late))
        self._late.append_each(late["window"] * np.int64(self._size) + ranks.start, late)
        return int(read)


def _runs(ranks: np.ndarray) -> Iterator[range]:
    """Yield ranges of consecutive ranks, of at most _MOST_RANKS ranks each."""
    for run in np.split(ranks, np.flatnonzero(np.diff(ranks) != 1) + 1):
        for first in range(0, len(run), _MOST_RANKS):
            some = run[first : first + _MOST_RANKS]
            yield range(int(some[0]), int(some[-1]) + 1)
