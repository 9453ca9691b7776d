"""Rows of a rank of one thread, window by window, each read once.

The row of a request belongs to the call that posted it, but lies where the request was completed. So one block of
requests more is read than a window needs. Nearly all requests that were posted in the window are in it. If one is not,
`OpenForLong` is raised; `far_requests` then finds such requests in the whole table before the windows are read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from analyzer._kernels import ffi
from analyzer.c_arrays import pointer
from analyzer.pairing.requests import Choice
from analyzer.recording.rank_file.row_stream import RowStream
from analyzer.recording.thread_records.thread import ThreadRecords
from analyzer.trace import REQUEST
from tracelib.schema import BUFFERED

TABLES = "calls", "polls", "requests"
STEPS = 64
"""A window ends after this number of sampled rows of a table that is not read here (events, summaries)."""
_NONE = np.zeros(0, REQUEST)


class OpenForLong(Exception):
    """Exception: a request was posted in a window that is over, and was not known in that window."""


class Rows:
    """Rows in a window of time (ns), as `struct thread_rows`, which is valid as long as this object."""

    def __init__(
        self, window: tuple[int, int], begin_ticks: int, tables: Sequence[np.ndarray], late: np.ndarray | None = None
    ) -> None:
        """Make the struct for the kernel.

        Args:
            window: Begin and end, ns.
            begin_ticks: Begin in ticks.
            tables: Raw rows of each of TABLES.
            late: Requests (REQUEST) posted in the window and completed after it. None: it is the last window.
        """
        self.window, self.is_last = window, late is None
        late = _NONE if late is None else late
        self._kept = *tables, late
        calls, polls, requests = tables
        self.struct = ffi.new(
            "struct thread_rows *",
            {
                "calls": ffi.from_buffer(calls), "polls": ffi.from_buffer(polls),
                "requests": ffi.from_buffer(requests), "n_calls": len(calls), "n_polls": len(polls),
                "n_requests": len(requests), "late": pointer(late), "n_late": len(late),
                "begin": window[0], "begin_ticks": begin_ticks, "end": -1,
            },
        )  # fmt: skip


class Far:
    """Raw rows of requests that were completed in a later block than they were posted in."""

    def __init__(self, rows: np.ndarray, numbers: np.ndarray) -> None:
        """Index the rows. `numbers` are the rows' numbers in their table, ascending."""
        self._rows, self._numbers = rows, numbers
        self._order = np.argsort(rows["posted"], kind="stable")
        self._posted = rows["posted"][self._order]

    def posted(self, begin: int, end: int, least: int) -> np.ndarray:
        """Return the requests posted in [begin, end) ticks, from row number `least` on, in order of the table."""
        if not len(self._rows):
            return self._rows
        first, last = np.searchsorted(self._posted, np.array([begin, end], np.uint64))
        found = np.sort(self._order[first:last])
        return self._rows[found[np.searchsorted(self._numbers[found], least) :]]


_NOTHING_FAR = Far(np.zeros(0, BUFFERED["requests"]), np.zeros(0, np.int64))


