"""MPI_Win_fence as a collective of the members of its window: the n-th of each on the window is one."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from analyzer.columns.arrays import Sorted, joined
from analyzer.pairing.collective_calls import CollectiveCalls, sizes
from analyzer.pairing.parts import RankRows
from analyzer.pairing.requests import gather_blocks
from analyzer.parallel import Team
from analyzer.trace import ACCESS, CALL, Losses, Objects, Trace
from tracelib.schema.procedures import FENCES, base_name

_ALWAYS = np.iinfo(np.int64).max


def fences(trace: Trace, team: Team) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """The fences as `collectives` gives collectives; `comm` is the window's index in Objects.known."""
    is_fence = np.array([base_name(p) in FENCES for p in trace.procedures], bool)
    if not is_fence.any() or not trace.extra(Objects).has_windows:
        return
    yield from FenceCalls(trace, team, is_fence).by_windows()


class FenceCalls(CollectiveCalls):
    """Brings fences together by window instead of communicator. All members give and take, as in a barrier.

    Fences that were not recorded are not counted either: after the first time in which a rank recorded nothing, nothing
    is known of them.
    """

    def __init__(self, trace: Trace, team: Team, is_fence: np.ndarray) -> None:
        super().__init__(trace, team)
        gaps = (trace.extra(Losses).unrecorded(rank)["begin"] for rank in range(trace.size))
        self._counts_until = min((int(begin.min()) for begin in gaps if len(begin)), default=_ALWAYS)
        self._counted = self._barriers = is_fence
        members = [trace.communicators[o.comm] if o.comm >= 0 else None for o in trace.extra(Objects).known]
        self._sizes = sizes(trace, members)

    def _calls(self, ranks: range, begin: int, end: int) -> RankRows:
        every = [joined(list(self._of_rank(rank, begin, end)), CALL) for rank in ranks]
        return RankRows.of(ranks, joined(every, CALL), np.array(list(map(len, every))))

    def _of_rank(self, rank: int, begin: int, end: int) -> Iterator[np.ndarray]:
        accesses = gather_blocks(self._trace.extra(Objects).accesses(rank, begin, end), ACCESS)
        accesses = accesses[accesses["object"] >= 0]
        accesses = accesses[np.lexsort((accesses["enter"], accesses["thread"]))]
        find = Sorted(accesses["thread"], accesses["enter"])
        for calls in self._trace.calls(rank, begin, end):
            fences = calls[self._counted[calls["call"]] & (calls["enter"] < self._counts_until)]
            at = find.exactly(fences["thread"], fences["enter"])
            fences["comm"] = np.where(at >= 0, accesses["object"][at], -1) if len(accesses) else -1
            yield fences

    def _each_way(self, rows: np.ndarray, group: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """A window has one group."""
        return rows, group
