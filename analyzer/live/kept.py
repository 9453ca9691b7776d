"""Tiles that have been made, those that were asked for last."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock

MOST_BYTES = 64 << 20


class Kept:
    """What a function makes of keys, so that it is not made again soon. Several threads may ask."""

    def __init__(self, make: Callable[..., bytes], most_bytes: int = MOST_BYTES) -> None:
        self._make, self._most = make, most_bytes
        self._kept: OrderedDict[Hashable, bytes] = OrderedDict()
        self._bytes, self._lock = 0, Lock()

    def get(self, key: Hashable) -> bytes:
        """Of a key, made now unless it is there."""
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
        made = self._make(key)
        with self._lock:
            if key not in self._kept:
                self._kept[key] = made
                self._bytes += len(made)
            while self._bytes > self._most:
                self._bytes -= len(self._kept.popitem(last=False)[1])
        return made

    @property
    def bytes(self) -> int:
        """Of all that is kept."""
        return self._bytes
