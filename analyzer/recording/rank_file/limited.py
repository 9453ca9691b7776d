"""An end to what HDF5 does with a damaged file: it may search one for ever, and no exception gets into its calls.

Only the command line has limits, for they end the process. Whoever imports this package keeps his timers and signals.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

import h5py

from analyzer import signal_handling
from analyzer._kernels import ffi, lib

LIMIT_S = 10.0
"""Of processor time, to open a file and read what is small in it, which takes milliseconds, of many ranks a second."""
ROWS_A_SECOND = 100_000
"""More time for that many rows that are read: the slowest of compressed ones are ten times as fast."""


@contextmanager
def limited(path: str | os.PathLike[str], rows: int = 0) -> Iterator[None]:
    """Within, HDF5 reads so many rows of a file. Where it does not come to an end, the process says so and ends."""
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
    """A small HDF5 file, or one of which little is read."""
    with limited(path), h5py.File(path, "r", locking=False) as file:
        yield file
