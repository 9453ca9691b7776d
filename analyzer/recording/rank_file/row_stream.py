"""The rows of a table in order, a block at a time, each of them read once."""

from __future__ import annotations

from bisect import bisect_left

import numpy as np

from analyzer.recording.rank_file.index import KEY, ThreadTable
from tracelib.schema import BUFFERED, COMPRESSED_CHUNK_ROWS

ROWS_AT_ONCE = 16 * COMPRESSED_CHUNK_ROWS
"""Whole chunks of a compressed table, so that none is decompressed twice."""
ROOM = 64
"""Rows left over of a block for which there is room before the next one; more of them have it copied."""


class RowStream:
    """Of rows [first, last): `rows` were read and not taken yet, `ahead` is the block after them.

    `number` is that of the first row of `ahead`, `limit` its key (ticks; None: there is no more): whoever takes rows up
    to there misses none.
    """

    def __init__(self, table: ThreadTable, name: str, first: int, last: int) -> None:
        self._table, self._dtype, self._key = table, BUFFERED[name], KEY[name]
        self.number, self._last = first, last
        self.rows = self._read(0)
        self._load()

    def _read(self, room: int) -> np.ndarray:
        """The next block, and room before it."""
        block = np.empty(room + min(ROWS_AT_ONCE, self._last - self.number), self._dtype)
        self._table.fill(self.number, block[room:])
        self.number += len(block) - room
        return block

    def _load(self) -> None:
        self._block = self._read(ROOM) if self.number < self._last else None
        self.ahead = self.rows[:0] if self._block is None else self._block[ROOM:]
        self.number -= len(self.ahead)
        self.limit = int(self._key(self.ahead[:1])[0]) if len(self.ahead) else None

    def _key_of(self, row: int) -> int:
        return self._key(self.rows[row : row + 1])[0]

    def advance(self) -> None:
        """Let what is ahead join the rows; there must be such."""
        rest = self.rows
        if len(rest) > ROOM or self._block is None:
            self.rows = np.concatenate((rest, self.ahead))
        else:
            self._block[ROOM - len(rest) : ROOM] = rest
            self.rows = self._block[ROOM - len(rest) :]
        self.number += len(self.ahead)
        self._load()

    def take(self, ticks: int | None) -> np.ndarray:
        """The rows whose key is less, or all of them."""
        count = len(self.rows) if ticks is None else bisect_left(range(len(self.rows)), ticks, key=self._key_of)
        taken, self.rows = self.rows[:count], self.rows[count:]
        return taken
