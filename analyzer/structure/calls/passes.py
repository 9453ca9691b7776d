"""Test whether the stretches between the occurrences of a call are passes of one loop.

They must make the same calls.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import lgamma

import numpy as np

from analyzer.structure.calls.candidates import LoopCandidate

MOST_PASSES = 96
"""Largest number of stretches that are compared. They are spread evenly over all stretches."""
REGULAR = 0.7
"""Smallest share of calls that a stretch of a loop must have in common with the typical stretch."""
REGULAR_ALONE = 0.78
"""The limit REGULAR for a candidate of a single call: a few calls in random order reach a share below this."""
GROUP = 4
"""Smallest number of successive calls that form a group."""
IN_ORDER, FEW = 0.3, 24
"""IN_ORDER: smallest share of groups that a stretch must have in common with the next one. FEW: number of pairs.

Any long stretches of random calls have equal numbers of each call, so the order must be tested, too."""
SAME_PLACE = 0.6
"""Smallest share of usual stretches, in the usual order, if the candidate is one place of a program.

Now and then other calls follow the place."""
SAME_KINDS = 0.75
"""Smallest share of symbols that stretches must have in common if the number of inner passes varies."""
LN_ORDERS = 25.0
"""Smallest logarithm of the number of possible orders of calls from which on it is no chance that they take turns."""
EXPLAINED = 0.7
"""Smallest share of the differences from the typical stretch, in calls, that inner loops must explain."""


@dataclass(frozen=True)
class LoopPasses:
    """Stretches between the occurrences of a call, and how alike they are. Symbols are numbers of the sequence's calls.

    Attributes:
        at: Index of the call at which each stretch begins, int64 of shape (count,).
        slots: Number of calls of the candidate that take turns.
        context: Number of successive calls by which the candidate's calls are told apart.
        typical: How often the median stretch has each symbol, int64 of shape (symbols,).
        regularity: Calls that a stretch has in common with the typical one / calls of either, 0 to 1.
        kinds: The same share for symbols in place of calls.
        order: Share of groups of successive calls that a stretch has in common with the next one.
        varying: Mask of the symbols whose number differs between stretches, shape (symbols,).
        off: Sum over stretches of |number of each symbol - its number in the typical one|, shape (symbols,).
    """

    at: np.ndarray  # int64 (count,): where the stretches begin
    slots: int
    context: int
    typical: np.ndarray  # int64 (symbols,): how often the median stretch has each
    regularity: float  # calls that a stretch has in common with the typical one, of all of both
    kinds: float  # the same of symbols
    order: float  # the same of groups of calls in a row, from one stretch to the next
    varying: np.ndarray  # bool (symbols,): whose number differs from stretch to stretch
    off: np.ndarray  # (symbols,): how many more or fewer of each the stretches have than the typical one

    @property
    def count(self) -> int:
        """Number of stretches."""
        return len(self.at)

    @cached_property
    def length(self) -> int:
        """Number of calls in a stretch, median."""
        return int(np.median(np.diff(self.at))) if len(self.at) > 1 else 1

    @property
    def is_regular(self) -> bool:
        """True if stretches make the same calls equally often: by IN_ORDER, and by REGULAR or REGULAR_ALONE."""
        return self.order >= IN_ORDER and self.regularity >= (REGULAR if self.slots > 1 else REGULAR_ALONE)

    @property
    def is_alike(self) -> bool:
        """True if stretches make the same calls, equally often or not (SAME_KINDS)."""
        return self.is_regular or self.kinds >= SAME_KINDS

    @property
    def is_of_a_place(self) -> bool:
        """True if stretches are passes, in a sequence whose calls are told apart by their path.

        The candidate's calls take turns; or the candidate is one call, and other calls follow in the same order most
        of the
        time (SAME_PLACE).
        """
        has_order = self.context == 1 and self.length >= GROUP
        return self.takes_turns or (has_order and min(self.order, self.regularity) >= SAME_PLACE)

    @property
    def takes_turns(self) -> bool:
        """True if so many different calls would hardly take turns as often in a random order (LN_ORDERS)."""
        orders = lgamma(self.slots * self.count + 1) - self.slots * lgamma(self.count + 1) - lgamma(self.slots + 1)
        return self.context == 1 and bool(orders > LN_ORDERS)

    def is_regular_around(self, inner: list[LoopPasses]) -> bool:
        """Return True if stretches are regular apart from inner loops, whose number of passes varies."""
        if self.order < IN_ORDER or self.kinds < SAME_KINDS or not (self.typical.astype(bool) & ~self.varying).any():
            return False
        made = np.zeros(len(self.typical), bool)
        for loop in inner:
            if loop.count > 2 * self.count and self.at[0] - loop.length <= loop.at[-1] and loop.at[0] <= self.at[-1]:
                made |= loop.typical > 0
        own = self.typical.astype(bool) & ~self.varying
        has_own = bool(self.varying.any() or (own & ~made).any())
        return has_own and self.off[made].sum() >= EXPLAINED * self.off.sum() > 0


def compared(symbols: np.ndarray, groups: np.ndarray, one: LoopCandidate) -> LoopPasses:
    """Compare the stretches into which a candidate cuts a sequence. The last stretch has no known end, and is left out.

    Args:
        symbols: Symbol of each call.
        groups: Number of the group of at least four successive symbols that ends at each call.
        one: The candidate.
    """
    at = one.at
    kinds = int(symbols.max(initial=-1)) + 1
    chosen = np.unique(np.linspace(0, len(at) - 2, min(MOST_PASSES, len(at) - 1)).astype(np.int64))
    table = counts_of(symbols, at[chosen], at[chosen + 1], kinds)
    there = np.flatnonzero(table.any(axis=0))
    table = table[:, there]
    median = np.median(table, axis=0).astype(np.int64)
    common, either = np.minimum(table, median), np.maximum(table, median)
    usual = (table > 0).mean(axis=0) > 0.5
    in_common, in_either = ((table > 0) & usual).sum(), ((table > 0) | usual).sum()
    typical, varying, off = np.zeros(kinds, np.int64), np.zeros(kinds, bool), np.zeros(kinds, np.int64)
    typical[there], off[there] = median, (either - common).sum(axis=0)
    varying[there] = common.sum(axis=0) < REGULAR * either.sum(axis=0)
    regularity = float(common.sum() / max(either.sum(), 1))
    kinds_shared = float(in_common / max(in_either, 1))
    order = _in_common(groups, at)
    return LoopPasses(at, one.slots, one.context, typical, regularity, kinds_shared, order, varying, off)


def _in_common(groups: np.ndarray, at: np.ndarray) -> float:
    """Return the mean share of its groups that a stretch has in common with the next one."""
    if len(at) < 3 or np.median(np.diff(at)) < GROUP:
        return 1.0
    shares = []
    for number in np.unique(np.linspace(0, len(at) - 3, min(FEW, len(at) - 2)).astype(np.int64)).tolist():
        one, other = (np.unique(groups[at[k] : at[k + 1]]) for k in (number, number + 1))
        shares.append(len(np.intersect1d(one, other, assume_unique=True)) / max(len(one), len(other)))
    return float(np.mean(shares))


def counts_of(symbols: np.ndarray, begin: np.ndarray, end: np.ndarray, kinds: int) -> np.ndarray:
    """Count how often each symbol occurs in each stretch [begin, end); int64 of shape (stretches, kinds).

    Args:
        symbols: Symbol of each call.
        begin: Index of the first call of each stretch.
        end: Index behind the last call of each stretch.
        kinds: Number of symbols.
    """
    table = np.zeros((len(begin), kinds), np.int64)
    for row, first, last in zip(table, begin.tolist(), end.tolist(), strict=True):
        row += np.bincount(symbols[first:last], minlength=kinds)
    return table
