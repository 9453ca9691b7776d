"""The one exception that a user's mistake or a bad file ends in, on both sides, and the last look at the output."""

import os
import sys


class TracelibError(Exception):
    """Shown as one line on stderr, never as a traceback: what is wrong, and what to do (`hint`)."""

    def __init__(self, message: str, hint: str = "", exit_code: int = 1) -> None:
        super().__init__(message)
        self.hint = hint
        self.exit_code = exit_code

    @property
    def line(self) -> str:
        """Message and hint on one line."""
        return f"{self}; {self.hint}" if self.hint else str(self)


def drop_output() -> None:
    """Give up output that cannot be written (a full disk, a closed pipe): Python would try again at its end."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
