"""What was opened last, kept for who asks for it again."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Generic, TypeVar

OPEN_FILES = 128
"""How many files are kept open at a time: thousands of ranks must not meet the limit on descriptors."""

Opened = TypeVar("Opened")


class KeptOpen(Generic[Opened]):
    """By name what `opened` makes of it, `most` at a time: the oldest is forgotten first, and closed when nobody holds
    it any more.

    Threads share it without a lock, as a Trace that goes closes its files in any thread, at any moment, also where h5py
    has a lock of its own. Each step is one of a dict's, so the worst is that something is opened twice, or kept
    although another thread has dropped it meanwhile.
    """

    def __init__(self, most: int, opened: Callable[[str], Opened]) -> None:
        self._most, self._opened = most, opened
        self._kept: dict[str, Opened] = {}

    def __len__(self) -> int:
        return len(self._kept)

    def __contains__(self, name: str) -> bool:
        return name in self._kept

    def get(self, name: str) -> Opened:
        """It is the latest then."""
        found = self._kept.pop(name, None)
        if found is None:
            found = self._opened(name)
        while len(self._kept) >= self._most:
            with suppress(RuntimeError, StopIteration):  # another thread was faster
                self._kept.pop(next(iter(self._kept)), None)
        self._kept[name] = found
        return found

    def drop(self, name: str) -> None:
        """Forget it."""
        self._kept.pop(name, None)
