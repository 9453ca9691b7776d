"""The program's own events among its operations: regions as Extrae's user functions, and its other events.

Dimemas hands them on to the trace of the replay, and can make the time inside a region shorter or longer ("modules
information" of its configuration names type and value).
"""

from __future__ import annotations

import numpy as np

from analyzer.columns.sorted_runs import sort_rows
from analyzer.trace import EVENT, Regions, Trace
from analyzer.trace.region_labels import is_of_region

PROGRAM_EVENT = np.dtype([("time", "<i8"), ("type", "<i8"), ("value", "<i8"), ("at", "<i8"), ("thread", "<i8")])
"""`struct program_event` of the kernel."""

NO_EVENTS = np.zeros(0, EVENT)
_NOTHING = np.zeros(0, PROGRAM_EVENT)

_IDLE = 0
"""Type of the events with which Dimemas marks blocks in which a task is idle: no program can have it."""


class ProgramEvents:
    """Events of one rank's program, read window by window.

    The threads of a rank are one sequence in a Dimemas trace, in which the regions of several threads would not nest.
    So only the main thread's events count, in replays too.
    """

    def __init__(self, trace: Trace, rank: int, added: np.ndarray) -> None:
        """Read the events. added: EVENT of all ranks in order of time, which the trace does not have."""
        self._trace, self._rank, self._last = trace, rank, trace.span(rank)[1]
        self._added = added[added["rank"] == rank] if len(added) else added
        self.left_out = 0

    def window(self, window: tuple[int, int]) -> np.ndarray:
        """Return PROGRAM_EVENT in order of time; for a process that died, none after its last call."""
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
