"""Rows put one after the other into a temporary file, and then read as one array."""

from __future__ import annotations

import tempfile
from typing import Any

import numpy as np

from analyzer.errors import TracelibError


class Rows:
    """A file without a name, which vanishes when nothing refers to it any more."""

    def __init__(self, dtype: np.dtype) -> None:
        self._dtype, self._count = dtype, 0
        self._file: Any = tempfile.TemporaryFile()  # noqa: SIM115

    def append(self, rows: np.ndarray) -> None:
        """Add rows; raises TracelibError if there is no room for them."""
        try:
            self._file.write(np.ascontiguousarray(rows, self._dtype).view(np.uint8).data)
            self._file.flush()
        except OSError as error:
            text = f"temporary files cannot be written ({error.strerror})"
            raise TracelibError(text, "set TMPDIR to a folder with room") from error
        self._count += len(rows)

    def __len__(self) -> int:
        return self._count

    def mapped(self) -> np.ndarray:
        """All rows, read when they are looked at. A change of them stays in memory."""
        if not self._count:
            return np.zeros(0, self._dtype)
        return np.memmap(self._file, self._dtype, "c", shape=(self._count,)).view(np.ndarray)
