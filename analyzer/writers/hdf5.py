"""HDF5 files on disks that may be full: then the library crashes as it closes a file, so it does not hear of it."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import h5py

from analyzer.signals import called_from_c


@contextmanager
def new_hdf5(path: Path) -> Iterator[h5py.File]:
    """A new file to write, named `path`, in the oldest form that can hold what is written.

    Raises OSError where the disk is full, at the latest as the block ends.
    """
    with path.open("x+b", buffering=0) as file:
        kept = _Kept(file)
        try:
            with h5py.File(kept, "w", libver=("earliest", "v110")) as out:
                yield out
        except Exception as error:
            raise kept.error or error from None
        if kept.error:
            raise kept.error


class _Kept(io.RawIOBase):
    """A file that keeps the first error of writing and does as if all had been written."""

    def __init__(self, file: BinaryIO) -> None:
        self.error: OSError | None = None
        self._file = file
        self._end = 0  # the end that it would have

    @called_from_c
    def seek(self, at: int, whence: int = os.SEEK_SET) -> int:
        return self._file.seek(self._end if whence == os.SEEK_END else at)

    @called_from_c
    def tell(self) -> int:
        return self._file.tell()

    @called_from_c
    def readinto(self, into: Any) -> int:
        """What was not written reads as zeros."""
        count = self._file.readinto(into)  # type: ignore[attr-defined]
        memoryview(into)[count:] = bytes(len(into) - count)
        return len(into)

    @called_from_c
    def write(self, data: Any) -> int:
        begin, at, left = self._file.tell(), 0, memoryview(data).cast("B")
        self._end = max(self._end, begin + len(left))
        try:
            while at < len(left) and not self.error:
                at += self._file.write(left[at:])
        except OSError as error:
            self.error = error
        return len(left)

    @called_from_c
    def truncate(self, size: int | None = None) -> int:
        self._end = self._file.tell() if size is None else size
        try:
            self._file.truncate(self._end)
        except OSError as error:
            self.error = self.error or error
        return self._end

    @called_from_c
    def flush(self) -> None:
        """Each write is one."""
