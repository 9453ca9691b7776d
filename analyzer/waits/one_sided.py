"""Waits in one-sided communication: for targets that post late, for origins that complete late, and for locks.

MPI_Win_fence is a collective of the members of its RMA window: the n-th fences of all members belong together.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from analyzer.columns.arrays import Sorted, joined
from analyzer.pairing.collective_calls import CollectiveCalls, sizes
from analyzer.pairing.epochs import EpochReader, Epochs
from analyzer.pairing.parts import RankRows
from analyzer.pairing.requests import gather_blocks
from analyzer.parallel import Team
from analyzer.trace import ACCESS, CALL, Losses, Objects, Trace
from analyzer.waits.kinds import WaitKind
from analyzer.waits.message_candidates import CANDIDATE
from analyzer.waits.threads import Lanes
from tracelib.schema.procedures import FENCES, base_name


def one_sided_candidates(trace: Trace, lanes: Lanes, team: Team) -> np.ndarray:
    """Find possible waits (CANDIDATE) for other ranks in calls on RMA windows. Collective; each member gets all rows.

    Late post: until the target enters MPI_Win_post. Depending on the MPI library, it may happen in any call of the
    epoch: MPI_Win_start, an operation, or MPI_Win_complete. Early wait: until the last origin enters MPI_Win_complete.
    Lock contention: until the holder of another lock, which excludes this lock and was released before it, enters
    MPI_Win_unlock.
    """
    reader = EpochReader(trace)
    if not reader.has_any:
        return np.zeros(0, CANDIDATE)
    parts = team.allgather([reader.of(rank) for rank in trace.share(team)])
    every = Epochs.together([epochs for part in parts for epochs in part])
    return np.concatenate([_epochs(every, lanes), _contention(every.locks, lanes)])


def _epochs(every: Epochs, lanes: Lanes) -> np.ndarray:
    """Build the possible waits (CANDIDATE) for late posts and early waits."""
    access, exposure = every.matched()
    mine, theirs = every.accesses[access], every.exposures[exposure]
    other = lanes.lane_numbers(mine["rank"], mine["thread"]) != lanes.lane_numbers(theirs["rank"], theirs["thread"])
    mine, theirs = mine[other], theirs[other]
    within = (theirs["begin"] > mine["begin"]) & (theirs["begin"] <= mine["end"])
    late = mine[within], theirs[within]
    return np.concatenate(
        [
            _candidates(WaitKind.LATE_POST, lanes, late[0], late[1], late[1]["begin"], late[1]["begin"]),
            _candidates(WaitKind.EARLY_WAIT, lanes, theirs, mine, theirs["end"], mine["last"]),
        ]
    )


def _contention(locks: np.ndarray, lanes: Lanes) -> np.ndarray:
    """Build the possible waits (CANDIDATE) for locks that other ranks held."""
    parts = [np.zeros(0, CANDIDATE)]
    for window in np.unique(locks["window"]).tolist():
        mine = locks[locks["window"] == window]
        for target in np.unique(mine["partner"][mine["exclusive"]]).tolist():
            rows = mine[(mine["partner"] == target) | (mine["partner"] < 0)]
            parts += _waiting_locks(rows[np.argsort(rows["end"], kind="stable")], lanes)
    return np.concatenate(parts)


def _waiting_locks(rows: np.ndarray, lanes: Lanes) -> list[np.ndarray]:
    """Build the possible waits (CANDIDATE) for locks on one target (EPOCH in order of `end`).

    Each lock is compared with the 1st, 2nd, ... lock before it, as long as some lock at that distance was still held
    when the later one was requested.
    """
    found = []
    lane = lanes.lane_numbers(rows["rank"], rows["thread"])
    for step in range(1, len(rows)):
        waits, holds = rows[step:], rows[:-step]
        if not (holds["end"] > waits["begin"]).any():
            break
        excluded = (waits["exclusive"] | holds["exclusive"]) & (lane[step:] != lane[:-step])
        excluded &= holds["last"] > waits["begin"]
        waits, holds = waits[excluded], holds[excluded]
        found.append(_candidates(WaitKind.LOCK_CONTENTION, lanes, waits, holds, holds["last"], holds["last"]))
    return found


def _candidates(
    kind: WaitKind, lanes: Lanes, waits: np.ndarray, causes: np.ndarray, complete: np.ndarray, until: np.ndarray
) -> np.ndarray:
    rows = np.zeros(len(waits), CANDIDATE)
    rows["complete"], rows["until"], rows["first"], rows["posted"] = complete, until, until, waits["begin"]
    rows["lane"], rows["cause"] = (lanes.lane_numbers(of["rank"], of["thread"]) for of in (waits, causes))
    rows["kind"] = int(kind)
    return rows


_ALWAYS = np.iinfo(np.int64).max


def fences(trace: Trace, team: Team) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield the fences of each window of time, in the form of `collectives`.

    `comm` of a row is the index of the RMA window in Objects.known.
    """
    is_fence = np.array([base_name(p) in FENCES for p in trace.procedures], bool)
    if not is_fence.any() or not trace.extra(Objects).has_windows:
        return
    yield from FenceCalls(trace, team, is_fence).by_windows()


class FenceCalls(CollectiveCalls):
    """Matcher of the fences of each RMA window. All members give and take, as in a barrier.

    Fences that were not recorded cannot be counted. So all fences after the first time at which any rank recorded
    nothing are left out.
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
        """Return rows and group unchanged: unlike intercommunicators, an RMA window has one group."""
        return rows, group
