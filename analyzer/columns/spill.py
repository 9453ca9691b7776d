"""Records that are put into a temporary file under keys, to be read again key by key."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from analyzer.errors import TracelibError
from analyzer.temporary_files import unnamed_file

Extents = dict[Hashable, list[tuple[int, int]]]
"""Pieces of the file by key: byte offset and number of records of each piece."""


class Spill:
    """Records in a file under keys. Arrays are appended; all records of a key are returned in order of appending.

    Args:
        dtype: Type of the records.
        path: File for the records. None: a file without a name, which vanishes with the process, however that ends.
        extents: Pieces of an existing file, which is only read. None: a new file.
    """

    def __init__(self, dtype: np.dtype, path: Path | None = None, extents: Extents | None = None) -> None:
        self.dtype = dtype
        self.extents: Extents = {} if extents is None else extents
        self._end = 0
        self._file: Any
        if path is None:
            self._file = unnamed_file()
        else:
            self._file = path.open("w+b" if extents is None else "rb")

    def append(self, key: Hashable, records: np.ndarray) -> None:
        """Append records under a key. Raises TracelibError if the disk has no room for them."""
        if not len(records):
            return
        data = np.ascontiguousarray(records, self.dtype).view(np.uint8).data
        try:
            self._file.seek(self._end)
            self._file.write(data)
        except OSError as error:
            raise _no_room(error) from error
        self.extents.setdefault(key, []).append((self._end, len(records)))
        self._end += data.nbytes

    def append_each(self, keys: np.ndarray, records: np.ndarray) -> None:
        """Append each record under its own key (a whole number). Records of one key keep their order."""
        if not len(records):
            return
        if (keys == keys[0]).all():
            self.append(int(keys[0]), records)
            return
        order = np.argsort(keys, kind="stable")
        keys, records = keys[order], records.take(order)
        cuts = [0, *(np.flatnonzero(np.diff(keys)) + 1).tolist(), len(keys)]
        for first, last in pairwise(cuts):
            self.append(int(keys[first]), records[first:last])

    def read(self, key: Hashable) -> np.ndarray:
        """Return all records of a key, in order of appending. A key without records gives an empty array."""
        return self._read(self.extents.get(key, ()))

    def pieces(self, key: Hashable, most: int) -> Iterator[np.ndarray]:
        """Yield the records of a key piece by piece; at least one piece, which may be empty.

        A piece has at most `most` records, unless it is a single array that was appended with more.
        """
        taken: list[tuple[int, int]] = []
        held = 0
        for extent in self.extents.get(key, ()):
            if taken and held + extent[1] > most:
                yield self._read(taken)
                taken, held = [], 0
            taken.append(extent)
            held += extent[1]
        yield self._read(taken)

    def _read(self, extents: Sequence[tuple[int, int]]) -> np.ndarray:
        records = np.empty(sum(count for _, count in extents), self.dtype)
        first = 0
        for offset, count in extents:
            self._file.seek(offset)
            place = records[first : first + count].view(np.uint8).data
            if self._file.readinto(place) != place.nbytes:
                raise TracelibError("another program cut temporary files short", "set TMPDIR to a folder of your own")
            first += count
        return records

    def close(self) -> None:
        """Write out what was appended, and close the file. Raises TracelibError if the disk has no room."""
        try:
            self._file.close()
        except OSError as error:
            raise _no_room(error) from error


def _no_room(error: OSError) -> TracelibError:
    return TracelibError(f"temporary files cannot be written ({error.strerror})", "set TMPDIR to a folder with room")
