"""Rows in temporary files, mapped so that only the parts in use are in memory."""

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
"""Number of rows that are in memory at a time when all rows are read in order."""


def _no_room(error: OSError) -> TracelibError:
    return TracelibError(f"temporary files cannot be written ({error.strerror})", "set TMPDIR to a folder with room")


class Rows:
    """Array of rows in a file without a name. The file vanishes when the last reference to it does.

    Rows are first appended. When the file has been mapped, nothing may be appended any more.
    """

    def __init__(self, dtype: np.dtype) -> None:
        self.dtype, self._count = dtype, 0
        self._map: mmap.mmap | None = None
        self._file: Any = unnamed_file()

    @classmethod
    def zeros(cls, count: int, dtype: np.dtype) -> Rows:
        """Create `count` rows of zeros of type `dtype`. Raises TracelibError if the disk has no room for them."""
        rows = cls(np.dtype(dtype))
        rows._count = count
        try:
            os.posix_fallocate(rows._file.fileno(), 0, max(count * rows.dtype.itemsize, 1))
        except OSError as error:
            raise _no_room(error) from error
        return rows

    @classmethod
    def from_array(cls, array: np.ndarray) -> Rows:
        """Create rows from an array. Raises TracelibError if the disk has no room for them."""
        rows = cls(array.dtype)
        rows.append(array)
        return rows

    def append(self, rows: np.ndarray) -> None:
        """Append rows. Raises TracelibError if the disk has no room for them."""
        try:
            self._file.write(np.ascontiguousarray(rows, self.dtype).view(np.uint8).data)
            self._file.flush()
        except OSError as error:
            raise _no_room(error) from error
        self._count += len(rows)

    def append_all(self, others: Rows | None) -> None:
        """Append all rows of another file, piece by piece. None: append nothing."""
        for _, rows in others.pieces() if others is not None else ():
            self.append(rows)

    def fileno(self) -> int:
        """Return the file's descriptor for another process that appends rows to it. Call `grew` afterwards."""
        return int(self._file.fileno())

    def grew(self, count: int) -> None:
        """Extend the length by the number of rows that another process appended."""
        self._count += count

    def __len__(self) -> int:
        return self._count

    def mapped(self) -> np.ndarray:
        """Return all rows as an array that maps the file. Changes to the array go to the file.

        Append nothing after this.
        """
        if not self._count:
            return np.zeros(0, self.dtype)
        self._map = self._map or mmap.mmap(self._file.fileno(), self._count * self.dtype.itemsize)
        return np.frombuffer(self._map, self.dtype, self._count)

    def forget(self) -> None:
        """Free the memory of the mapped rows. They are read from the file again when they are used."""
        if self._map is not None:
            self._map.madvise(mmap.MADV_DONTNEED)

    def pieces(self) -> Iterator[tuple[int, np.ndarray]]:
        """Yield the index of the first row, and at most PIECE (65536) mapped rows. Memory is freed after each piece."""
        rows = self.mapped()
        for first in range(0, len(rows), PIECE):
            yield first, rows[first : first + PIECE]
            self.forget()


def to_first(mine: np.ndarray, team: Team) -> np.ndarray:
    """Gather the rows of all members of a team in memory of the first member; the others get no rows. Collective."""
    if team.size == 1:
        return mine
    nothing = mine[:0]
    return joined(team.alltoall([mine, *[nothing] * (team.size - 1)]), mine.dtype)


def rows_to_first(mine: Rows, team: Team, change: Callable[[int, np.ndarray], np.ndarray] | None = None) -> Rows:
    """Gather the rows of all members of a team in a temporary file of the first member. Collective.

    Args:
        mine: Rows of this member.
        team: The members, who all call this.
        change: Function of (member, rows) that returns the rows to store in place of a member's rows. None: store them
            unchanged.

    Returns:
        The rows of all members, member after member, on the first member; no rows on the others.
    """
    if team.size == 1:
        return mine
    found = Rows(mine.dtype)
    for member, piece in _in_order(mine, team):
        found.append(change(member, piece) if change else piece)
    return found


def _in_order(mine: Rows, team: Team) -> Iterator[tuple[int, np.ndarray]]:
    """Yield the number of a member and a piece of its rows, for all members in order. Collective."""
    counts = team.allgather(sum(1 for _ in mine.pieces()))
    nothing = np.zeros(0, mine.dtype)
    for member, count in enumerate(counts):
        own = mine.pieces() if member == team.rank else iter(())
        for _ in range(count):
            yield member, to_first(next(own, (0, nothing))[1], team)
