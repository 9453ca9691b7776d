"""Stream of the rows of a table in order, one block after the other. Each row is read once."""

from __future__ import annotations

from bisect import bisect_left

import numpy as np

from analyzer.recording.rank_file.pieces import KEY
from analyzer.recording.rank_file.thread_table import ThreadTable
from tracelib.schema import BUFFERED


class RowStream:
    """Stream of rows of a table, one block ahead.

    rows: rows that were read, and not taken yet. ahead: the block after them. number: number of the first row of
    `ahead`.
    limit: key of that row in ticks; None: there are no more rows. All rows with smaller keys are in `rows`.
    """

    def __init__(self, table: ThreadTable, name: str, first: int, last: int) -> None:
        """Read the first two blocks of rows [first, last). `name` is the name of the table."""
        self._table, self._dtype, self._key = table, BUFFERED[name], KEY[name]
        self.number, self._last, self._room = first, last, table.sizes.stream_room
        self.rows = self._read(0)
        self._load()

    def _read(self, room: int) -> np.ndarray:
        """Read the next block into an array with `room` unused rows before it."""
        block = np.empty(room + min(self._table.sizes.stream_rows, self._last - self.number), self._dtype)
        self._table.fill(self.number, block[room:])
        self.number += len(block) - room
        return block

    def _load(self) -> None:
        self._block = self._read(self._room) if self.number < self._last else None
        self.ahead = self.rows[:0] if self._block is None else self._block[self._room :]
        self.number -= len(self.ahead)
        self.limit = int(self._key(self.ahead[:1])[0]) if len(self.ahead) else None

    def _key_of(self, row: int) -> int:
        return self._key(self.rows[row : row + 1])[0]

    def advance(self) -> None:
        """Append `ahead` to `rows`, and read the next block. `ahead` must not be empty."""
        rest = self.rows
        if len(rest) > self._room or self._block is None:
            self.rows = np.concatenate((rest, self.ahead))
        else:
            self._block[self._room - len(rest) : self._room] = rest
            self.rows = self._block[self._room - len(rest) :]
        self.number += len(self.ahead)
        self._load()

    def take(self, ticks: int | None) -> np.ndarray:
        """Remove the rows whose key is less than `ticks` from `rows`, and return them; None: all rows."""
        count = len(self.rows) if ticks is None else bisect_left(range(len(self.rows)), ticks, key=self._key_of)
        taken, self.rows = self.rows[:count], self.rows[count:]
        return taken
