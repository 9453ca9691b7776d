"""The one exception that a user's mistake ends in on the measuring side (which imports nothing of `analyzer`)."""


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
