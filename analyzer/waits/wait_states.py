"""Search for all wait states of a run, in calls for messages, collectives, RMA windows and fences."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain

import numpy as np

from analyzer.columns.arrays import joined
from analyzer.columns.rows import Rows, to_first
from analyzer.columns.spill import Spill
from analyzer.pairing.epochs import SYNCHRONIZES
from analyzer.pairing.parts import Pieces
from analyzer.parallel import Team
from analyzer.trace import Trace
from analyzer.waits.collective import collective_waits, fence_waits, nonblocking_candidates, persistent_candidates
from analyzer.waits.kinds import WAIT
from analyzer.waits.message_candidates import CANDIDATE, add_messages, append_by_window
from analyzer.waits.one_sided import one_sided_candidates
from analyzer.waits.point_to_point import BEGIN_SENDS, message_waits, partitioned_candidates
from analyzer.waits.synchronization import SYNC, add_syncs_of_calls
from analyzer.waits.threads import ClockErrors, Lanes, UncountedWaits
from tracelib.schema.procedures import (
    BLOCKING_COLLECTIVES,
    FENCES,
    HANDED_OVER,
    NONBLOCKING_COLLECTIVES,
    PERSISTENT_COLLECTIVES,
    PROBES,
    base_name,
)

_AT_ONCE = 1 << 16
"""Number of waits that members of a team exchange at a time; more if one rank has more."""

_OTHERS = (
    (nonblocking_candidates, NONBLOCKING_COLLECTIVES),
    (persistent_candidates, PERSISTENT_COLLECTIVES),
    (one_sided_candidates, SYNCHRONIZES),
    (partitioned_candidates, HANDED_OVER),
)
"""Searches for possible waits other than for messages; each with the procedures without which there are none."""


NOT_FOR_MESSAGES = BLOCKING_COLLECTIVES | FENCES
"""Procedures that need not be searched if only waits for messages matter.

