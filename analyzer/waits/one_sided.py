"""Waiting in one-sided communication: for targets that post late, origins that complete late, and locks of others.

Who belongs to the group of MPI_Win_start or MPI_Win_post is not recorded; what is known is which targets the origin's
operations went to. The n-th epoch of an origin with operations on a target belongs to the n-th exposure of that target
if there are as many of both, else to the first exposure that ended after the epoch's completion was begun.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analyzer.metrics.requests import gather_blocks, rank_windows, window_calls
from analyzer.parallel import Team
from analyzer.paraver import ONE_SIDED_OPERATIONS, base_name
from analyzer.trace import ACCESS, Trace
from analyzer.waits.kinds import Kind
from analyzer.waits.lanes import Lanes, Sorted, window_pairs
from analyzer.waits.messages import CANDIDATE

_OPERATION, _START, _COMPLETE, _POST, _WAIT, _LOCK, _UNLOCK = range(7)
_STEPS = {
    "MPI_Win_start": _START,
    "MPI_Win_complete": _COMPLETE,
    "MPI_Win_post": _POST,
    "MPI_Win_wait": _WAIT,
    "MPI_Win_test": _WAIT,
    "MPI_Win_lock": _LOCK,
    "MPI_Win_lock_all": _LOCK,
    "MPI_Win_unlock": _UNLOCK,
    "MPI_Win_unlock_all": _UNLOCK,
}
SYNCHRONIZES = frozenset(_STEPS)
_EXCLUSIVE = 1  # in `detail` of MPI_Win_lock

_SPAN = np.dtype(
    [
        ("window", "<i4"),  # index in Trace.objects
        ("rank", "<i4"),
        ("target", "<i4"),  # world rank; -1: all
        ("lane", "<i4"),
        ("begin", "<i8"),  # enter of MPI_Win_start, _post, _lock
        ("last", "<i8"),  # enter of MPI_Win_complete, _wait, _unlock
        ("end", "<i8"),  # exit of that
        ("exclusive", "?"),
    ]
)
"""An access epoch with operations on a target, an exposure epoch (`target` is the rank itself), or a lock."""


@dataclass(frozen=True)
class _Spans:
    """_SPAN of some ranks."""

    accesses: np.ndarray
    exposures: np.ndarray
    locks: np.ndarray


def one_sided_candidates(trace: Trace, lanes: Lanes, team: Team) -> np.ndarray:
    """CANDIDATE of waits for other sides of windows. The team shares the reading; each member gets all.

    late post: until the target enters MPI_Win_post, in whichever call of the epoch that happens (MPI_Win_start, an
    operation, or MPI_Win_complete, as the MPI has it). Early wait: until the last origin enters MPI_Win_complete. Lock
    contention: until who had a lock that excludes this one, and released it first, enters MPI_Win_unlock.
    """
    reader = _Reader(trace, lanes)
    parts = team.allgather([reader.spans(rank) for rank in team.share(trace.size)])
    every = [spans for part in parts for spans in part]
    accesses, exposures, locks = (
        np.concatenate([np.zeros(0, _SPAN), *(getattr(spans, name) for spans in every)])
        for name in ("accesses", "exposures", "locks")
    )
    return np.concatenate([_epochs(accesses, exposures), _contention(locks)])


class _Reader:
    """Finds the epochs and locks of ranks."""

    def __init__(self, trace: Trace, lanes: Lanes) -> None:
        self._trace, self._lanes = trace, lanes
        names = [base_name(p) for p in trace.procedures]
        steps = [_OPERATION if n in ONE_SIDED_OPERATIONS else _STEPS.get(n, -1) for n in names]
        self._steps = np.array(steps, np.int64)
        self._all = np.array([n.endswith("_all") for n in names], bool)

    def spans(self, rank: int) -> _Spans:
        """Those of one rank."""
        calls, step, window, detail = self._rows(rank)
        found: tuple[list[np.ndarray], ...] = [], [], []
        for one in np.unique(window).tolist():
            mine = np.flatnonzero(window == one)
            rows, steps = calls[mine], step[mine]
            found[0].append(self._accesses(rank, one, rows, steps))
            found[1].append(self._pairs(rank, one, rows[steps == _POST], rows[steps == _WAIT]))
            found[2].append(self._locks(rank, one, rows, steps, detail[mine]))
        return _Spans(*(np.concatenate([np.zeros(0, _SPAN), *parts]) for parts in found))

    def _rows(self, rank: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """CALL of the rank's calls on windows in order of entry, the step, the window and the detail of each."""
        parts = []
        for begin, end in window_pairs(rank_windows(self._trace)):
            calls = window_calls(self._trace, rank, begin, end)
            calls = calls[self._steps[calls["call"]] >= 0]
            rows = gather_blocks(self._trace.accesses(rank, begin, end), ACCESS)
            rows = rows[np.lexsort((rows["enter"], rows["thread"]))]
            at = Sorted(rows["thread"], rows["enter"]).exactly(calls["thread"], calls["enter"])
            known = (at >= 0) & (rows["object"][at] >= 0) if len(rows) else np.zeros(len(calls), bool)
            parts.append((calls[known], rows["object"][at[known]], rows["detail"][at[known]]))
        calls, window, detail = (np.concatenate(column) for column in zip(*parts, strict=True))
        return calls, self._steps[calls["call"]], window, detail

    def _accesses(self, rank: int, window: int, rows: np.ndarray, steps: np.ndarray) -> np.ndarray:
        """For each epoch from start to complete its targets."""
        starts, completes = rows[steps == _START], rows[steps == _COMPLETE]
        spans = self._pairs(rank, window, starts, completes)
        epoch = np.cumsum(steps == _START) - 1
        inside = (steps == _OPERATION) & (np.cumsum(steps == _COMPLETE) == epoch) & (epoch < len(spans))
        inside &= (epoch >= 0) & (rows["peer"] >= 0)
        pairs = np.unique(np.stack([epoch[inside], rows["peer"][inside]]), axis=1)
        found = spans[pairs[0]]
        found["target"] = pairs[1]
        return found

    def _locks(self, rank: int, window: int, rows: np.ndarray, steps: np.ndarray, detail: np.ndarray) -> np.ndarray:
        target = np.where(self._all[rows["call"]], -1, rows["peer"])
        parts = [np.zeros(0, _SPAN)]
        for one in np.unique(target[steps == _LOCK]).tolist():
            locks, unlocks = (np.flatnonzero((steps == kind) & (target == one)) for kind in (_LOCK, _UNLOCK))
            spans = self._pairs(rank, window, rows[locks], rows[unlocks])
            spans["target"], spans["exclusive"] = one, (detail[locks[: len(spans)]] & 3) == _EXCLUSIVE
            parts.append(spans)
        return np.concatenate(parts)

    def _pairs(self, rank: int, window: int, begins: np.ndarray, ends: np.ndarray) -> np.ndarray:
        """Spans from each of some calls to the one that ends it, both in order."""
        count = min(len(begins), len(ends))
        spans = np.zeros(count, _SPAN)
        spans["window"], spans["rank"], spans["target"] = window, rank, rank
        spans["lane"] = self._lanes.of(np.full(count, rank), ends["thread"][:count])
        spans["begin"], spans["last"], spans["end"] = (
            begins["enter"][:count],
            ends["enter"][:count],
            ends["exit"][:count],
        )
        return spans


