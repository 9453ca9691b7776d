"""Arrays in temporary files, of which only what is looked at lies in memory."""

from __future__ import annotations

import mmap
import os
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from analyzer.columns.arrays import joined
from analyzer.errors import TracelibError
from analyzer.parallel import Team
from analyzer.temporary_files import unnamed_file

PIECE = 1 << 16
"""Rows that are looked at together, if all are looked at in order."""


def _no_room(error: OSError) -> TracelibError:
    return TracelibError(f"temporary files cannot be written ({error.strerror})", "set TMPDIR to a folder with room")


class Rows:
    """A file without a name, which vanishes when nothing refers to it any more: first appended to, then mapped."""

    def __init__(self, dtype: np.dtype) -> None:
        self.dtype, self._count = dtype, 0
        self._map: mmap.mmap | None = None
        self._file: Any = unnamed_file()

    @classmethod
    def zeros(cls, count: int, dtype: np.dtype) -> Rows:
        """All zero. Raises TracelibError if there is no room for them."""
        rows = cls(np.dtype(dtype))
        rows._count = count
        try:
            os.posix_fallocate(rows._file.fileno(), 0, max(count * rows.dtype.itemsize, 1))
        except OSError as error:
            raise _no_room(error) from error
        return rows

    @classmethod
    def of(cls, array: np.ndarray) -> Rows:
        """Those of an array. Raises TracelibError if there is no room for them."""
        rows = cls(array.dtype)
        rows.append(array)
        return rows

    def append(self, rows: np.ndarray) -> None:
        """Add rows; raises TracelibError if there is no room for them."""
        try:
            self._file.write(np.ascontiguousarray(rows, self.dtype).view(np.uint8).data)
            self._file.flush()
        except OSError as error:
            raise _no_room(error) from error
        self._count += len(rows)

    def append_all(self, others: Rows | None) -> None:
        """Add those of others, piece by piece."""
        for _, rows in others.pieces() if others is not None else ():
            self.append(rows)

    def fileno(self) -> int:
        """Of the file, for others that append to it; `grew` says so."""
        return int(self._file.fileno())

    def grew(self, count: int) -> None:
        """Others have appended so many rows."""
        self._count += count

    def __len__(self) -> int:
        return self._count

    def mapped(self) -> np.ndarray:
        """All rows, read when they are looked at; changes go to the file. Nothing is appended after this."""
        if not self._count:
            return np.zeros(0, self.dtype)
        self._map = self._map or mmap.mmap(self._file.fileno(), self._count * self.dtype.itemsize)
        return np.frombuffer(self._map, self.dtype, self._count)

    def forget(self) -> None:
        """What was read of the mapped rows need not stay in memory; it is there again when it is looked at."""
        if self._map is not None:
            self._map.madvise(mmap.MADV_DONTNEED)

    def pieces(self) -> Iterator[tuple[int, np.ndarray]]:
        """The mapped rows PIECE by PIECE, each with the number of its first row; it is forgotten after its turn."""
        rows = self.mapped()
        for first in range(0, len(rows), PIECE):
            yield first, rows[first : first + PIECE]
            self.forget()


def to_first(mine: np.ndarray, team: Team) -> np.ndarray:
    """Those of all members in memory; others than the first one get none. Collective."""
    if team.size == 1:
        return mine
    nothing = mine[:0]
    return joined(team.alltoall([mine, *[nothing] * (team.size - 1)]), mine.dtype)


def rows_to_first(mine: Rows, team: Team, change: Callable[[int, np.ndarray], np.ndarray] | None = None) -> Rows:
    """Those of all members in a temporary file, piece by piece; others than the first one get none. Collective.

    change(member, rows): what becomes of those of a member.
    """
    if team.size == 1:
        return mine
    found = Rows(mine.dtype)
    for member, piece in _in_order(mine, team):
        found.append(change(member, piece) if change else piece)
    return found


def _in_order(mine: Rows, team: Team) -> Iterator[tuple[int, np.ndarray]]:
    """The pieces of each member after those of the one before it."""
    counts = team.allgather(sum(1 for _ in mine.pieces()))
    nothing = np.zeros(0, mine.dtype)
    for member, count in enumerate(counts):
        own = mine.pieces() if member == team.rank else iter(())
        for _ in range(count):
            yield member, to_first(next(own, (0, nothing))[1], team)
