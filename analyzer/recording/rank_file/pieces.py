"""Pieces of the tables in a rank file: which rows each thread wrote, and where they lie."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from analyzer._kernels import ffi, lib
from analyzer.recording.rank_file.file import RankFile, unreadable
from analyzer.recording.rank_file.tables import could_be_in
from tracelib import schema
from tracelib.schema import BLOCK_DROPPED
from tracelib.schema.spool import ThreadSpool

POSITION = {table: position for position, table in enumerate(schema.BUFFERED)}
"""Index of each table in the columns `first` and `count` of the table `blocks`."""


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
"""Function for each table that returns the keys of rows: the ticks by which the rows of a thread are in order."""


@dataclass(slots=True)
class Piece:
    """Consecutive rows of one thread, either in the file or in memory.

    In the file they are `count` rows from row `first` on. In memory they are `rows`, which are the rows of `spool` from
    number `skipped` on.
    """

    thread: int
    first: int
    count: int
    rows: np.ndarray | None = None
    spool: ThreadSpool | None = None
    skipped: int = 0

    def without_first(self, n: int) -> Piece:
        """Return a piece of the rows after the first n."""
        rows = None if self.rows is None else self.rows[n:]
        return Piece(self.thread, self.first + n, self.count - n, rows, self.spool, self.skipped + n)


def pieces_of(file: RankFile, table: str, pending: Sequence[ThreadSpool], *, join: bool = False) -> list[Piece]:
    """Return the pieces of a table in order of the file: blocks, rows that no block names, and rows of spools.

    Blocks whose rows were dropped give no piece. A spool that was being flushed has the rows that belong at its base,
    whether or not they reached the file. So the file's rows at that place are not used.

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
        ffi.from_buffer(blocks), len(blocks), POSITION[table], length, join,
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
    """Return what is left of a piece in the file without the rows of another piece: the rows before and after it."""
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
        rows = file.read(table, first, min(first + file.sizes.scan_rows, length))
        written = KEY[table](rows) != 0
        owner = np.where(written, rows["thread"].astype(np.int64), -1)
        edges = [0, *(np.flatnonzero(np.diff(owner)) + 1).tolist(), len(rows)]
        found += [Piece(int(owner[a]), first + a, b - a) for a, b in pairwise(edges) if owner[a] >= 0]
        first += len(rows)
    return found


def joined_pieces(pieces: list[Piece]) -> list[Piece]:
    """Join neighbouring pieces of the same thread in the file."""
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


def gaps_of(blocks: np.ndarray, thread: int) -> list[int]:
    """Return for each dropped block of a thread the number of its event rows before that block."""
    dropped = (blocks["flags"] & BLOCK_DROPPED) != 0
    if not dropped.any():
        return []
    mine = blocks["thread"] == thread
    count = np.where(mine & ~dropped, blocks["count"][:, POSITION["events"]].astype(np.int64), 0)
    return np.cumsum(count)[mine & dropped].tolist()
