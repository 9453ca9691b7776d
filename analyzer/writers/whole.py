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
        raise TracelibError(
            f"cannot write {target}: {error.strerror}", "name another output with -o, or make room"
        ) from error
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
