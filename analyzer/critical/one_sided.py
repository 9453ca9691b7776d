"""Dependences by the synchronization of one-sided communication.

* MPI_Win_fence: a member cannot end before the last member enters; members that did end before are left out.
* Post, start, complete, wait: an origin waits for the post of its target in the call during which that came
  (MPI_Win_start, an operation or MPI_Win_complete). MPI_Win_wait waits until the last origin has entered
  MPI_Win_complete. The groups tell the origins of a target, or in their absence the operations.
* Locks: the holder of a lock that excludes another one releases it with MPI_Win_unlock. The next holder waited for that
  in the call during which it came (MPI_Win_lock, an operation, MPI_Win_flush or MPI_Win_unlock).
"""

from __future__ import annotations

import numpy as np

from analyzer.critical.collectives import CollectiveGroups, joined
from analyzer.critical.dependences import Dependences
from analyzer.critical.thread_nodes import NOTED, NodeTimeline
from analyzer.pairing.epochs import ANY, EpochReader, Epochs, with_windows
from analyzer.pairing.requests import gather_blocks
from analyzer.parallel import Team
from analyzer.trace import ACCESS, Objects, Trace
from analyzer.waits.one_sided import FenceCalls
from tracelib.schema.procedures import FENCES, base_name, is_one_sided


def of_target(locks: np.ndarray, target: int) -> np.ndarray:
    """Return the locks (EPOCH) of one target of an RMA window, in the order in which they were released."""
    mine = locks[(locks["partner"] == target) | (locks["partner"] == ANY)]
    return mine[np.argsort(mine["end"], kind="stable")]


def last_before(held: np.ndarray) -> np.ndarray:
    """Find for each lock the last lock released before it that excludes it; -1: none.

    An exclusive lock excludes all others. A shared lock excludes exclusive locks.

    Args:
        held: Locks of one target (EPOCH), in the order of release.
    """
    return _excluding(held, np.arange(len(held)), np.arange(len(held)))


def last_while_locking(held: np.ndarray) -> np.ndarray:
    """Find for each lock the excluding lock whose release began last before the locking call returned; -1: none.

    The call that releases a lock may last longer than all that the next holder does with its lock.

    Args:
        held: Locks of one target (EPOCH), in the order of release.
    """
    order = np.argsort(held["last"], kind="stable")
    return _excluding(held, order, np.searchsorted(held["last"][order], held["began"], "right"))


def _excluding(held: np.ndarray, order: np.ndarray, count: np.ndarray) -> np.ndarray:
    """Find for each lock, among the first `count` in order, the excluding one whose release began last; -1: none."""
    time = held["last"][order]
    every, exclusive = _latest(time, np.ones(len(order), bool)), _latest(time, held["exclusive"][order])
    at = np.where(held["exclusive"], np.append(-1, every)[count], np.append(-1, exclusive)[count])
    return np.where(at >= 0, order[at], -1) if len(order) else at


def _latest(time: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    """Return for each row the chosen row up to it with the latest time; -1: none."""
    if not len(time):
        return np.zeros(0, np.int64)
    times = np.where(chosen, time, np.iinfo(np.int64).min)
    highest = np.maximum.accumulate(times)
    is_new = chosen & (times == highest) & np.append(True, highest[1:] > highest[:-1])
    return np.maximum.accumulate(np.where(is_new, np.arange(len(time)), -1))


NEEDED = FENCES
"""Procedures whose calls `add_one_sided` needs with all columns (NodeTimeline.noted)."""


def add_one_sided(found: Dependences, trace: Trace, nodes: NodeTimeline) -> None:
    """Add the dependences by synchronization on all RMA windows: fences, epochs and locks."""
    on_windows = np.array([is_one_sided(p) for p in trace.procedures], bool)
    if not on_windows.any() or not trace.extra(Objects).has_windows:
        return
    fences = np.array([base_name(p) in FENCES for p in trace.procedures], bool)
    rows = _with_windows(trace, nodes.noted[fences[nodes.noted["call"]]])
    CollectiveGroups(found, trace, nodes).add(*joined(trace, rows, FenceCalls(trace, Team(), fences)))
    reader = EpochReader(trace)
    epochs = Epochs.together([reader.of(rank) for rank in range(trace.size)])
    waits = _Waits(found, nodes, on_windows)
    waits.add_epochs(epochs)
    for window in np.unique(epochs.locks["window"]).tolist():
        waits.add_locks(epochs.locks[epochs.locks["window"] == window])


def _with_windows(trace: Trace, rows: np.ndarray) -> np.ndarray:
    """Return the calls (NOTED) on RMA windows, with the index of the RMA window in Objects.known as `comm`."""
    parts = [np.zeros(0, NOTED)]
    rows = rows.take(np.argsort(rows["rank"], kind="stable"))
    for mine in np.split(rows, np.flatnonzero(np.diff(rows["rank"])) + 1) if len(rows) else ():
        rank = int(mine["rank"][0])
        at, accesses = with_windows(mine, gather_blocks(trace.extra(Objects).accesses(rank), ACCESS))
        mine = mine[at]
        mine["comm"] = accesses["object"]
        mine = mine[mine["comm"] >= 0]
        parts.append(mine[np.argsort(mine["enter"], kind="stable")])
    return np.concatenate(parts)


class _Waits:
    """Builder of the dependences of calls on RMA windows."""

    def __init__(self, found: Dependences, nodes: NodeTimeline, on_windows: np.ndarray) -> None:
        self._found, self._nodes = found, nodes
        self._on_windows = np.append(on_windows, [False] * 3)  # False for negative numbers, which are no calls

    def _add(self, of: tuple[np.ndarray, np.ndarray], cause: tuple[np.ndarray, np.ndarray], enter: np.ndarray) -> None:
        """Add dependences of calls on RMA windows on calls of other threads.

        Args:
            of: Rank and thread that waited. The call is the one that it was in at `enter`.
            cause: Rank and thread that was waited for.
            enter: When `cause` entered the call that ended the wait, ns.
        """
        source, sink = self._nodes.entered(*cause, enter), self._nodes.entered(*of, enter)
        waits = (sink >= 0) & self._on_windows[self._nodes.call[sink]]
        self._found.add(np.where(waits, sink, -1), source)

    def add_epochs(self, epochs: Epochs) -> None:
        """Add the dependences by post, start, complete and wait."""
        access, exposure = epochs.matched()
        origin, target = epochs.accesses[access], epochs.exposures[exposure]
        sink = self._nodes.left(target["rank"], target["thread"], target["end"])
        self._found.add(sink, self._nodes.entered(origin["rank"], origin["thread"], origin["last"]))
        during = (origin["begin"] <= target["begin"]) & (target["begin"] <= origin["end"])
        origin, target = origin[during], target[during]
        self._add((origin["rank"], origin["thread"]), (target["rank"], target["begin_thread"]), target["begin"])

    def add_locks(self, locks: np.ndarray) -> None:
        """Add the dependences by locks of each target of one RMA window (EPOCH)."""
        for target in np.unique(locks["partner"][locks["partner"] >= 0]).tolist():
            mine = of_target(locks, target)
            before = last_before(mine)
            self._add_lock(mine[before >= 0], "thread", mine[before[before >= 0]])
            before = last_while_locking(mine)
            waits = (before >= 0) & (mine["last"][before] >= mine["begin"])
            self._add_lock(mine[waits], "begin_thread", mine[before[waits]])

    def _add_lock(self, of: np.ndarray, thread: str, cause: np.ndarray) -> None:
        self._add((of["rank"], of[thread]), (cause["rank"], cause["thread"]), cause["last"])
