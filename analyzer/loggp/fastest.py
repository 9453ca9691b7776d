"""The fastest messages of each kind, and how well their times are known."""

from __future__ import annotations

import numpy as np

BATCHES = 8
_SPREAD = 0x9E3779B97F4A7C15
NEVER = np.iinfo(np.int64).max


class FastestMessages:
    """Smallest time of messages by kind, over all messages and over each eighth of them.

    The difference between the fastest of all messages and the slowest of the eighths' fastest shows how much chance is
    in the time. Eighths are drawn from the times of sending. So they do not follow a rhythm of the program, and all
    processes of a team draw the same.
    """

    def __init__(self) -> None:
        self._row: dict[int, int] = {}
        self._count = np.zeros(0, np.int64)
        self._time = np.zeros((0, BATCHES), np.int64)
        self._size = np.zeros(0, np.int64)

    def add(self, kind: np.ndarray, sent_ns: np.ndarray, size: np.ndarray, time_ns: np.ndarray) -> None:
        """Add messages.

        Args:
            kind: Kind of each message, any int64.
            sent_ns: Time at which each message was sent, ns.
            size: Size of each message in bytes.
            time_ns: Transfer time of each message.
        """
        batch = sent_ns.astype(np.uint64) * np.uint64(_SPREAD) >> np.uint64(61)
        kinds, place, number = np.unique(kind, return_inverse=True, return_counts=True)
        least = np.full(len(kinds), NEVER)
        np.minimum.at(least, place, time_ns)
        fastest, smallest = time_ns == least[place], np.full(len(kinds), NEVER)
        np.minimum.at(smallest, place[fastest], size[fastest])
        rows = self._of(kinds)
        self._choose_sizes(rows, least, smallest)
        self._count[rows] += number
        np.minimum.at(self._time, (rows[place], batch.astype(np.int64)), time_ns)

    def take(self, other: FastestMessages) -> None:
        """Add the messages of another collection."""
        rows = self._of(np.array(list(other._row), np.int64))
        self._choose_sizes(rows, other._time.min(axis=1), other._size)
        self._count[rows] += other._count
        self._time[rows] = np.minimum(self._time[rows], other._time)

    def kinds(self) -> list[int]:
        """Return all kinds that have messages, ascending."""
        return sorted(self._row)

    def count(self, kind: int) -> int:
        """Return the number of messages of a kind."""
        return int(self._count[self._row[kind]])

    def times_ns(self, kind: int) -> np.ndarray:
        """Return the smallest time of each eighth in ns, shape (8,). An eighth without messages has `NEVER`."""
        return self._time[self._row[kind]]

    def size(self, kind: int) -> int:
        """Return the size in bytes of the fastest message. Of several equally fast ones, the smallest size."""
        return int(self._size[self._row[kind]])

    def _of(self, kinds: np.ndarray) -> np.ndarray:
        """Return the row of each kind, and add rows for new kinds. Each kind must be given once."""
        known, new = len(self._row), [kind for kind in kinds.tolist() if kind not in self._row]
        self._row.update(zip(new, range(known, known + len(new)), strict=True))
        self._count, self._size = (np.append(old, np.zeros(len(new), np.int64)) for old in (self._count, self._size))
        self._time = np.vstack([self._time, np.full((len(new), BATCHES), NEVER)])
        return np.array([self._row[kind] for kind in kinds.tolist()], np.int64)

    def _choose_sizes(self, rows: np.ndarray, time_ns: np.ndarray, size: np.ndarray) -> None:
        """Update the size of the fastest message of each row. Of equally fast messages the smallest counts."""
        least = self._time[rows].min(axis=1)
        better = (time_ns < least) | ((time_ns == least) & (size < self._size[rows]))
        self._size[rows[better]] = size[better]
