"""Ranges of rows that tables keep for their next reader: how much memory they take together."""

from __future__ import annotations

from collections import OrderedDict
from threading import RLock
from typing import Protocol


class Forgetful(Protocol):
    """Holder of a range of rows in memory."""

    def forget(self) -> None:
        """Drop the range."""


class RecentRanges:
    """Tables that were read last and keep their latest range.

    Together they keep a limited number of bytes, however many ranks there are.
    """

    def __init__(self) -> None:
        self._bytes: OrderedDict[Forgetful, int] = OrderedDict()
        self._sum = 0
        self._lock = RLock()  # nothing is waited for while it is held

    def keep(self, table: Forgetful, size: int, most: int) -> None:
        """Note that a table has read a range of `size` bytes.

        The tables that were read longest ago forget their ranges if the sum exceeds `most` bytes.
        """
        with self._lock:
            self._sum += size - self._bytes.pop(table, 0)
            self._bytes[table] = size
            while self._sum > most and len(self._bytes) > 1:
                other, its = self._bytes.popitem(last=False)
                other.forget()
                self._sum -= its


RECENT = RecentRanges()
"""Recent ranges of all tables of the process."""
