"""Dependences by the synchronization of one-sided communication.

* MPI_Win_fence: nobody ends before the last member enters, but for those that did.
* Post, start, complete, wait: the call of an origin (MPI_Win_start, an operation or MPI_Win_complete) in which it was
  when its target posted waited for that; MPI_Win_wait waits until the last origin has entered MPI_Win_complete. Who is
  an origin of whom shows in the operations.
* Locks: who holds one that excludes another's lets it go with MPI_Win_unlock. The call of the next (MPI_Win_lock, an
  operation, MPI_Win_flush or MPI_Win_unlock) in which it was then waited for that.
"""

from __future__ import annotations

import numpy as np

from analyzer.critical.collectives import FENCE, Groups, joined
from analyzer.critical.dependences import Dependences
from analyzer.critical.epochs import access_epochs, exposures, holds, last_before, last_while_locking
from analyzer.critical.timeline import NOTED, Timeline
from analyzer.metrics.requests import gather_blocks
from analyzer.parallel import Team
from analyzer.paraver import base_name
from analyzer.trace import ACCESS, Trace
from analyzer.waits.fence import FenceCalls
from analyzer.waits.lanes import Sorted


def _names(text: str) -> frozenset[str]:
    return frozenset(f"MPI_{name}" for name in text.split())


OPERATIONS = _names(
    "Put Get Accumulate Get_accumulate Fetch_and_op Compare_and_swap Rput Rget Raccumulate Rget_accumulate"
)
_FLUSHES = _names("Win_flush Win_flush_all Win_flush_local Win_flush_local_all")
_EPOCHS = _names("Win_start Win_complete Win_post Win_wait Win_test Win_lock Win_lock_all Win_unlock Win_unlock_all")
ONE_SIDED = OPERATIONS | _FLUSHES | _EPOCHS | {FENCE}
"""Procedures of which `add_one_sided` needs the whole calls."""


def add_one_sided(found: Dependences, trace: Trace, nodes: Timeline) -> None:
    """Add those of all windows."""
    names = np.array([base_name(p) for p in trace.procedures], object)
    is_one_sided = np.array([n in ONE_SIDED for n in names], bool)
    if not is_one_sided.any():
        return
    rows = _with_windows(trace, nodes.noted[is_one_sided[nodes.noted["call"]]])
    fence = names[rows["call"]] == FENCE
    Groups(found, trace, nodes).add(*joined(trace, rows[fence], FenceCalls(trace, Team(), names == FENCE)))
    waits = _Waits(found, nodes, is_one_sided)
    for window in np.unique(rows["comm"]).tolist():
        of_window = rows[(rows["comm"] == window) & ~fence]
        of_name = names[of_window["call"]]
        waits.add_epochs(of_window, of_name)
        waits.add_locks(of_window, of_name)


def _with_windows(trace: Trace, rows: np.ndarray) -> np.ndarray:
    """The calls (NOTED) on windows, with `comm` the window (index in Trace.objects), `tag` the lock's kind."""
    parts = [np.zeros(0, NOTED)]
    for rank in np.unique(rows["rank"]).tolist():
        mine = rows[rows["rank"] == rank]
        accesses = gather_blocks(trace.accesses(rank), ACCESS)
        accesses = accesses[np.lexsort((accesses["enter"], accesses["thread"]))]
        at = Sorted(accesses["thread"], accesses["enter"]).exactly(mine["thread"], mine["enter"])
        known = at >= 0
        mine, at = mine[known], at[known]
        mine["comm"], mine["tag"] = accesses["object"][at], accesses["detail"][at]
        parts.append(mine[mine["comm"] >= 0])
    return np.concatenate(parts)


class _Waits:
    """Adds what calls on one window after the other waited for."""

    def __init__(self, found: Dependences, nodes: Timeline, is_one_sided: np.ndarray) -> None:
        self._found, self._nodes = found, nodes
        self._is_one_sided = np.append(is_one_sided, [False] * 3)  # for what is no call: negative numbers

    def _add(self, of: np.ndarray, cause: np.ndarray) -> None:
        """The threads of `of` (NOTED) were in calls that waited for these calls (NOTED) of others."""
        source = self._nodes.entered(cause["rank"], cause["thread"], cause["enter"])
        sink = self._nodes.entered(of["rank"], of["thread"], cause["enter"])
        waits = (sink >= 0) & self._is_one_sided[self._nodes.call[sink]]
        self._found.add(np.where(waits, sink, -1), source)

    def add_epochs(self, rows: np.ndarray, names: np.ndarray) -> None:
        """Post, start, complete and wait (NOTED of one window, with their names)."""
        exposed = exposures(rows[names == "MPI_Win_post"], rows[np.isin(names, ("MPI_Win_wait", "MPI_Win_test"))])
        starts, completes = (rows[names == name] for name in ("MPI_Win_start", "MPI_Win_complete"))
        access = access_epochs(starts, completes, rows[np.isin(names, list(OPERATIONS))])
        if not len(exposed.post) or not len(access.complete):
            return
        epoch, exposure = access.matched(exposed)
        complete, wait = access.complete[epoch], exposed.wait[exposure]
        sink = self._nodes.left(wait["rank"], wait["thread"], wait["exit"])
        source = self._nodes.entered(complete["rank"], complete["thread"], complete["enter"])
        self._found.add(sink, source)
        post = exposed.post[exposure]
        during = (access.start["enter"][epoch] <= post["enter"]) & (post["enter"] <= complete["exit"])
        self._add(complete[during], post[during])

    def add_locks(self, rows: np.ndarray, names: np.ndarray) -> None:
        """Locks of each target (NOTED of one window, with their names)."""
        locks, unlocks = (rows[np.isin(names, kind)] for kind in (_LOCKS, _UNLOCKS))
        held = holds(locks, unlocks)
        targets = np.unique(held.target[held.target >= 0])
        for target in targets.tolist():
            mine = held.of(target)
            before = last_before(mine)
            self._add(mine.unlock[before >= 0], mine.unlock[before[before >= 0]])
            before = last_while_locking(mine)
            waits = (before >= 0) & (mine.unlock["enter"][before] >= mine.lock["enter"])
            self._add(mine.lock[waits], mine.unlock[before[waits]])


_LOCKS, _UNLOCKS = ["MPI_Win_lock", "MPI_Win_lock_all"], ["MPI_Win_unlock", "MPI_Win_unlock_all"]
