"""Operations kept one after the other: in memory as long as they are few, else in a temporary file."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import BinaryIO

import numpy as np

from analyzer.errors import TracelibError
from analyzer.operations.operation import OP, virtual_threads


class StoredOperations(np.memmap):
    """OP in a file, which the simulator reads itself: parts and copies of them have none."""

    file: BinaryIO | None = None

    @classmethod
    def of(cls, file: BinaryIO, count: int) -> StoredOperations:
        """The first `count` of an open file."""
        found = cls(file, OP, "r+" if file.writable() else "r", shape=(count,))  # type: ignore[call-overload]
        found.file = file
        return found


IN_MEMORY = 1 << 18
"""Operations; more of them are kept in a temporary file and mapped."""


class OperationSpill:
    """Blocks of OP in order of appending; the file has no name and vanishes with the array."""

    def __init__(self) -> None:
        self._blocks: list[np.ndarray] = []
        self._count = self._waiting = self.virtual_threads = 0
        self._file: BinaryIO | None = None

    def append(self, block: np.ndarray) -> int:
        """Keep a block; returns its length. Raises TracelibError if there is no room for it."""
        self._blocks.append(block)
        self.virtual_threads = max(self.virtual_threads, virtual_threads(block))
        self._count += len(block)
        self._waiting += len(block)
        if self._waiting > IN_MEMORY:
            self._write()
        return len(block)

    def _write(self) -> None:
        try:
            if self._file is None:
                folder = Path(tempfile.gettempdir())
                self._file = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115, the mapped array needs it longer
            for block in self._blocks:
                self._file.write(np.ascontiguousarray(block).view(np.uint8).data)
            self._file.flush()
        except OSError as error:
            raise TracelibError(
                f"temporary files cannot be written ({error.strerror})", "set TMPDIR to a folder with room"
            ) from error
        self._blocks.clear()
        self._waiting = 0

    def array(self) -> np.ndarray:
        """All of them."""
        if self._file is None:
            return np.concatenate([np.zeros(0, OP), *self._blocks])
        self._write()
        return StoredOperations.of(self._file, self._count)
