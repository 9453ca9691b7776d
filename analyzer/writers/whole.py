"""Output files that appear whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from analyzer.errors import TracelibError


def temporary_name(path: Path, part: str = "whole") -> Path:
    """Where this process writes (a part of) what becomes `path`: in the same folder, so that renaming is atomic."""
    return path.with_name(f".{path.name}.{os.getpid()}.{part}.tmp")


def discard(path: Path) -> None:
    """Remove a temporary file. Where that fails, what went wrong before is what the user should hear of."""
    with suppress(OSError):
        path.unlink(missing_ok=True)


def cannot_write(path: Path, error: OSError) -> TracelibError:
    """In the system's words; those of the HDF5 library are its own and name temporary files."""
    text = os.strerror(error.errno) if error.errno else " ".join(str(error).split())
    return TracelibError(f"cannot write {path}: {text}", "name another output with -o, or make room")


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A binary file that takes the name `path` when the block ends well, and leaves nothing when it does not.

    Raises TracelibError where the folder cannot be written or the disk is full.
    """
    target = Path(path)
    temporary = temporary_name(target)
    try:
        with temporary.open("xb") as file:
            yield file
        temporary.replace(target)
    except OSError as error:
        raise cannot_write(target, error) from error
    finally:
        discard(temporary)
