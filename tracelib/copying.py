"""Copying a file with its holes: rank files are mostly holes until they grow."""

from __future__ import annotations

import os
from pathlib import Path

STEP_BYTES = 1 << 26


def copy_sparse(source: Path, target: Path) -> None:
    """Copy contents and permissions; what is a hole in the source is one in the copy. An existing target is replaced.

    Raises OSError, with the target in any state.
    """
    with source.open("rb") as reader, target.open("wb") as writer:
        status = os.fstat(reader.fileno())
        os.fchmod(writer.fileno(), status.st_mode & 0o7777)
        os.ftruncate(writer.fileno(), status.st_size)
        at = 0
        while (at := _next_data(reader.fileno(), at)) < status.st_size:
            end = os.lseek(reader.fileno(), at, os.SEEK_HOLE)
            os.lseek(writer.fileno(), at, os.SEEK_SET)
            while at < end:
                sent = os.sendfile(writer.fileno(), reader.fileno(), at, min(end - at, STEP_BYTES))
                if sent == 0:
                    raise OSError(f"{source} became shorter while it was copied")
                at += sent


def _next_data(descriptor: int, at: int) -> int:
    """Return where the next data after a hole begins; the end of the file if there is none."""
    try:
        return os.lseek(descriptor, at, os.SEEK_DATA)
    except OSError:
        return os.fstat(descriptor).st_size
