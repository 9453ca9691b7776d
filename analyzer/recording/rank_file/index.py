"""Tables of threads: where the rows of each thread lie, and which of them belong to a window of time.

Rows are found by a sparse index of their ticks, without reading all rows.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise
from struct import Struct
from threading import RLock
from typing import NamedTuple, Protocol

import numpy as np

from analyzer._kernels import ffi, lib
from analyzer.columns.arrays import distinct
from analyzer.recording.rank_file.chunks import Chunks
from analyzer.recording.rank_file.file import RankFile, unreadable
from analyzer.recording.rank_file.tables import could_be_in
from tracelib import schema
from tracelib.schema import BLOCK_DROPPED
from tracelib.schema.spool import ThreadSpool

_ANY_STAMPS = 0, 0, 0
_NO_POSITIONS, _NO_KEYS = np.zeros(0, np.int64), np.zeros(0, np.uint64)

_POSITION = {table: position for position, table in enumerate(schema.BUFFERED)}
"""Column of each table in `blocks`."""
_ONE_BLOCK = Struct(f"<{len(_POSITION)}Q{len(_POSITION)}I3I")
"""Layout of a row of `blocks`: first row and number of rows by table, then thread, flags and set of counters."""
_NO_ROWS = {table: np.zeros(0, dtype) for table, dtype in schema.BUFFERED.items()}

STEP = 1024
"""Number of rows for which one key is kept in memory."""
SCAN_ROWS = 65536
_IN_ENDS = 2
"""Number of rows. A table with at most this number of rows is known by its first and its last row."""
KEPT_BYTES = 1 << 25
"""Bytes of rows that are kept for a reader that asks for the same range again."""

_MOST_FOUND = 64
"""Number of search results that a table remembers."""
GAP = 1
"""`flags` of an event that switches recording off or on where rows were dropped."""


def _request_key(rows: np.ndarray) -> np.ndarray:
    completed = rows["completed"]
    return completed if completed.all() else np.where(completed == 0, rows["posted"], completed)


KEY: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "calls": lambda rows: rows["enter"],
    "requests": _request_key,
    "polls": lambda rows: rows["enter"],
    "events": lambda rows: rows["time"],
    "accesses": lambda rows: rows["enter"],
    "summaries": lambda rows: rows["enter"],
}
"""Functions that give the ticks by which the rows of one thread are in order, by table."""


@dataclass(slots=True)
class Piece:
    """Consecutive rows of one thread: in the file from row `first` on, or in memory (`rows`).

    Rows in memory are the rows of `spool` from number `skipped` on.
    """

    thread: int
    first: int
    count: int
    rows: np.ndarray | None = None
    spool: ThreadSpool | None = None
    skipped: int = 0

    def without_first(self, n: int) -> Piece:
        """Return the piece without its first n rows."""
        rows = None if self.rows is None else self.rows[n:]
        return Piece(self.thread, self.first + n, self.count - n, rows, self.spool, self.skipped + n)


class Watcher(Protocol):
    """Callback that checks rows when they are read."""

    def ends(self, rows: np.ndarray, count: int) -> None:
        """Check the first and the last row of a table that has `count` rows."""

    def __call__(self, rows: np.ndarray, first: int) -> None:
        """Check consecutive rows; `first` is the number of the first of them."""

    @property
    def stamps(self) -> tuple[int, int, int]:
        """Return the first and the last possible tick, and by how many ticks a row may go backwards without a fault."""
        ...


class Place(NamedTuple):
    """Place of a thread's rows in a table of a file, where the rows lie one after the other as they were recorded."""

    path: str
    chunks: Chunks
    first: int
    stamps: tuple[int, int, int]  # as in `Watcher`; (0, 0, 0): any tick is possible


