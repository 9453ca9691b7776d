"""Limit of the memory that tables use for the rows that they read last."""

from __future__ import annotations

from collections import OrderedDict
from threading import RLock
from typing import Protocol


class Forgetful(Protocol):
    """Object that keeps a range of rows in memory."""

    def forget(self) -> None:
        """Drop the rows from memory."""


class RecentRanges:
    """List of the tables that keep the rows of their latest read, and the number of bytes that they use together.

    The number of bytes is limited, however many ranks there are.
    """

    def __init__(self) -> None:
        self._bytes: OrderedDict[Forgetful, int] = OrderedDict()
        self._sum = 0
        self._lock = RLock()  # nothing is waited for while it is held

    def keep(self, table: Forgetful, size: int, most: int) -> None:
        """Register that a table keeps rows of `size` bytes.

        If the sum exceeds `most` bytes, the tables that were read longest ago forget their rows.
        """
        with self._lock:
            self._sum += size - self._bytes.pop(table, 0)
            self._bytes[table] = size
            while self._sum > most and len(self._bytes) > 1:
                other, its = self._bytes.popitem(last=False)
                other.forget()
                self._sum -= its


RECENT = RecentRanges()
"""The list of this process."""
