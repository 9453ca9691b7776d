"""Time limit for HDF5 on damaged files: it may search a file endlessly, and no exception interrupts its calls.

Only the command line has limits, because they end the process. Programs that import this package keep their timers and
signals.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

import h5py

from analyzer import signal_handling
from analyzer._kernels import ffi, lib

LIMIT_S = 10.0
"""Processor time in seconds to open a file and read its small tables.

That takes milliseconds for one file, and a second for many ranks.
"""
ROWS_A_SECOND = 100_000
"""Number of rows for which one second is added. Even the slowest compressed rows are read ten times as fast."""


@contextmanager
def limited(path: str | os.PathLike[str], rows: int = 0) -> Iterator[None]:
    """Limit the time in which HDF5 reads `rows` rows of a file. At the limit, the process prints an error and ends."""
    if not signal_handling.ends_alone():
        yield
        return
    line = f"Error: {os.fspath(path)}: cannot be read (HDF5 does not come to an end with it: it is damaged)\n"
    words = ffi.new("char[]", os.fsencode(line))
    files = ffi.new("char[]", b"".join(os.fsencode(file) + b"\0" for file in signal_handling.temporaries()) + b"\0")
    begun = lib.limit_begin(LIMIT_S + rows / ROWS_A_SECOND, words, files)
    try:
        yield
    finally:
        if begun:
            lib.limit_end()


@contextmanager
def opened(path: str | os.PathLike[str]) -> Iterator[h5py.File]:
    """Open an HDF5 file that is small, or of which little is read."""
    with limited(path), h5py.File(path, "r", locking=False) as file:
        yield file