class ThreadTable:
    """Rows of one table that one thread wrote, numbered from 0 in order of time.

    `gaps`: numbers of the rows before which other rows were dropped. Only events have gaps. At a gap, the flush that
    ended the kept rows is read as recording switched off, and the flush that began the next kept rows as recording
    switched on, because rows were dropped between them.
    """

    def __init__(self, file: RankFile | None, table: str, pieces: Sequence[Piece], gaps: Sequence[int] = ()) -> None:
        self._file, self._table, self._pieces = file, table, pieces
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
        """Return every STEP-th row of each piece, and the last row, as (row numbers, keys)."""
        if not len(self):
            return _NO_POSITIONS, _NO_KEYS
        if len(self._pieces) == 1 and self._length <= STEP:
            return np.array([0, self._length - 1]), np.array(self._ends[1], np.uint64)
        positions, keys = [], []
        for start, piece in zip(self._starts, self._pieces, strict=False):
            found = self._sample_file(piece) if piece.rows is None else self._key(piece.rows[::STEP])
            positions.append(np.arange(start, start + STEP * len(found), STEP))
            keys.append(found)
        return np.concatenate([*positions, [len(self) - 1]]), np.concatenate(
            [*keys, np.array([self.last_key], np.uint64)]
        )

    def sampled_finely(self, samples: int) -> tuple[np.ndarray, np.ndarray]:
        """Return (row numbers, keys) as `sampled`; in a short table sample at most `samples` rows, evenly.

        All rows of a short table are read for this. Long tables give `sampled`.
        """
        if self._length <= _IN_ENDS or self._length > STEP:
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
        if rows is None and self._length <= STEP:  # usually one chunk, which is read at once
            rows = self._load(0, self._length)[[0, -1]]
        if rows is None:
            rows = np.concatenate([self._load(0, 1), self._load(self._length - 1, self._length)])
        return rows, self._key(rows).tolist()

    def _known_ends(self) -> np.ndarray | None:
        """Return the first and the last row if the file knows them without reading the table, else None."""
        first, last, file = self._pieces[0], self._pieces[-1], self._file
        if file is None or first.rows is not None or last.rows is not None or self._gaps:
            return None
        whole = not first.first and last.first + last.count == file.lengths[self._table]
        return file.known_ends(self._table) if whole else None

    def read(self, first: int, last: int) -> np.ndarray:
        """Return rows [first, last), cut to the rows that exist. The latest range is kept for its next reader."""
        first, last = max(first, 0), min(last, len(self))
        if self._length <= _IN_ENDS and not self._gaps and not len(self._left_out):
            return self._ends[0][first:last] if last > first else _NO_ROWS[self._table]
        recent = self._recent
        if recent is None or recent[:2] != (first, last):
            self._recent = recent = first, last, self._load(first, last)
            if len(recent[2]):
                _latest.keep(self, recent[2].nbytes)
        return recent[2]

    def leave_out(self, numbers: np.ndarray) -> None:
        """Treat the rows with these numbers as having no communicator and no partner, from now on."""
        if len(numbers):
            self._left_out = np.union1d(self._left_out, numbers)
            self.forget()

    def _without_partner(self, rows: np.ndarray, first: int) -> np.ndarray:
        """Remove communicator and peer from the rows that are left out; `first` is the number of the first row."""
        low, high = np.searchsorted(self._left_out, [first, first + len(rows)])
        if low < high:
            numbers = self._left_out[low:high] - first
            rows["comm"][numbers], rows["peer"][numbers] = 0, schema.Peer.NONE
        return rows

    def watch(self, watch: Watcher, *, ends: bool) -> None:
        """Pass all rows to `watch` when they are read, before anybody else sees them.

        Args:
            watch: Callback that may refuse rows.
            ends: Check the first and the last row now. The table must not be empty then.
        """
        if ends:
            watch.ends(self._ends[0], self._length)
        self._watch = watch

    @property
    def place(self) -> Place | None:
        """Place of all rows in the file; None: they are not in one place, or they are changed when they are read."""
        if len(self._pieces) != 1 or len(self._left_out) or self._gaps or self._file is None:
            return None
        piece, chunks = self._pieces[0], self._file.chunks.get(self._table)
        if piece.rows is not None or piece.spool is not None or chunks is None or chunks.deflated is not None:
            return None
        return Place(self._file.place, chunks, piece.first, self._watch.stamps if self._watch else _ANY_STAMPS)

    def forget(self) -> None:
        """Drop the latest range from memory."""
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
        """Write rows from number `first` on into an array. Rows must exist for the whole array. Not for events."""
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
        """Change the flushes at gaps into events of recording switched off (0) and on (1), in rows from `first` on."""
        rows = rows.copy()
        for gap in self._gaps:
            for number, value in ((gap - 1, 0), (gap, 1)):
                row = rows[number - first : number - first + 1] if number >= first else rows[:0]
                if len(row) and row["type"][0] == schema.FLUSH_TYPE and row["value"][0] == 1 - value:
                    row["type"], row["value"], row["flags"] = schema.TRACING_TYPE, value, GAP
        return rows

    def _sample_file(self, piece: Piece) -> np.ndarray:
        """Return keys of every STEP-th row. Reads bounded stretches, as HDF5 remembers each chunk of a strided read."""
        assert self._file is not None
        end = piece.first + piece.count
        stretches = range(piece.first, end, STEP * STEP)
        parts = [self._file.sample(self._table, at, min(at + STEP * STEP, end), STEP) for at in stretches]
        return np.concatenate([self._key(rows) for rows in parts])

    def last(self) -> np.void:
        """Return the last row."""
        return self._ends[0][1]

    def reread(self) -> None:
        """Forget what was read of rows in memory, because these rows have changed."""
        self.__dict__.pop("_ends", None)
        self.__dict__.pop("sampled", None)
        self.forget()

    def find(self, ticks: int) -> int:
        """Return the number of rows whose key is less than `ticks`."""
        if not self._length:
            return 0
        if ticks not in self._found:
            if len(self._found) > _MOST_FOUND:
                self._found.clear()
            self._found[ticks] = self._search(ticks)
        return self._found[ticks]

    def expect(self, ticks: Sequence[int]) -> None:
        """Prepare `find` for several ticks at once, so that each stretch of rows is read once.

        Nothing happens for more than _MOST_FOUND ticks, because only that number of results is remembered.
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

        Row i of the other table belongs to row i of this table. Zeros where the other table has no row.
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
        """Return rows with begin <= key < end (ticks), and `around` more rows on both sides."""
        if self._length and begin <= self.first_key and end > self.last_key:
            return self.read(0, self._length)
        return self.read(self.find(begin) - around, self.find(end) + around)

    def without_first(self, n: int) -> ThreadTable:
        """Return the same table without its first n rows."""
        pieces = [
            p.without_first(skip)
            for p, start in zip(self._pieces, self._starts, strict=False)
            if (skip := max(n - start, 0)) < p.count
        ]
        return ThreadTable(self._file, self._table, pieces, [gap - n for gap in self._gaps if gap > n])

    def scan(self) -> Iterator[np.ndarray]:
        """Yield all rows, at most SCAN_ROWS at a time."""
        for first in range(0, len(self), SCAN_ROWS):
            yield self._load(first, min(first + SCAN_ROWS, len(self)))


class _Latest:
    """Tables that were read last and keep their latest range.

    Together they keep at most KEPT_BYTES, however many ranks there are.
    """

    def __init__(self) -> None:
        self._bytes: OrderedDict[ThreadTable, int] = OrderedDict()
        self._sum = 0
        self._lock = RLock()  # nothing is waited for while it is held

    def keep(self, table: ThreadTable, size: int) -> None:
        """Note that a table has read a range of `size` bytes.

        The tables that were read longest ago forget their ranges if the sum exceeds KEPT_BYTES.
        """
        with self._lock:
            self._sum += size - self._bytes.pop(table, 0)
            self._bytes[table] = size
            while self._sum > KEPT_BYTES and len(self._bytes) > 1:
                other, its = self._bytes.popitem(last=False)
                other.forget()
                self._sum -= its


_latest = _Latest()

_NO_TABLES = {table: ThreadTable(None, table, ()) for table in KEY}
"""Tables of a thread that has no rows."""


def thread_tables(file: RankFile, pending: Sequence[ThreadSpool]) -> dict[int, dict[str, ThreadTable]]:
    """Return the tables of each thread of a rank; thread 0 is always there."""
    threads: dict[int, dict[str, ThreadTable]] = {0: dict(_NO_TABLES)}
    if not pending and (thread := _only_thread(file)) is not None:
        mine = threads.setdefault(thread, dict(_NO_TABLES))
        for table, length in file.lengths.items():
            if length and table in KEY:
                mine[table] = ThreadTable(file, table, (Piece(thread, 0, length),))
        return threads
    for table in KEY:
        if not file.lengths[table] and not pending:
            continue
        own: dict[int, list[Piece]] = {}
        for piece in _joined(pieces_of(file, table, pending, join=True)):
            own.setdefault(piece.thread, []).append(piece)
        for thread, pieces in own.items():
            gaps = _gaps(file.blocks, thread) if table == "events" else ()
            threads.setdefault(thread, dict(_NO_TABLES))[table] = ThreadTable(file, table, pieces, gaps)
    return threads


def _only_thread(file: RankFile) -> int | None:
    """Return the thread whose only block has all rows of a file, as in files with few rows; None: not known."""
    if len(file.blocks) != 1:
        return None
    numbers = _ONE_BLOCK.unpack(file.blocks.tobytes())
    tables = len(_POSITION)
    first, count, (thread, flags, _) = numbers[:tables], numbers[tables : 2 * tables], numbers[2 * tables :]
    whole = all(file.lengths[table] == count[position] for table, position in _POSITION.items())
    return thread if whole and not any(first) and not flags & BLOCK_DROPPED else None


def _gaps(blocks: np.ndarray, thread: int) -> list[int]:
    """Return the numbers of rows of events that come before each dropped block of a thread."""
    dropped = (blocks["flags"] & BLOCK_DROPPED) != 0
    if not dropped.any():
        return []
    mine = blocks["thread"] == thread
    count = np.where(mine & ~dropped, blocks["count"][:, _POSITION["events"]].astype(np.int64), 0)
    return np.cumsum(count)[mine & dropped].tolist()


def pieces_of(file: RankFile, table: str, pending: Sequence[ThreadSpool], *, join: bool = False) -> list[Piece]:
    """Return the pieces of a table in order of the file: blocks, rows that no block names, and rows of spools.

    Blocks whose rows were dropped give no piece. A spool that was being flushed holds the rows that belong at its base,
    whether or not they reached the file, so the rows of the file at that place are not used.

    Args:
        file: The file of a rank.
        table: Name of the table.
        pending: Spools whose rows may not be in the file.
        join: Blocks that follow each other may become one piece.
    """
    length, blocks = file.lengths[table], file.blocks
    if not length and not pending:
        return []
    rows, named = np.empty((len(blocks), 3), np.int64), ffi.new("int64_t *")
    count = lib.block_pieces(
        ffi.from_buffer(blocks), len(blocks), _POSITION[table], length, join,
        ffi.cast("struct piece *", ffi.from_buffer(rows)), named,
    )  # fmt: skip
    found = [Piece(*row) for row in rows[:count].tolist()]
    if file.attributes["state"] != schema.ProcessState.FULL:  # there the calls of an incomplete block count as lost
        found += _unnamed(file, table, named[0], length)
    for p in pending:
        if p.base is not None:
            flushed = Piece(p.thread, p.base[table], len(p.rows[table]), p.rows[table], p)
            found = [rest for piece in found for rest in _outside(piece, flushed)] + [flushed]
    found.sort(key=lambda piece: piece.first)
    found += [Piece(p.thread, length, len(p.rows[table]), p.rows[table], p) for p in pending if p.base is None]
    return [piece for piece in found if piece.count]


def _outside(piece: Piece, other: Piece) -> list[Piece]:
    """Return the parts of a piece of the file that lie before and after another piece."""
    if piece.rows is not None:
        return [piece]
    begin, end = piece.first, piece.first + piece.count
    before = max(min(end, other.first) - begin, 0)
    after = max(begin, other.first + other.count)
    return [Piece(piece.thread, begin, before), Piece(piece.thread, after, max(end - after, 0))]


def _unnamed(file: RankFile, table: str, first: int, length: int) -> list[Piece]:
    """Return pieces of the rows after the last block, by the thread that each row names.

    Rows of zeros were never written. Raises TracelibError if the file is too small for its table.
    """
    found: list[Piece] = []
    if first >= length:
        return found
    if not could_be_in(file.path.stat().st_size, (length - first) * schema.TABLES[table].itemsize):
        raise unreadable(file.place, f"table {table} says that it has {length} rows, for which it has no room")
    while first < length:
        rows = file.read(table, first, min(first + SCAN_ROWS, length))
        written = KEY[table](rows) != 0
        owner = np.where(written, rows["thread"].astype(np.int64), -1)
        edges = [0, *(np.flatnonzero(np.diff(owner)) + 1).tolist(), len(rows)]
        found += [Piece(int(owner[a]), first + a, b - a) for a, b in pairwise(edges) if owner[a] >= 0]
        first += len(rows)
    return found


def _joined(pieces: list[Piece]) -> list[Piece]:
    """Join neighbouring pieces of one thread in the file."""
    if len(pieces) < 2:
        return pieces
    joined: list[Piece] = []
    for piece in pieces:
        last = joined[-1] if joined else None
        meets = last is not None and last.rows is None and piece.rows is None and last.thread == piece.thread
        if last is not None and meets and last.first + last.count == piece.first:
            joined[-1] = Piece(last.thread, last.first, last.count + piece.count)
        else:
            joined.append(piece)
    return joined
