"""Table of one thread: reads the rows of a window of time, which it finds with a sparse index of their ticks."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import accumulate
from typing import NamedTuple, Protocol

import numpy as np

from analyzer.columns.arrays import distinct
from analyzer.recording.rank_file.chunks import Chunks
from analyzer.recording.rank_file.file import RankFile
from analyzer.recording.rank_file.pieces import KEY, Piece
from analyzer.recording.rank_file.recent_ranges import RECENT
from analyzer.trace.read_sizes import DEFAULT_SIZES
from tracelib import schema

_ANY_STAMPS = 0, 0, 0
_NO_POSITIONS, _NO_KEYS = np.zeros(0, np.int64), np.zeros(0, np.uint64)
_NO_ROWS = {table: np.zeros(0, dtype) for table, dtype in schema.BUFFERED.items()}

_IN_ENDS = 2
"""Number of rows up to which the first and the last row are the whole table."""
_MOST_FOUND = 64
"""Number of search results that a table remembers."""
GAP = 1
"""Value of `flags` for an event that switches recording off or on where rows were dropped."""


class Watcher(Protocol):
    """Callback that checks rows when they are read, and raises an error for impossible rows."""

    def ends(self, rows: np.ndarray, count: int) -> None:
        """Check the first and the last row of a table that has `count` rows."""

    def __call__(self, rows: np.ndarray, first: int) -> None:
        """Check consecutive rows. `first` is the number of the first of these rows in the table."""

    @property
    def stamps(self) -> tuple[int, int, int]:
        """Return the first and the last possible tick, and the ticks by which a row may lie before its predecessor."""
        ...


class StoredRows(NamedTuple):
    """Place of a thread's rows in a file that holds them one after the other as they were recorded.

    path: the file. chunks: the table. first: row of the thread's first row.
    """

    path: str
    chunks: Chunks
    first: int
    stamps: tuple[int, int, int]  # as in `Watcher`; (0, 0, 0): any tick is possible


class ThreadTable:
    """Rows of one table that one thread wrote, numbered from 0 in order of time.

    Rows have keys, which are ticks (`KEY`).
    """

    def __init__(self, file: RankFile | None, table: str, pieces: Sequence[Piece], gaps: Sequence[int] = ()) -> None:
        """Make the table from its pieces.

        Args:
            file: File of the rank. None: all rows are in memory.
            table: Name of the table.
            pieces: Where the rows lie, in order.
            gaps: Numbers of the rows before which other rows were dropped; only for events. At a gap, the flush that
                ended the rows before is read as recording switched off, and the flush that began the rows after it as
                recording switched on.
        """
        self._file, self._table, self._pieces = file, table, pieces
        self.sizes = DEFAULT_SIZES if file is None else file.sizes
        self._gaps = sorted(set(gaps)) if gaps else []
        self._starts = [0, *accumulate([piece.count for piece in pieces])]
        self._length = self._starts[-1]
        self.has_rows = self._length > 0
        self._key = KEY[table]
        self._found: dict[int, int] = {}
        self._recent: tuple[int, int, np.ndarray] | None = None
        self._left_out = _NO_POSITIONS  # numbers of rows, ascending
        self._watch: Watcher | None = None

    def __len__(self) -> int:
        return self._length

    @cached_property
    def sampled(self) -> tuple[np.ndarray, np.ndarray]:
        """Numbers and keys of every `index_rows`-th row of each piece, and of the last row."""
        if not len(self):
            return _NO_POSITIONS, _NO_KEYS
        step = self.sizes.index_rows
        if len(self._pieces) == 1 and self._length <= step:
            return np.array([0, self._length - 1]), np.array(self._ends[1], np.uint64)
        positions, keys = [], []
        for start, piece in zip(self._starts, self._pieces, strict=False):
            found = self._sample_file(piece) if piece.rows is None else self._key(piece.rows[::step])
            positions.append(np.arange(start, start + step * len(found), step))
            keys.append(found)
        return np.concatenate([*positions, [len(self) - 1]]), np.concatenate(
            [*keys, np.array([self.last_key], np.uint64)]
        )

    def sampled_finely(self, samples: int) -> tuple[np.ndarray, np.ndarray]:
        """Return numbers and keys of sampled rows, as `sampled`.

        In a short table sample at most `samples` rows, evenly.
        A short table (at most `index_rows` rows) is read completely for this. A long table gives `sampled`.
        """
        if self._length <= _IN_ENDS or self._length > self.sizes.index_rows:
            return self.sampled
        positions = np.linspace(0, self._length - 1, min(samples, self._length)).astype(np.int64)
        return positions, self._key(self._load(0, self._length)[positions])

    @property
    def first_key(self) -> int:
        """Ticks of the first row. The table must not be empty."""
        return self._ends[1][0]

    @property
    def last_key(self) -> int:
        """Ticks of the last row. The table must not be empty."""
        return self._ends[1][1]

    @cached_property
    def _ends(self) -> tuple[np.ndarray, list[int]]:
        """Return the first and the last row, and their keys. The table must not be empty."""
        rows = self._known_ends()
        if rows is None and self._length <= self.sizes.index_rows:  # usually one chunk, which is read at once
            rows = self._load(0, self._length)[[0, -1]]
        if rows is None:
            rows = np.concatenate([self._load(0, 1), self._load(self._length - 1, self._length)])
        return rows, self._key(rows).tolist()

    def _known_ends(self) -> np.ndarray | None:
        """Return the first and the last row if the file has them in memory; None: they must be read."""
        first, last, file = self._pieces[0], self._pieces[-1], self._file
        if file is None or first.rows is not None or last.rows is not None or self._gaps:
            return None
        whole = not first.first and last.first + last.count == file.lengths[self._table]
        return file.known_ends(self._table) if whole else None

    def read(self, first: int, last: int) -> np.ndarray:
        """Return rows [first, last), limited to the rows that exist.

        The latest result is kept, as it is often needed again.
        """
        first, last = max(first, 0), min(last, len(self))
        if self._length <= _IN_ENDS and not self._gaps and not len(self._left_out):
            return self._ends[0][first:last] if last > first else _NO_ROWS[self._table]
        recent = self._recent
        if recent is None or recent[:2] != (first, last):
            self._recent = recent = first, last, self._load(first, last)
            if len(recent[2]):
                RECENT.keep(self, recent[2].nbytes, self.sizes.recent_bytes)
        return recent[2]

    def leave_out(self, numbers: np.ndarray) -> None:
        """Let the rows with these numbers be read without communicator and partner from now on."""
        if len(numbers):
            self._left_out = np.union1d(self._left_out, numbers)
            self.forget()

    def _without_partner(self, rows: np.ndarray, first: int) -> np.ndarray:
        """Remove communicator and peer from the rows that are left out. `first` is the number of the first row."""
        low, high = np.searchsorted(self._left_out, [first, first + len(rows)])
        if low < high:
            numbers = self._left_out[low:high] - first
            rows["comm"][numbers], rows["peer"][numbers] = 0, schema.Peer.NONE
        return rows

    def watch(self, watch: Watcher, *, ends: bool) -> None:
        """Let `watch` check all rows when they are read, before anything else uses them.

        Args:
            watch: Callback that raises an error for impossible rows.
            ends: Check the first and the last row now. The table must not be empty then.
        """
        if ends:
            watch.ends(self._ends[0], self._length)
        self._watch = watch

    @property
    def place(self) -> StoredRows | None:
        """Place of all rows in the file.

        None: they lie in several places or in memory, or they are changed when they are read.
        """
        if len(self._pieces) != 1 or len(self._left_out) or self._gaps or self._file is None:
            return None
        piece, chunks = self._pieces[0], self._file.chunks.get(self._table)
        if piece.rows is not None or piece.spool is not None or chunks is None or chunks.deflated is not None:
            return None
        return StoredRows(self._file.place, chunks, piece.first, self._watch.stamps if self._watch else _ANY_STAMPS)

    def forget(self) -> None:
        """Drop the result of the latest `read` from memory."""
        self._recent = None

    def _load(self, first: int, last: int) -> np.ndarray:
        if first >= last:
            return _NO_ROWS[self._table]
        parts = []
        at = bisect_right(self._starts, first) - 1
        while first < last:
            piece, start = self._pieces[at], self._starts[at]
            stop = min(last, start + piece.count)
            if piece.rows is None:
                assert self._file is not None
                parts.append(self._file.read(self._table, piece.first + first - start, piece.first + stop - start))
            else:
                parts.append(piece.rows[first - start : stop - start])
            first, at = stop, at + 1
        rows = parts[0] if len(parts) == 1 else np.concatenate(parts)
        if self._watch:
            self._watch(rows, last - len(rows))
        if len(self._left_out):
            return self._without_partner(rows.copy(), last - len(rows))
        return self._with_gaps(rows, last - len(rows)) if self._gaps else rows

    def fill(self, first: int, into: np.ndarray) -> None:
        """Write rows into an array, from number `first` on. The table must have rows for the whole array.

        Not for events.
        """
        whole, number = into, first
        at = bisect_right(self._starts, first) - 1
        while len(into):
            piece, skipped = self._pieces[at], first - self._starts[at]
            part = into[: piece.count - skipped]
            if piece.rows is None:
                assert self._file is not None
                self._file.read(self._table, piece.first + skipped, piece.first + skipped + len(part), part)
            else:
                part[:] = piece.rows[skipped : skipped + len(part)]
            first, at, into = first + len(part), at + 1, into[len(part) :]
        if self._watch:
            self._watch(whole, number)
        if len(self._left_out):
            self._without_partner(whole, number)

    def _with_gaps(self, rows: np.ndarray, first: int) -> np.ndarray:
        """Change the flushes at gaps into events of recording switched off (0) and on (1).

        `first` is the number of the first of the rows.
        """
        rows = rows.copy()
        for gap in self._gaps:
            for number, value in ((gap - 1, 0), (gap, 1)):
                row = rows[number - first : number - first + 1] if number >= first else rows[:0]
                if len(row) and row["type"][0] == schema.FLUSH_TYPE and row["value"][0] == 1 - value:
                    row["type"], row["value"], row["flags"] = schema.TRACING_TYPE, value, GAP
        return rows

    def _sample_file(self, piece: Piece) -> np.ndarray:
        """Return the keys of every `index_rows`-th row of a piece.

        Rows are read in bounded stretches, because HDF5 keeps each chunk of a strided read.
        """
        assert self._file is not None
        step = self.sizes.index_rows
        end = piece.first + piece.count
        stretches = range(piece.first, end, step * step)
        parts = [self._file.sample(self._table, at, min(at + step * step, end), step) for at in stretches]
        return np.concatenate([self._key(rows) for rows in parts])

    def last(self) -> np.void:
        """Return the last row. The table must not be empty."""
        return self._ends[0][1]

    def reread(self) -> None:
        """Forget what is known about rows in memory, because these rows have changed."""
        self.__dict__.pop("_ends", None)
        self.__dict__.pop("sampled", None)
        self.forget()

    def find(self, ticks: int) -> int:
        """Return the number of rows with a key less than `ticks`. It is the number of the first row from `ticks` on."""
        if not self._length:
            return 0
        if ticks not in self._found:
            if len(self._found) > _MOST_FOUND:
                self._found.clear()
            self._found[ticks] = self._search(ticks)
        return self._found[ticks]

    def expect(self, ticks: Sequence[int]) -> None:
        """Look up several ticks at once for later calls of `find`, so that each stretch of rows is read once.

        Nothing happens for more than _MOST_FOUND ticks, because `find` remembers only that number of results.
        """
        wanted = np.array([t for t in ticks if self._length and self.first_key < t <= self.last_key], np.uint64)
        if not len(wanted) or len(wanted) > _MOST_FOUND:
            return
        positions, keys = self.sampled
        after = np.searchsorted(keys[1:-1], wanted) + 1
        for one in distinct(after).tolist():
            low, high = int(positions[one - 1]), int(positions[one])
            mine = wanted[after == one]
            rows = low + np.searchsorted(self._key(self._load(low, high)), mine)
            self._found.update(zip(mine.tolist(), rows.tolist(), strict=True))

    def _search(self, ticks: int) -> int:
        if ticks <= self.first_key:
            return 0
        if ticks > self.last_key:
            return self._length
        positions, keys = self.sampled
        after = bisect_left(keys, ticks, 1, len(keys) - 1)
        low, high = int(positions[after - 1]), int(positions[after])
        return low + bisect_left(self._key(self._load(low, high)), ticks)

    def beside(self, table: str, begin: int, end: int) -> np.ndarray:
        """Return the rows of another table that belong to the rows with begin <= key < end (ticks).

        Row i of the other table, such as `call_paths`, belongs to row i of this table. If the other table has no such
        row, the result is zero.
        """
        first, last = self.find(begin), self.find(end)
        found = np.zeros(last - first, schema.TABLES[table])
        for start, piece in zip(self._starts, self._pieces, strict=False):
            low, high = max(first, start), min(last, start + piece.count)
            if low >= high:
                continue
            if piece.spool is not None:
                rows = piece.spool.rows[table][piece.skipped + low - start : piece.skipped + high - start]
            elif self._file is not None:
                there = self._file.lengths[table]
                first_row, end = (min(piece.first + at - start, there) for at in (low, high))
                rows = self._file.read(table, first_row, end) if first_row < end else found[:0]
            else:
                continue
            found[low - first : low - first + len(rows)] = rows
        return found

    def window(self, begin: int, end: int, around: int = 0) -> np.ndarray:
        """Return the rows with begin <= key < end (ticks), and `around` more rows on both sides."""
        if self._length and begin <= self.first_key and end > self.last_key:
            return self.read(0, self._length)
        return self.read(self.find(begin) - around, self.find(end) + around)

    def without_first(self, n: int) -> ThreadTable:
        """Return a table of the rows after the first n."""
        pieces = [
            p.without_first(skip)
            for p, start in zip(self._pieces, self._starts, strict=False)
            if (skip := max(n - start, 0)) < p.count
        ]
        return ThreadTable(self._file, self._table, pieces, [gap - n for gap in self._gaps if gap > n])

    def scan(self) -> Iterator[np.ndarray]:
        """Yield all rows in order, in blocks of at most `scan_rows` rows."""
        step = self.sizes.scan_rows
        for first in range(0, len(self), step):
            yield self._load(first, min(first + step, len(self)))
