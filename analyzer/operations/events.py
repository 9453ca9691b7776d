"""Events of the program among its operations: regions as Extrae's user functions, and all other events.

Dimemas passes them on to the trace of the replay. It can also scale the time inside a region ("modules information" of
its configuration names type and value).
"""

from __future__ import annotations

import numpy as np

from analyzer.columns.sorted_runs import sort_rows
from analyzer.trace import EVENT, Regions, Trace
from analyzer.trace.region_labels import is_of_region

PROGRAM_EVENT = np.dtype([("time", "<i8"), ("type", "<i8"), ("value", "<i8"), ("at", "<i8"), ("thread", "<i8")])
"""Event of the program for the kernel: `struct program_event`."""

NO_EVENTS = np.zeros(0, EVENT)
_NOTHING = np.zeros(0, PROGRAM_EVENT)

_IDLE = 0
"""Type of the events with which Dimemas marks idle time of a task. A program's events of this type are left out."""


class ProgramEvents:
    """Events of one rank's program, read window by window.

    The threads of a rank are one sequence in a Dimemas trace, where regions of several threads would not nest. So only
    the main thread's regions count, in replays too.
    """

    def __init__(self, trace: Trace, rank: int, added: np.ndarray) -> None:
        """Prepare reading. `added`: more events (EVENT) of all ranks, in order of time."""
        self._trace, self._rank, self._last = trace, rank, trace.span(rank)[1]
        self._added = added[added["rank"] == rank] if len(added) else added
        self.left_out = 0

    def window(self, window: tuple[int, int]) -> np.ndarray:
        """Return the events (PROGRAM_EVENT) of a window in order of time.

        Times after the rank's last record are set to it.
        """
        rows = self._trace.extra(Regions).events(self._rank, *window)
        if len(self._added):
            more = self._added[slice(*np.searchsorted(self._added["time"], window))]
            rows = sort_rows(np.concatenate([rows, more]), "time") if len(more) else rows
        if not len(rows):
            return _NOTHING
        idle = rows["type"] == _IDLE
        self.left_out += int(np.count_nonzero(idle))
        rows = rows[~idle & ((rows["thread"] == 0) | ~is_of_region(rows["type"]))]
        found = np.full(len(rows), -1, PROGRAM_EVENT)
        found["time"] = np.minimum(rows["time"], self._last)
        for column in ("type", "value", "thread"):
            found[column] = rows[column]
        return found
