"""Epochs of windows: between which calls each lasts, and which of different ranks belong together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

EXCLUSIVE = 1
"""In `detail` of the call that locks."""


@dataclass(frozen=True)
class Exposure:
    """Exposure epochs, by rank and time; both arrays are NOTED of the shape (epochs,)."""

    post: np.ndarray
    wait: np.ndarray  # the MPI_Win_wait, or the last MPI_Win_test, that ended it


@dataclass(frozen=True)
class Access:
    """Access epochs, one for each target that an operation in it had; by origin, target and time."""

    target: np.ndarray  # rank
    start: np.ndarray  # NOTED
    complete: np.ndarray  # NOTED

    def matched(self, exposed: Exposure) -> tuple[np.ndarray, np.ndarray]:
        """Indices of epochs, and of the exposures that belong to them: of origin and target each the next that was not
        over when the epoch was completed, and that was posted before this was over."""
        epochs, found = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
        for origin, target in np.unique(np.stack([self.complete["rank"], self.target], axis=1), axis=0).tolist():
            mine = np.flatnonzero((self.complete["rank"] == origin) & (self.target == target))
            there = np.flatnonzero(exposed.post["rank"] == target)
            ends = np.maximum.accumulate(exposed.wait["exit"][there])
            at = np.searchsorted(ends, self.complete["enter"][mine])
            count = np.arange(len(at))
            at = np.maximum.accumulate(at - count) + count  # none twice
            known = at < len(there)
            mine, at = mine[known], there[at[known]]
            posted = exposed.post["enter"][at] <= self.complete["exit"][mine]
            epochs.append(mine[posted])
            found.append(at[posted])
        return np.concatenate(epochs), np.concatenate(found)


@dataclass(frozen=True)
class Holds:
    """Times in which locks are held, in the order in which they were let go of."""

    target: np.ndarray  # rank; -1: of all (MPI_Win_lock_all)
    exclusive: np.ndarray  # bool
    lock: np.ndarray  # NOTED
    unlock: np.ndarray  # NOTED

    def of(self, target: int) -> Holds:
        """Those of one target."""
        mine = (self.target == target) | (self.target < 0)
        return Holds(self.target[mine], self.exclusive[mine], self.lock[mine], self.unlock[mine])


def _by_process(rows: np.ndarray) -> np.ndarray:
    return rows[np.lexsort((rows["enter"], rows["rank"]))]


def _last_not_after(rows: np.ndarray, rank: np.ndarray, time: np.ndarray) -> np.ndarray:
    """The last of the calls `rows` (by process) of each rank entered at these times or before; -1: none."""
    order = np.lexsort((np.append(np.zeros(len(rows)), np.ones(len(rank))), np.append(rows["enter"], time),
                        np.append(rows["rank"], rank)))  # fmt: skip
    last = np.maximum.accumulate(np.where(order < len(rows), order, -1))
    at = np.empty(len(order), np.int64)
    at[order] = last
    at = at[len(rows) :]
    known = at >= 0
    known[known] = rows["rank"][at[known]] == rank[known]
    return np.where(known, at, -1)


def exposures(posts: np.ndarray, ends: np.ndarray) -> Exposure:
    """The epochs that these calls (NOTED of one window) post, and end; those that never ended are left out."""
    posts, ends = _by_process(posts), _by_process(ends)
    of_end = _last_not_after(posts, ends["rank"], ends["enter"])
    last = np.full(len(posts), -1)
    last[of_end[of_end >= 0]] = np.flatnonzero(of_end >= 0)
    return Exposure(posts[last >= 0], ends[last[last >= 0]])


def access_epochs(starts: np.ndarray, completes: np.ndarray, operations: np.ndarray) -> Access:
    """The epochs that these calls (NOTED of one window) start and complete, for each target of operations in them."""
    starts, completes = _by_process(starts), _by_process(completes)
    of_complete = _last_not_after(starts, completes["rank"], completes["enter"])
    starts, completes = starts[of_complete[of_complete >= 0]], completes[of_complete >= 0]
    at = _last_not_after(starts, operations["rank"], operations["enter"])
    inside = (at >= 0) & (operations["peer"] >= 0)
    inside[inside] = operations["enter"][inside] < completes["enter"][at[inside]]
    pairs = np.unique(np.stack([at[inside], operations["peer"][inside]], axis=1), axis=0)
    return Access(pairs[:, 1], starts[pairs[:, 0]], completes[pairs[:, 0]])


def holds(locks: np.ndarray, unlocks: np.ndarray) -> Holds:
    """What these calls (NOTED of one window, `tag` the kind of lock) hold: the n-th lock of a rank and target ends with
    its n-th unlock."""
    locks, unlocks = (rows[np.lexsort((rows["enter"], rows["peer"], rows["rank"]))] for rows in (locks, unlocks))
    at = _nth(unlocks, locks)
    locks, unlocks = locks[at[at >= 0]], unlocks[at >= 0]
    order = np.argsort(unlocks["exit"], kind="stable")
    exclusive = (locks["tag"] & 3) == EXCLUSIVE
    return Holds(unlocks["peer"][order], exclusive[order], locks[order], unlocks[order])


def _nth(rows: np.ndarray, others: np.ndarray) -> np.ndarray:
    """For the n-th row of each rank and peer the n-th of others; -1: there is none. Both are sorted so."""
    keys = [r["rank"].astype(np.int64) << 32 | (r["peer"] + 1) for r in (rows, others)]
    first, there = np.searchsorted(keys[0], keys[0]), np.searchsorted(keys[1], keys[0])
    at = there + np.arange(len(rows)) - first
    known = at < len(others)
    known[known] = keys[1][at[known]] == keys[0][known]
    return np.where(known, at, -1)


def last_before(held: Holds) -> np.ndarray:
    """Of those let go of before, the one that was last and that excludes each; -1: none. An exclusive lock excludes all
    others, a shared one those that are exclusive."""
    return _excluding(held, np.arange(len(held.unlock)), np.arange(len(held.unlock)))


def last_while_locking(held: Holds) -> np.ndarray:
    """The same of those whose holders began to let go before the call that locks returned: the call in which they do so
    may last longer than all that the next one does with its lock."""
    order = np.argsort(held.unlock["enter"], kind="stable")
    return _excluding(held, order, np.searchsorted(held.unlock["enter"][order], held.lock["exit"], "right"))


def _excluding(held: Holds, order: np.ndarray, count: np.ndarray) -> np.ndarray:
    """Of the first so many in this order, the one that excludes each and began last to be let go of; -1: none."""
    time = held.unlock["enter"][order]
    every, exclusive = _latest(time, np.ones(len(order), bool)), _latest(time, held.exclusive[order])
    at = np.where(held.exclusive, np.append(-1, every)[count], np.append(-1, exclusive)[count])
    return np.where(at >= 0, order[at], -1) if len(order) else at


def _latest(time: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    """Up to each row the chosen one with the latest time; -1: none."""
    if not len(time):
        return np.zeros(0, np.int64)
    times = np.where(chosen, time, np.iinfo(np.int64).min)
    highest = np.maximum.accumulate(times)
    is_new = chosen & (times == highest) & np.append(True, highest[1:] > highest[:-1])
    return np.maximum.accumulate(np.where(is_new, np.arange(len(time)), -1))