Procedures on RMA windows are not among them. They must be searched, because their waits tell to which call earlier
failing polls belong.
"""


class WaitSearch:
    """Search for the wait states of a trace, whose work a team shares.

    Each member finds the waits of some threads, of any ranks. All members must take all arrays of `parts`; each member
    has the same number of them. The attributes `syncs`, `completion_ns` and `uncounted` are complete when all have been
    taken.
    """

    def __init__(
        self, trace: Trace, team: Team | None = None, *, with_syncs: bool = False, used: frozenset[str] | None = None
    ) -> None:
        """Prepare a search.

        Args:
            trace: The trace.
            team: The processes that share the work. None: this process alone.
            with_syncs: True: also find the times when threads were in step.
            used: Only waits in calls of these procedures are searched. None: all procedures.
        """
        self.trace, self.lanes, self.windows = trace, Lanes(trace), trace.message_windows()
        self.team = team or Team()
        self._used = frozenset(base_name(p) for p in (trace.procedures if used is None else used))
        self.syncs = Spill(SYNC) if with_syncs else None  # SYNC rows by number of the window of their key
        self.completion_ns = np.zeros((2, trace.size), np.int64)  # ns in barriers, N-to-N after the first left
        self.uncounted = UncountedWaits()

    def close(self) -> None:
        """Remove the temporary files."""
        if self.syncs:
            self.syncs.close()

    def parts(self) -> Iterator[np.ndarray]:
        """Yield all wait states (WAIT), array by array, in any order.

        Waits shorter than the error of the clocks are left out.
        """
        clocks = ClockErrors(self.trace, self.lanes)
        for waits in chain(self._in_completions(), self._in_collectives(), self._in_fences()):
            counted, short = clocks.split(waits)
            self.uncounted += short
            yield counted

    def _in_completions(self) -> Iterator[np.ndarray]:
        """Find waits in calls that complete messages and other operations, and in calls on RMA windows."""
        ranks = self.trace.share(self.team)
        mine = range(int(self.lanes.first[ranks.start]), int(self.lanes.first[ranks.stop]))
        candidates, pieces = Spill(CANDIDATE), Pieces(self.trace, ranks)
        probes = not self._used.isdisjoint(PROBES)
        add_messages(self.trace, self.lanes, mine, pieces, candidates, probes=probes)
        for search, procedures in _OTHERS:
            if not self._used.isdisjoint(procedures):
                rows = search(self.trace, self.lanes, self.team)
                rows = rows.compress((rows["lane"] >= mine.start) & (rows["lane"] < mine.stop))
                pieces.put_aside(candidates, rows, self.lanes.rank[rows["lane"]], rows["complete"])
        begins_sends = not self._used.isdisjoint(BEGIN_SENDS)
        yield from message_waits(self.trace, self.lanes, pieces, candidates, begins_sends=begins_sends)
        candidates.close()

    def _in_collectives(self) -> Iterator[np.ndarray]:
        if self.syncs:
            pieces = Pieces(self.trace, self.trace.share(self.team))
            add_syncs_of_calls(self.trace, self.lanes, pieces, self.windows, self.syncs)
        if self._used.isdisjoint(BLOCKING_COLLECTIVES):
            return
        for one in collective_waits(self.trace, self.lanes, self.team):
            if self.syncs:
                append_by_window(self.syncs, one.syncs, one.syncs["key"], self.windows)
            self.completion_ns += one.completion
            yield one.waits

    def _in_fences(self) -> Iterator[np.ndarray]:
        if not self._used.isdisjoint(FENCES):
            yield from fence_waits(self.trace, self.lanes, self.team)


@dataclass(frozen=True)
class WaitStates:
    """The wait states of `ranks`, in a temporary file (WAIT, by lane, then by time)."""

    search: WaitSearch
    rows: Rows
    lane_first: np.ndarray  # (lanes + 1,) index of the first wait of each lane
    ranks: range

    @property
    def waits(self) -> np.ndarray:
        """Return all wait states as an array that maps the file."""
        return self.rows.mapped()

    def syncs(self, window: int) -> np.ndarray:
        """Return the SYNC rows whose key is in window number `window`. Collective.

        The first member of the team gets the rows of all members, the others get none.
        """
        if self.search.syncs is None:
            raise ValueError("the search was made without syncs")
        return to_first(self.search.syncs.read(window), self.search.team)


def find_wait_states(search: WaitSearch) -> WaitStates:
    """Find all wait states of a search, and sort them by lane and time. Collective.

    Each member of the team gets the waits of the ranks that it reads (`Trace.share`).
    """
    by_rank, ranks = Spill(WAIT), search.trace.share(search.team)
    for waits in search.parts():
        by_rank.append_each(search.lanes.rank[waits["lane"]], waits)
    sorted_, count = Rows(WAIT), np.zeros(len(search.lanes) + 1, np.int64)
    for rank, rows in _of_ranks(by_rank, ranks, search.team):
        sorted_.append(rows.take(np.lexsort((rows["enter"], rows["lane"]))))
        first, last = search.lanes.first[rank : rank + 2].tolist()
        count[1 + first : 1 + last] = np.bincount(rows["lane"] - first, minlength=last - first)
    by_rank.close()
    return WaitStates(search, sorted_, np.cumsum(count), ranks)


def _of_ranks(by_rank: Spill, ranks: range, team: Team) -> Iterator[tuple[int, np.ndarray]]:
    """Yield each rank of `ranks` with its waits from all members. Collective.

    Several ranks are exchanged at a time, as often as the member with the most ranks needs.
    """
    most = max((sum(count for _, count in extents) for extents in by_rank.extents.values()), default=0)
    shares, found = zip(*team.allgather((ranks, most)), strict=True)
    at_once = max(_AT_ONCE // max(*found, 1), 1)
    for first in range(0, max(map(len, shares)), at_once):
        parts = [[by_rank.read(rank) for rank in share[first : first + at_once]] for share in shares]
        for rank, *of_all in zip(ranks[first : first + at_once], *team.alltoall(parts), strict=True):
            yield rank, joined(of_all, WAIT)
