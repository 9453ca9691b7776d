"""Readings of counters at calls, assigned to the calls of each thread."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from analyzer.columns.arrays import distinct
from analyzer.errors import TracelibError
from analyzer.recording.rank_file.file import RankFile
from analyzer.recording.rank_file.pieces import Piece, pieces_of
from analyzer.recording.rank_file.tables import text_of
from analyzer.recording.rank_file.thread_table import ThreadTable
from analyzer.trace import UNKNOWN, Counter
from tracelib import schema
from tracelib.schema import BLOCK_DROPPED, COUNTER_SET_TYPE, CounterBackend
from tracelib.schema.spool import ThreadSpool

_CALLS, _COUNTS = (list(schema.BUFFERED).index(table) for table in ("calls", "counts"))
_BACKEND_BITS = 15


def merge_counters(files: Sequence[RankFile]) -> tuple[Counter, ...]:
    """Return the counters of a run, each once, in order of ranks and counter sets.

    Raises:
        TracelibError: Two counters have the same event type.
    """
    found: dict[str, Counter] = {}
    names: dict[int, str] = {}
    for file in files:
        for row in file.counters:
            backend = int(row["flags"]) & _BACKEND_BITS
            counter = Counter(text_of(row["name"]), int(row["type"]), backend == CounterBackend.CPU_CLOCK)
            if names.setdefault(counter.type, counter.name) != counter.name:
                raise TracelibError(f"{file.path}: {counter.name} and {names[counter.type]} have the same event type")
            found.setdefault(counter.name, counter)
    return tuple(found.values())


def _columns(file: RankFile, counters: Sequence[Counter]) -> dict[int, np.ndarray]:
    """Return for each counter set of a rank the column (index in `counters`) of each of its readings."""
    number = {counter.name: column for column, counter in enumerate(counters)}
    rows = np.sort(file.counters, order=("set", "position"))
    return {
        int(s): np.array([number[text_of(name)] for name in rows["name"][rows["set"] == s]], np.int64)
        for s in distinct(rows["set"])
    }


@dataclass(frozen=True)
class Segment:
    """Consecutive calls of a thread that were read with one counter set. Set 0: the calls have no readings.

    The readings lie in the file from row `first` on, or in memory (`rows`).
    """

    count: int
    set: int = 0
    first: int = 0
    rows: np.ndarray | None = None
    after_gap: bool = False  # True if calls are missing before these


class CountTable:
    """Readings of one thread, by number of the call in the thread. Each counter of the run has a column."""

    def __init__(
        self,
        file: RankFile,
        segments: Sequence[Segment],
        columns: Mapping[int, np.ndarray],
        counters: Sequence[Counter],
    ) -> None:
        self._file, self._segments, self._columns = file, segments, columns
        self._starts = [0, *np.cumsum([s.count for s in segments]).tolist()]
        self._whole = np.array([counter.whole for counter in counters], bool)
        self.after_gaps = np.zeros(0, np.int64)  # calls before which recording was interrupted

    def between(self, first: int, last: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the readings of calls [first, last).

        Returns:
            Readings at the entries; readings at the exits; counts since the call before. Each is int64 of shape (calls,
            counters), UNKNOWN where there is no reading.
        """
        begin = max(first - 1, 0)
        enter, exit, sets, after_gap = self._read(begin, last)
        burst = np.full_like(enter, UNKNOWN)
        if begin == 0 and len(enter):
            burst[0] = np.where(self._whole, enter[0], UNKNOWN)
        if len(enter) > 1:
            from_zero = (sets[1:] != sets[:-1])[:, None] & ~self._whole
            burst[1:] = np.where(from_zero, enter[1:], counted_since(enter[1:], exit[:-1]))
            burst[after_gap] = UNKNOWN
        gaps = self.after_gaps[(self.after_gaps >= begin) & (self.after_gaps < last)]
        burst[gaps - begin] = UNKNOWN
        skipped = first - begin
        return enter[skipped:], exit[skipped:], burst[skipped:]

    def _read(self, first: int, last: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return for calls [first, last) the readings at entry and at exit, and the set of each call.

        The fourth result is a mask of the calls before which other calls are missing.
        """
        shape = max(last - first, 0), len(self._whole)
        enter, exit = np.full(shape, UNKNOWN), np.full(shape, UNKNOWN)
        sets, after_gap = np.zeros(shape[0], np.int64), np.zeros(shape[0], bool)
        at = max(bisect_right(self._starts, first) - 1, 0)
        while first < last:
            segment, start = self._segments[at], self._starts[at]
            stop = min(last, start + segment.count)
            rows = slice(first - last + shape[0], stop - last + shape[0])
            sets[rows] = segment.set
            after_gap[rows.start] = segment.after_gap and first == start
            if segment.set:
                columns = self._columns[segment.set]
                both = self._readings(segment, len(columns), first - start, stop - start)
                enter[rows, columns], exit[rows, columns] = both[:, 0], both[:, 1]
            first, at = stop, at + 1
        return enter, exit, sets, after_gap

    def _readings(self, segment: Segment, counters: int, first: int, last: int) -> np.ndarray:
        """Return the readings of calls [first, last) of a segment, int64 of shape (calls, 2, counters)."""
        low, high = segment.first + 2 * counters * first, segment.first + 2 * counters * last
        rows = self._file.read("counts", low, high) if segment.rows is None else segment.rows[low:high]
        return rows.astype(np.int64).reshape(-1, 2, counters)  # NOT_READ becomes UNKNOWN


def counted_since(later: np.ndarray, earlier: np.ndarray) -> np.ndarray:
    """Return later - earlier. UNKNOWN where one of them is UNKNOWN, or the difference is negative."""
    known = (later >= earlier) & (earlier >= 0)
    return np.where(known, later - earlier, UNKNOWN)


def count_tables(
    file: RankFile,
    pending: Sequence[ThreadSpool],
    tables: Mapping[int, Mapping[str, ThreadTable]],
    counters: Sequence[Counter],
) -> dict[int, CountTable]:
    """Build the tables of readings of a rank, by thread; empty for a rank without counters."""
    if not len(file.counters):
        return {}
    columns = _columns(file, counters)
    pieces = pieces_of(file, "calls", pending)
    finder = _Finder(file, pending, columns, tables)
    return {
        thread: CountTable(file, finder.segments([p for p in pieces if p.thread == thread]), columns, counters)
        for thread in tables
    }


def _behind_dropped(blocks: np.ndarray) -> set[int]:
    """Return the first rows of `calls` of the blocks that follow a dropped block of the same thread."""
    found, dropped = set(), set()
    for block in blocks[blocks["count"][:, _CALLS] > 0]:
        thread = int(block["thread"])
        if block["flags"] & BLOCK_DROPPED:
            dropped.add(thread)
        elif thread in dropped:
            dropped.remove(thread)
            found.add(int(block["first"][_CALLS]))
    return found


class _Finder:
    """Finder of the readings that belong to the pieces of the table `calls`."""

    def __init__(
        self,
        file: RankFile,
        pending: Sequence[ThreadSpool],
        columns: Mapping[int, np.ndarray],
        tables: Mapping[int, Mapping[str, ThreadTable]],
    ) -> None:
        self._columns, self._tables, self._length = columns, tables, file.lengths["counts"]
        self._gaps = _behind_dropped(file.blocks)
        self._blocks = file.blocks[file.blocks["count"][:, _CALLS] > 0]
        self._first_calls = self._blocks["first"][:, _CALLS].tolist()
        self._spools = {id(p.rows["calls"]): p for p in pending}
        ends = self._blocks["first"].astype(np.int64) + self._blocks["count"]
        self._named = [int(ends[:, table].max(initial=0)) for table in (_CALLS, _COUNTS)]

    def segments(self, pieces: Sequence[Piece]) -> list[Segment]:
        found: list[Segment] = []
        for piece in pieces:
            found += self._of_spool(piece) if piece.rows is not None else self._of_file(piece)
        return found

    def _of_spool(self, piece: Piece) -> list[Segment]:
        spool = self._spools[id(piece.rows)]
        number = int(spool.header["set"]) if spool.has("set") else 0
        return self._cut(piece.count, number, 0, len(spool.rows["counts"]), spool.rows["counts"])

    def _of_file(self, piece: Piece) -> list[Segment]:
        if piece.first >= self._named[0]:
            number = self._last_set(piece.thread)
            first = self._named[1] + (piece.first - self._named[0]) * self._readings(number)
            return self._cut(piece.count, number, first, self._length)
        block = self._blocks[bisect_right(self._first_calls, piece.first) - 1]
        number = int(block["set"])
        first = int(block["first"][_COUNTS])
        within = (piece.first - int(block["first"][_CALLS])) * self._readings(number)
        end = min(first + int(block["count"][_COUNTS]), self._length)
        segments = self._cut(piece.count, number, first + within, end)
        if segments and within == 0 and int(block["first"][_CALLS]) in self._gaps:
            segments[0] = replace(segments[0], after_gap=True)
        return segments

    def _readings(self, number: int) -> int:
        return 2 * len(self._columns.get(number, ()))

    def _cut(self, count: int, number: int, first: int, end: int, rows: np.ndarray | None = None) -> list[Segment]:
        """Split calls into those that have readings, and the later ones whose readings are not in the file."""
        readings = self._readings(number)
        have = min(count, max(end - first, 0) // readings) if readings else 0
        segments = [Segment(have, number, first, rows), Segment(count - have)]
        return [segment for segment in segments if segment.count]

    def _last_set(self, thread: int) -> int:
        """Return the counter set that a thread used last, from its events."""
        number = 0
        for rows in self._tables[thread]["events"].scan():
            changes = rows["value"][rows["type"] == COUNTER_SET_TYPE]
            number = int(changes[-1]) if len(changes) else number
        return number
