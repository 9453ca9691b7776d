"""Temporary files and folders, also where no folder can be written: then they are in memory."""

from __future__ import annotations

import os
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, cast

from analyzer.errors import TracelibError
from analyzer.signal_handling import temporary

_HINT = "set TMPDIR to a folder with room"
_IN_MEMORY = "/dev/shm"
"""A file system in memory that Linux has, whatever the disks are."""


def unnamed_file(buffering: int = -1) -> BinaryIO:
    """Open a file that no name leads to, which is gone when this process is; in memory where there is no folder."""
    try:
        return cast(BinaryIO, tempfile.TemporaryFile(buffering=buffering))
    except OSError:
        return cast(BinaryIO, os.fdopen(os.memfd_create("analyze"), "w+b", buffering))


def place_of_temporaries() -> Path:
    """Find the folder that temporary files with a name go to. Raises TracelibError where none can be written."""
    try:
        return Path(tempfile.gettempdir())
    except OSError as error:
        if os.access(_IN_MEMORY, os.W_OK | os.X_OK):
            return Path(_IN_MEMORY)
        raise TracelibError("no folder for temporary files can be written", _HINT) from error


def temporary_folder(prefix: str = "analyze-", beside: Path | None = None) -> Path:
    """Make a folder of this user alone, which goes when the process is ended before `signals.discard`.

    Args:
        prefix: Its name begins so.
        beside: The folder to make it in, if that can be written.

    Raises:
        TracelibError: There is no folder that can be written, nor one in memory.
    """
    if beside:
        with suppress(OSError):
            return temporary(Path(tempfile.mkdtemp(prefix=prefix, dir=beside)))
    try:
        return temporary(Path(tempfile.mkdtemp(prefix=prefix, dir=place_of_temporaries())))
    except OSError as error:
        raise TracelibError(f"no folder for temporary files: {error.strerror}", _HINT) from error
