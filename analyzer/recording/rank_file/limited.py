"""Time limit for HDF5 on damaged files: HDF5 may search a file endlessly, and no exception interrupts it.

Only the command line has limits, because a limit ends the process. Programs that import this package keep their timers
and signals.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

import h5py

from analyzer import signal_handling
from analyzer._kernels import ffi, lib

LIMIT_S = 10.0
"""Limit of processor time in seconds to open a file and read its small tables.

That takes milliseconds for one file, and a second for many ranks.
"""
ROWS_A_SECOND = 100_000
"""Number of rows for which the limit grows by one second. The slowest compressed rows are read ten times as fast."""


@contextmanager
def limited(path: str | os.PathLike[str], rows: int = 0) -> Iterator[None]:
    """Limit the processor time of the block, in which HDF5 reads a file.

    At the limit the process prints an error and ends.

    Args:
        path: The file.
        rows: Number of rows that are read.
    """
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
    """Open an HDF5 file with a time limit for the block. The file must be small, or little of it be read."""
    with limited(path), h5py.File(path, "r", locking=False) as file:
        yield file