def _epochs(accesses: np.ndarray, exposures: np.ndarray) -> np.ndarray:
    """CANDIDATE of late posts and early waits."""
    accesses = accesses[np.lexsort((accesses["begin"], accesses["rank"], accesses["target"], accesses["window"]))]
    exposures = exposures[np.lexsort((exposures["begin"], exposures["rank"], exposures["window"]))]
    parts = [np.zeros(0, CANDIDATE)]
    _, first = np.unique(accesses[["window", "target", "rank"]], return_index=True)
    for mine in np.split(accesses, np.sort(first)[1:]) if len(accesses) else ():
        of_target = (exposures["window"] == mine["window"][0]) & (exposures["rank"] == mine["target"][0])
        theirs = exposures[of_target]
        at = np.arange(len(mine)) if len(mine) == len(theirs) else np.searchsorted(theirs["end"], mine["last"])
        known = at < len(theirs)
        mine, theirs = mine[known], theirs[at[known]]
        other = mine["lane"] != theirs["lane"]
        mine, theirs = mine[other], theirs[other]
        within = (theirs["begin"] > mine["begin"]) & (theirs["begin"] <= mine["end"])
        late = mine[within], theirs[within]
        parts.append(_candidates(Kind.LATE_POST, late[0], late[1], late[1]["begin"], late[1]["begin"]))
        parts.append(_candidates(Kind.EARLY_WAIT, theirs, mine, theirs["end"], mine["last"]))
    return np.concatenate(parts)


def _contention(locks: np.ndarray) -> np.ndarray:
    """CANDIDATE of locks that waited for others."""
    parts = [np.zeros(0, CANDIDATE)]
    for window in np.unique(locks["window"]).tolist():
        mine = locks[locks["window"] == window]
        for target in np.unique(mine["target"][mine["exclusive"]]).tolist():
            rows = mine[(mine["target"] == target) | (mine["target"] < 0)]
            parts += _waiting_locks(rows[np.argsort(rows["end"], kind="stable")])
    return np.concatenate(parts)


def _waiting_locks(rows: np.ndarray) -> list[np.ndarray]:
    """CANDIDATE of the locks (_SPAN in order of `end`) of one target: each against the 1st, 2nd, ... before it, as far
    back as any was still held when another was asked for."""
    found = []
    for step in range(1, len(rows)):
        waits, holds = rows[step:], rows[:-step]
        if not (holds["end"] > waits["begin"]).any():
            break
        excluded = (waits["exclusive"] | holds["exclusive"]) & (waits["lane"] != holds["lane"])
        excluded &= holds["last"] > waits["begin"]
        waits, holds = waits[excluded], holds[excluded]
        found.append(_candidates(Kind.LOCK_CONTENTION, waits, holds, holds["last"], holds["last"]))
    return found


def _candidates(
    kind: Kind, waits: np.ndarray, causes: np.ndarray, complete: np.ndarray, until: np.ndarray
) -> np.ndarray:
    rows = np.zeros(len(waits), CANDIDATE)
    rows["complete"], rows["until"], rows["first"], rows["posted"] = complete, until, until, waits["begin"]
    rows["lane"], rows["cause"], rows["kind"] = waits["lane"], causes["lane"], int(kind)
    return rows
