"""The fastest of many messages, kind by kind, and how well that is known."""

from __future__ import annotations

import numpy as np

BATCHES = 8
_SPREAD = 0x9E3779B97F4A7C15
NEVER = np.iinfo(np.int64).max


class Fastest:
    """Least times by kind, of all messages and of each eighth of them.

    What the slowest of the eighths' fastest needs more than the fastest of all says how much of it is luck. The
    eighths are drawn from the times of sending, so that they do not follow a rhythm of the program, and everybody
    who shares the work draws alike.
    """

    def __init__(self) -> None:
        self._row: dict[int, int] = {}
        self._count = np.zeros(0, np.int64)
        self._time = np.zeros((0, BATCHES), np.int64)
        self._size = np.zeros(0, np.int64)

    def add(self, kind: np.ndarray, sent_ns: np.ndarray, size: np.ndarray, time_ns: np.ndarray) -> None:
        """Messages of any kinds (int64): when each was sent, its bytes and what it took."""
        batch = sent_ns.astype(np.uint64) * np.uint64(_SPREAD) >> np.uint64(61)
        order = np.lexsort((size, time_ns, batch, kind))
        kind, batch, size, time_ns = kind[order], batch[order], size[order], time_ns[order]
        first = np.flatnonzero(np.r_[True, (kind[1:] != kind[:-1]) | (batch[1:] != batch[:-1])][: len(kind)])
        number = np.diff(np.r_[first, len(kind)])
        for k, b, t, s, n in zip(kind[first], batch[first], time_ns[first], size[first], number, strict=True):
            self._meet(int(k), int(b), int(t), int(s), int(n))

    def take(self, other: Fastest) -> None:
        """What another has seen."""
        for kind, row in other._row.items():
            mine = self._of(kind)
            self._choose_size(mine, int(other._time[row].min()), int(other._size[row]))
            self._count[mine] += other._count[row]
            self._time[mine] = np.minimum(self._time[mine], other._time[row])

    def kinds(self) -> list[int]:
        """All that were seen."""
        return sorted(self._row)

    def count(self, kind: int) -> int:
        return int(self._count[self._row[kind]])

    def times_ns(self, kind: int) -> np.ndarray:
        """The least time of each eighth; NEVER where it is empty."""
        return self._time[self._row[kind]]

    def size(self, kind: int) -> int:
        """Bytes of the fastest, of several alike the smallest."""
        return int(self._size[self._row[kind]])

    def _of(self, kind: int) -> int:
        if kind not in self._row:
            self._row[kind] = len(self._row)
            self._count = np.append(self._count, 0)
            self._time = np.vstack([self._time, np.full(BATCHES, NEVER)])
            self._size = np.append(self._size, 0)
        return self._row[kind]

    def _choose_size(self, row: int, time_ns: int, size: int) -> None:
        least = int(self._time[row].min())
        if time_ns < least or (time_ns == least and size < self._size[row]):
            self._size[row] = size

    def _meet(self, kind: int, batch: int, time_ns: int, size: int, number: int) -> None:
        row = self._of(kind)
        self._choose_size(row, time_ns, size)
        self._count[row] += number
        self._time[row, batch] = min(int(self._time[row, batch]), time_ns)
