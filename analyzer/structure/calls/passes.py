"""Test whether the stretches between occurrences of a call are passes of one loop: they must make the same calls."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import lgamma

import numpy as np

from analyzer.structure.calls.candidates import LoopCandidate

MOST_PASSES = 96
"""Number of stretches, spread over all, that are compared."""
REGULAR = 0.7
"""Share of calls that stretches of a loop have in common, at least."""
REGULAR_ALONE = 0.78
"""Limit of REGULAR where only one call takes turns with itself: few calls in random order would reach a lower share."""
GROUP = 4
"""Calls in a row that are compared, at least."""
IN_ORDER, FEW = 0.3, 24
"""Least share of different groups of calls in a row that a stretch has in common with the next one, since any long
stretches of random calls have equal numbers of each call; and the number of pairs that are compared."""
SAME_PLACE = 0.6
"""Least share of usual stretches, in the usual order, among those that one place of a program begins: now and then
other calls follow."""
SAME_KINDS = 0.75
"""Share of symbols that stretches must have in common where the number of inner passes varies."""
LN_ORDERS = 25.0
"""Logarithm of the number of orders of calls of which one is that they take turns, at least."""
EXPLAINED = 0.7
"""Least share of the calls that stretches have more or fewer of than the typical one which inner loops must make."""


@dataclass(frozen=True)
class LoopPasses:
    """The stretches between occurrences of a call, compared. Symbols are the sequence's."""

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
        return len(self.at)

    @cached_property
    def length(self) -> int:
        """Calls of the typical stretch."""
        return int(np.median(np.diff(self.at))) if len(self.at) > 1 else 1

    @property
    def is_regular(self) -> bool:
        """Check whether stretches make the same calls, equally often."""
        return self.order >= IN_ORDER and self.regularity >= (REGULAR if self.slots > 1 else REGULAR_ALONE)

    @property
    def is_alike(self) -> bool:
        """Check whether stretches make the same calls, be it more or less often."""
        return self.is_regular or self.kinds >= SAME_KINDS

    @property
    def is_of_a_place(self) -> bool:
        """Check whether stretches are passes where paths tell places apart.

        Their calls take turns, or are one call that others follow in the same order most of the time.
        """
        has_order = self.context == 1 and self.length >= GROUP
        return self.takes_turns or (has_order and min(self.order, self.regularity) >= SAME_PLACE)

    @property
    def takes_turns(self) -> bool:
        """Check whether this many different calls would hardly ever take turns as often if their order were random."""
        orders = lgamma(self.slots * self.count + 1) - self.slots * lgamma(self.count + 1) - lgamma(self.slots + 1)
        return self.context == 1 and bool(orders > LN_ORDERS)

    def is_regular_around(self, inner: list[LoopPasses]) -> bool:
        """Check whether stretches are regular apart from inner loops, which are passed more or less often."""
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
    """Return the stretches that a candidate cuts a sequence into; the last one has no known end and is left out.
    groups: the number of the symbols in a row, at least four, up to each call."""
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
    """Return the mean share of its different groups that a stretch has in common with the next one."""
    if len(at) < 3 or np.median(np.diff(at)) < GROUP:
        return 1.0
    shares = []
    for number in np.unique(np.linspace(0, len(at) - 3, min(FEW, len(at) - 2)).astype(np.int64)).tolist():
        one, other = (np.unique(groups[at[k] : at[k + 1]]) for k in (number, number + 1))
        shares.append(len(np.intersect1d(one, other, assume_unique=True)) / max(len(one), len(other)))
    return float(np.mean(shares))


def counts_of(symbols: np.ndarray, begin: np.ndarray, end: np.ndarray, kinds: int) -> np.ndarray:
    """Count how often each symbol is in each stretch [begin, end), int64 (stretches, kinds)."""
    table = np.zeros((len(begin), kinds), np.int64)
    for row, first, last in zip(table, begin.tolist(), end.tolist(), strict=True):
        row += np.bincount(symbols[first:last], minlength=kinds)
    return table
