"""Readers of many ranks at once, and operations that remove rows from all that is read."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import TypeVar

import numpy as np

from analyzer.recording.matching.cut_off import leave_out_collectives, leave_out_messages
from analyzer.recording.run.cuts import Lanes
from analyzer.recording.thread_records.stored import StoredThreads
from analyzer.recording.thread_records.windowed import WindowedThreads
from analyzer.trace import Trace
from analyzer.trace.read_sizes import ReadSizes

Found = TypeVar("Found")


class ThreadReaders:
    """Readers of the threads of all ranks of a run.

    This is the only part of an opened run that changes what is read: after a call of `leave_out`, some rows count as
    calls without a partner. The readers, which may remember facts about these rows, are then replaced.
    """

    def __init__(self, lanes: Lanes, size: int, sizes: ReadSizes) -> None:
        self._lanes, self._size, self._sizes = lanes, size, sizes
        self._lock = Lock()
        self._readers = self._made()

    @property
    def stored(self) -> StoredThreads:
        """Reader of calls and requests of threads whose rows kernels read in the files."""
        return self._readers[0]

    @property
    def windowed(self) -> WindowedThreads:
        """Reader of states and events."""
        return self._readers[1]

    def _made(self) -> tuple[StoredThreads, WindowedThreads]:
        stored = StoredThreads(self._lanes, self._size, self._sizes)
        return stored, WindowedThreads(self._lanes, self._size, stored)

    def leave_out(self, trace: Trace, halves: np.ndarray) -> None:
        """Let sends and receives without other side (CUT_OFF) count as calls without a partner."""
        if len(halves):
            self._changed(lambda: leave_out_messages(trace, self._lanes, halves))

    def leave_out_collectives(self, trace: Trace, unfinished: np.ndarray) -> tuple[int, set[int]]:
        """Leave out collectives that not all members made (cut_off.py).

        Args:
            trace: The run.
            unfinished: bool by rank: True if it did not end in order.

        Returns:
            Number of calls that were left out, and the ranks that did not make them.
        """
        return self._changed(lambda: leave_out_collectives(trace, self._lanes, unfinished))

    def _changed(self, change: Callable[[], Found]) -> Found:
        with self._lock:
            found = change()
            self._readers = self._made()
        return found
