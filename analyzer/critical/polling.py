"""Polling as waiting: calls that ask repeatedly whether something has come are one wait, up to the poll that succeeds.

A rank file has consecutive failing polls as one row with their `count` (10 us between two polls end the row), and the
poll that succeeds as a call. A program that asks in turns (MPI_Iprobe, MPI_Testany) has a row for each turn.
"""

from __future__ import annotations

import numpy as np

from analyzer.pairing.requests import gather_blocks
from analyzer.trace import REQUEST, Trace
from tracelib.schema.procedures import ASKS, POLLS, PROBES, WAITS, WINDOW_WAITS, base_name

DONE = np.dtype(
    [("enter", "<i8"), ("exit", "<i8"), ("over", "<i8"), ("tracer", "<i8"), ("call", "<i4"), ("failed", "<i4")]
)
"""Call for building nodes (columns as in CALL). `over`: when the thread left MPI.

`failed`: failing polls in the call.
"""

POLL_GAP_NS = 10_000
"""Largest time (ns) between two polls of one wait, for each poll that failed in a row before or after it.

A thread that asks a thousand times has nothing else to do, but may lose the CPU, or sleep before it asks again.
"""


_SILENT = POLLS - ASKS
"""Procedures for which a trace does not say whether they found anything."""
_ENDS = POLLS | WAITS | PROBES | WINDOW_WAITS


class Polls:
    """Finder of the failing polls of a trace, and of the polls that belong to one wait."""

    def __init__(self, trace: Trace, gap_ns: int = POLL_GAP_NS) -> None:
        self._trace, self._gap = trace, gap_ns
        names = [base_name(p) for p in trace.procedures]
        self._asks, self._silent, self._ends = (
            np.array([n in kind for n in names], bool) for kind in (ASKS, _SILENT, _ENDS)
        )
        self._there = not _ENDS.isdisjoint(names)

    def asking_mask(self, calls: np.ndarray) -> np.ndarray:
        """Return a mask of the calls (CALL) that ask whether something has come.

        Only such calls can be failing polls.
        """
        return self._asks[calls["call"]] | self._silent[calls["call"]]

    def failed(self, rank: int, calls: np.ndarray) -> np.ndarray:
        """Return the number of failing polls in each call; 0: the call succeeded, or is no poll.

        A failing poll returns nothing and completes no operation.

        Args:
            rank: Rank of the calls.
            calls: Any calls of the rank (CALL).
        """
        found = np.zeros(len(calls), np.int64)
        if not self._there:
            return found
        asks, silent = self._asks[calls["call"]], self._silent[calls["call"]]
        failed = (asks & (calls["count"] > 1)) | silent
        unsure = np.flatnonzero(asks & ~failed & (calls["comm"] < 0))
        if len(unsure):
            failed[unsure] = ~np.isin(calls["exit"][unsure], self._completions(rank, calls["exit"][unsure]))
        return np.where(failed, calls["count"], 0)

    def _completions(self, rank: int, exits: np.ndarray) -> np.ndarray:
        """Return the times at which operations of a rank were completed, from the first to the last exit."""
        rows = gather_blocks(self._trace.requests(rank, int(exits.min()), int(exits.max()) + 1), REQUEST)
        return rows["completed"]

    def as_waits(self, calls: np.ndarray, lost: np.ndarray) -> np.ndarray:
        """Join failing polls with the call that follows them, if that comes soon enough: the last call gives the name.

        In a prediction nothing is joined: only calls that complete something wait, and the time between polls is
        computing.

        Args:
            calls: Calls of one thread (DONE).
            lost: Times of the thread that are not the program's (FLUSH). They do not count as time between polls.
        """
        failed = calls["failed"] > 0
        if self._trace.origin.predicted or not failed.any():
            return calls
        before = np.concatenate([[0], np.cumsum(lost["end"] - lost["begin"])])
        lost_until = before[np.searchsorted(lost["end"], calls["enter"], "right")]
        asks_on = failed[:-1] & self._ends[calls["call"][1:]]
        gap = calls["enter"][1:] - calls["exit"][:-1] - np.diff(lost_until)
        first, last = _runs(asks_on & (gap <= self._gap))
        count = np.append(np.add.reduceat(calls["failed"], first, dtype=np.int64), 0)
        pause = self._gap * np.maximum(count[:-1], count[1:])
        first, last = _runs(asks_on & (gap <= np.repeat(pause, last - first + 1)[:-1].clip(min=self._gap)))
        waits = calls[last]
        waits["enter"] = calls["enter"][first]
        waits["over"] = np.where(first < last, waits["exit"], waits["over"])
        return waits


def _runs(goes_on: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the first and the last row of each sequence of rows that belong together.

    `goes_on`: bool for each row but the last, True if it belongs together with the next row.
    """
    first = np.flatnonzero(np.append(True, ~goes_on))
    return first, np.append(first[1:] - 1, len(goes_on))
