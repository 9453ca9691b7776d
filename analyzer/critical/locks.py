"""Which lock another one waited for."""

from __future__ import annotations

import numpy as np

from analyzer.pairing.epochs import ANY


def of_target(locks: np.ndarray, target: int) -> np.ndarray:
    """Locks (EPOCH) of one target of a window, in the order in which they were let go of."""
    mine = locks[(locks["partner"] == target) | (locks["partner"] == ANY)]
    return mine[np.argsort(mine["end"], kind="stable")]


def last_before(held: np.ndarray) -> np.ndarray:
    """Of those let go of before, the one that was last and that excludes each; -1: none. An exclusive lock excludes all
    others, a shared one those that are exclusive."""
    return _excluding(held, np.arange(len(held)), np.arange(len(held)))


def last_while_locking(held: np.ndarray) -> np.ndarray:
    """The same of those whose holders began to let go before the call that locks returned: the call in which they do so
    may last longer than all that the next one does with its lock."""
    order = np.argsort(held["last"], kind="stable")
    return _excluding(held, order, np.searchsorted(held["last"][order], held["began"], "right"))


def _excluding(held: np.ndarray, order: np.ndarray, count: np.ndarray) -> np.ndarray:
    """Of the first so many in this order, the one that excludes each and began last to be let go of; -1: none."""
    time = held["last"][order]
    every, exclusive = _latest(time, np.ones(len(order), bool)), _latest(time, held["exclusive"][order])
    at = np.where(held["exclusive"], np.append(-1, every)[count], np.append(-1, exclusive)[count])
    return np.where(at >= 0, order[at], -1) if len(order) else at


def _latest(time: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    """Up to each row the chosen one with the latest time; -1: none."""
    if not len(time):
        return np.zeros(0, np.int64)
    times = np.where(chosen, time, np.iinfo(np.int64).min)
    highest = np.maximum.accumulate(times)
    is_new = chosen & (times == highest) & np.append(True, highest[1:] > highest[:-1])
    return np.maximum.accumulate(np.where(is_new, np.arange(len(time)), -1))
