"""Output files that appear whole or not at all."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from analyzer.errors import TracelibError
from analyzer.signal_handling import discard, temporary

_MOST_AT_ONCE, _BUFFER_BYTES = 1 << 30, 1 << 20


def temporary_name(path: Path, part: str = "whole") -> Path:
    """Return the name under which this process writes (a part of) `path`: in the same folder, to rename atomically.

    The caller hands it to `discard` in the end.
    """
    return temporary(path.with_name(f".{path.name}.{os.getpid()}.{part}.tmp"))


def cannot_write(path: Path, error: OSError) -> TracelibError:
    """Make the error in the system's words: the HDF5 library's words name temporary files."""
    text = os.strerror(error.errno) if error.errno else " ".join(str(error).split())
    return TracelibError(f"cannot write {path}: {text}", "name another output with -o, or make room")


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a binary file that takes the name `path` when the block ends well, and leaves nothing when it does not.

    Raises TracelibError where the folder cannot be written or the disk is full.
    """
    target = Path(path)
    part = temporary_name(target)
    try:
        with part.open("xb") as file:
            yield file
        part.replace(target)
    except OSError as error:
        raise cannot_write(target, error) from error
    finally:
        discard(part)


def append(path: Path, file: BinaryIO) -> None:
    """Append the bytes of a file to another file, without reading them if the system can."""
    file.flush()
    with path.open("rb") as source:
        with suppress(OSError, AttributeError):  # not every system has it
            while os.copy_file_range(source.fileno(), file.fileno(), _MOST_AT_ONCE):
                pass
        source.seek(os.lseek(source.fileno(), 0, os.SEEK_CUR))
        file.seek(0, os.SEEK_END)
        shutil.copyfileobj(source, file, _BUFFER_BYTES)