def _crossing(stream: RowStream, choice: Choice) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows of the next block that were posted before that block began, and their numbers."""
    found = np.flatnonzero(stream.ahead["posted"] < (stream.limit or 0))
    found = found[choice.wanted[stream.ahead["what"][found]] > 0]
    return stream.ahead[found], stream.number + found


class RankRows:
    """Rows of a rank that has one thread."""

    def __init__(self, lane: ThreadRecords, stop: int, posted: Choice) -> None:
        """Prepare reading.

        Args:
            lane: The thread.
            stop: Time (ns) behind the last row that counts.
            posted: Requests that open an operation.
        """
        self._lane, self._stop, self._posted = lane, stop, posted
        self._begin_ticks, self._stop_ticks = lane.clock.ticks(0), lane.clock.ticks(stop)

    @property
    def is_long(self) -> bool:
        """True if any table of the rank has more than one block. Otherwise there is one window."""
        return any(len(table) > table.sizes.stream_rows for table in self._lane.tables.values())

    def stream(self, table: str) -> RowStream:
        """Return the rows of one table as a stream of blocks."""
        rows = self._lane.tables[table]
        return RowStream(rows, table, rows.find(self._begin_ticks), rows.find(self._stop_ticks))

    def apart(self) -> Iterator[Rows]:
        """Yield all rows, table after table; the other tables of each `Rows` are empty."""
        for place, name in enumerate(TABLES):
            stream = self.stream(name)
            while len(stream.rows):
                tables = [np.zeros(0, BUFFERED[name]) for name in TABLES]
                tables[place] = stream.take(None)
                yield Rows((0, self._stop), self._begin_ticks, tables)
                if stream.limit is not None:
                    stream.advance()

    def far_requests(self) -> Far:
        """Return the requests that were completed in a later block than they were posted in. Reads the whole table."""
        stream, found = self.stream("requests"), []
        while stream.limit is not None:
            found.append(_crossing(stream, self._posted))
            stream.take(None)
            stream.advance()
        return Far(*map(np.concatenate, zip(*found, strict=True))) if found else _NOTHING_FAR

    def windows(self, far: Far | None) -> Iterator[Rows]:
        """Yield all rows, window by window.

        Args:
            far: Result of `far_requests`. None: not known; one block is read ahead instead.

        Raises:
            OpenForLong: A request is further away than one block.
        """
        clock, streams, cuts = self._lane.clock, [self.stream(name) for name in TABLES], self._cuts()
        requests = streams[-1]
        known = far or (Far(*_crossing(requests, self._posted)) if requests.limit is not None else _NOTHING_FAR)
        begin, begin_ticks = 0, self._begin_ticks
        while limits := [stream.limit for stream in streams if stream.limit is not None] + cuts[:1]:
            limit = min(limits)
            end = clock.ns(limit)
            end_ticks = clock.ticks(end)
            if end_ticks > begin_ticks:
                tables = self._taken(streams, (begin, end), end_ticks)
                late = self._late(requests, known, begin_ticks, end_ticks)
                yield Rows((begin, end), begin_ticks, tables, late)
                begin, begin_ticks = end, end_ticks
            cuts = cuts[1:] if limit in cuts[:1] else cuts
            for stream in streams:
                if stream.limit == limit:
                    stream.advance()
                    if stream is requests and not far:
                        known = self._next_known(requests, begin_ticks)
        yield Rows((begin, self._stop), begin_ticks, self._taken(streams, (begin, self._stop), None))

    def _cuts(self) -> list[int]:
        """Return the ticks at which windows must end because tables that are not read here have many rows."""
        tables = (self._lane.tables[name] for name in ("events", "summaries"))
        keys = [table.sampled[1][STEPS::STEPS] for table in tables if len(table) > STEPS * table.sizes.index_rows]
        cuts = np.unique(np.concatenate(keys)).tolist() if keys else []
        return [cut for cut in cuts if self._begin_ticks < cut < self._stop_ticks]

    def _next_known(self, requests: RowStream, over: int) -> Far:
        """Return the requests of the next block that were posted before it. Windows up to `over` (ticks) are over."""
        rows, numbers = _crossing(requests, self._posted)
        if (rows["posted"] < over).any():
            raise OpenForLong
        return Far(rows, numbers)

    def _taken(self, streams: Sequence[RowStream], window: tuple[int, int], end_ticks: int | None) -> list[np.ndarray]:
        """Return the rows of a window, by table. `end_ticks` is its end; None: the last window."""
        calls, polls, requests = (stream.take(end_ticks) for stream in streams)
        if len(self._lane.tables["summaries"]):
            polls = self._lane.folded(*window)
        return [calls, polls, requests]

    def _late(self, requests: RowStream, known: Far, begin: int, end: int) -> np.ndarray:
        """Return the requests (REQUEST) that were posted in [begin, end) ticks and are completed later."""
        here = requests.rows[requests.rows["posted"] < end]
        here = here[here["posted"] >= begin]
        rows = [rows for rows in (here, known.posted(begin, end, requests.number)) if len(rows)]
        return self._posted.of(self._lane.requests(np.concatenate(rows))) if rows else _NONE
