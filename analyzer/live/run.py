"""A run made ready for looking at any stretch of it: read once, then kept in temporary files."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import cached_property, lru_cache
from threading import RLock

import numpy as np

from analyzer.errors import TracelibError
from analyzer.frames.where import Where
from analyzer.live.intervals import Intervals, waiting
from analyzer.live.messages import Messages
from analyzer.live.rows import By, RowSet, rows_of
from analyzer.metrics.sums import add_all
from analyzer.parallel import Team
from analyzer.timeline.cells import Doing
from analyzer.trace import Trace
from analyzer.waits.find import Search, find
from analyzer.waits.lanes import Lanes

Step = Callable[[str], AbstractContextManager]

_ROW_SETS = 8
"""Choices of rows that are kept."""


class Run:
    """One run. What is taken from temporary files needs no lock; who reads the trace itself holds `reading`."""

    def __init__(self, trace: Trace, step: Step = lambda label: nullcontext()) -> None:
        """Raises TracelibError of a trace that has no times."""
        if not trace.has_call_times:
            raise TracelibError(f"{trace.path} has operations only, no times", "look at the run that it was made of")
        self.trace, self.lanes, self.reading = trace, Lanes(trace), RLock()
        with step("Reading calls"):
            intervals = Intervals(trace, self.lanes)
            add_all(trace, Team(), intervals)
            self._doing, self.calls = intervals.total(Team()), intervals.calls
        with step("Finding wait states"):
            self.waits = find(Search(trace))
            self._doing[Doing.WAITING] = waiting(self.waits, self._doing[Doing.IN_MPI])
        with step("Reading messages"):
            self.messages = Messages(trace)
        self.where = Where(trace, in_iterations=False)
        self.rows = lru_cache(_ROW_SETS)(self._rows)

    def times(self, lanes: np.ndarray, edges: np.ndarray) -> np.ndarray:
        """ns of each Doing between neighbouring edges (ns), int64 of shape (doings, lanes, edges - 1). What is added
        up over neighbours is what is between the outer edges."""
        found = np.stack([self._doing[doing].times(lanes, edges) for doing in Doing])
        found[Doing.IN_MPI] -= found[Doing.WAITING]
        return found

    @cached_property
    def by_rank(self) -> np.ndarray:
        """The same of each rank and the whole run, int64 of shape (doings, ranks)."""
        edges = np.array([0, self.trace.duration_ns])
        of_lanes = self.times(np.arange(len(self.lanes)), edges)[:, :, 0]
        return np.stack([np.bincount(self.lanes.rank, row, self.trace.size) for row in of_lanes]).astype(np.int64)

    def _rows(self, by: By, ranks: str) -> RowSet:
        computing, waited, rest, _ = self.by_rank
        return rows_of(self.trace, self.lanes, by, ranks, (computing, waited + rest, waited))

    def close(self) -> None:
        """Remove temporary files."""
        with self.reading:
            self.trace.close()
