"""The one exception that a user's mistake or a bad file ends in."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tracelib.errors import TracelibError

__all__ = ["TracelibError", "about"]


@contextmanager
def about(file: str | Path) -> Iterator[None]:
    """Let errors inside the block begin with the name of the file; "": without a name."""
    try:
        yield
    except TracelibError as error:
        if not file:
            raise
        raise TracelibError(f"{file}: {error}", error.hint, error.exit_code) from error
