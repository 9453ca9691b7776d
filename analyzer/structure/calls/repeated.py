"""Repeats in a sequence of symbols. They are remembered, because most ranks of a program make the same calls."""

from __future__ import annotations

from functools import cached_property, lru_cache

import numpy as np

from analyzer.structure.calls.candidates import LoopCandidate, candidates, in_context
from analyzer.structure.calls.loop_ends import MOST_COMPARED, LoopBounds
from analyzer.structure.calls.passes import LoopPasses, compared

GROUPS, RARE = (4, 8, 16), 16
"""Lengths of the groups of calls that are compared, at most a quarter of a stretch; the shortest is taken of which
there are RARE times the number of calls of a stretch."""
MOST_REMEMBERED, LONGEST_REMEMBERED = 32, 1 << 15
"""Number of sequences that are remembered, and the most calls of each: examining a longer one costs little beside
reading it."""


class RepeatedCalls:
    """Candidates for loops in a sequence, and the stretches of each. Each is computed at its first use."""

    def __init__(self, symbols: np.ndarray) -> None:
        self._symbols = symbols
        self._passes: dict[int, LoopPasses] = {}  # by the identity of their candidate, which lives as long
        self._orders: dict[tuple[bytes, int], float] = {}
        self._in_context: dict[int, np.ndarray] = {}

    @cached_property
    def candidates(self) -> list[LoopCandidate]:
        """All candidates, in no special order."""
        return candidates(self._symbols)

    @cached_property
    def _choices(self) -> float:
        """How many symbols are as good as equally frequent: e to the entropy."""
        share = np.bincount(self._symbols) / len(self._symbols)
        return float(np.exp(-(share * np.log(np.maximum(share, 1e-300))).sum()))

    def _groups(self, length: int) -> np.ndarray:
        """Return groups of calls in a row, long enough to be rare in `length` calls in random order."""
        possible = [size for size in GROUPS if 4 * size <= length] or GROUPS[:1]
        size = next((one for one in possible if self._choices**one >= RARE * length), possible[-1])
        if size not in self._in_context:
            self._in_context[size] = in_context(self._symbols, size)
        return self._in_context[size]

    def compared(self, one: LoopCandidate) -> LoopPasses:
        """Return the stretches of one of the candidates, compared with each other."""
        if id(one) not in self._passes:
            length = int(np.median(np.diff(one.at))) if len(one.at) > 1 else 1
            self._passes[id(one)] = compared(self._symbols, self._groups(length), one)
        return self._passes[id(one)]

    def in_order(self, bounds: LoopBounds) -> float:
        """Return the share of calls, in order, that passes have in common with the pass before (`_in_order`)."""
        key = bounds.begins.tobytes(), bounds.end
        if key not in self._orders:
            self._orders[key] = _in_order(self._symbols, bounds)
        return self._orders[key]


def repeated(symbols: np.ndarray) -> RepeatedCalls:
    """Return the repeats in a sequence. They are remembered for equal sequences.

    Args:
        symbols: Symbol of each call, numbered from 0, int32.
    """
    return _remembered(symbols.tobytes()) if len(symbols) <= LONGEST_REMEMBERED else RepeatedCalls(symbols)


@lru_cache(maxsize=MOST_REMEMBERED)
def _remembered(symbols: bytes) -> RepeatedCalls:
    return RepeatedCalls(np.frombuffer(symbols, np.int32))


def _in_order(symbols: np.ndarray, bounds: LoopBounds) -> float:
    """Return the share of calls that the usual pass has in common with the one before, in their order from both ends:
    what is done now and then leaves the others alike."""
    begins, ends = bounds.begins, np.append(bounds.begins[1:], bounds.end)
    shares = []
    for number in np.unique(np.linspace(1, len(begins) - 1, MOST_COMPARED).astype(np.int64)).tolist():
        one, other = symbols[begins[number] : ends[number]], symbols[begins[number - 1] : ends[number - 1]]
        shorter, longer = sorted((len(one), len(other)))
        front = _equal(one[:shorter], other[:shorter])
        back = _equal(one[::-1][:shorter], other[::-1][:shorter])
        shares.append(min(front + back, shorter) / max(longer, 1))
    return float(np.median(shares))


def _equal(one: np.ndarray, other: np.ndarray) -> int:
    """Count the equal symbols from the begin on."""
    differs = np.flatnonzero(one != other)
    return int(differs[0]) if len(differs) else len(one)
