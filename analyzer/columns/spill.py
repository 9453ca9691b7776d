"""Records put aside in a temporary file, to be read again in another order than they came."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from analyzer.errors import TracelibError
from analyzer.temporary_files import unnamed_file

Extents = dict[Hashable, list[tuple[int, int]]]
"""For each key its pieces of the file: (byte offset, number of records)."""


class Spill:
    """Appends arrays under keys and gives all of a key's back, in order of appending.

    Without a path the file has no name and vanishes with the process, however that ends.
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
        """Put records aside; raises TracelibError if there is no room for them."""
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
        """Put each record aside under its own key (a whole number), those of a key in their order."""
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
        """All records of a key."""
        return self._read(self.extents.get(key, ()))

    def pieces(self, key: Hashable, most: int) -> Iterator[np.ndarray]:
        """The same piece by piece, each of at most so many records or of one that was appended as a whole; one piece at
        least."""
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
        """Write out what was appended; raises TracelibError if there is no room for it."""
        try:
            self._file.close()
        except OSError as error:
            raise _no_room(error) from error


def _no_room(error: OSError) -> TracelibError:
    return TracelibError(f"temporary files cannot be written ({error.strerror})", "set TMPDIR to a folder with room")
