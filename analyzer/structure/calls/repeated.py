"""What repeats in a sequence of symbols, whenever its calls were made: most ranks of a program make the same ones."""

from __future__ import annotations

from functools import cached_property, lru_cache

import numpy as np

from analyzer.structure.calls.candidates import Candidate, candidates, in_context
from analyzer.structure.calls.passes import Passes, compared

MOST_REMEMBERED, LONGEST_REMEMBERED = 32, 1 << 15
"""So many sequences are remembered, of so many calls at most: to look at a longer one costs little beside its
reading."""


class Repeated:
    """Candidates for loops, and the stretches that they cut the sequence into, each found at its first use."""

    def __init__(self, symbols: np.ndarray) -> None:
        self._symbols = symbols
        self._passes: dict[int, Passes] = {}  # by the identity of their candidate, which lives as long

    @cached_property
    def candidates(self) -> list[Candidate]:
        """In any order."""
        return candidates(self._symbols)

    @cached_property
    def _groups(self) -> np.ndarray:
        return in_context(self._symbols, 4)

    def compared(self, one: Candidate) -> Passes:
        """The stretches of one of the candidates."""
        if id(one) not in self._passes:
            self._passes[id(one)] = compared(self._symbols, self._groups, one)
        return self._passes[id(one)]


def repeated(symbols: np.ndarray) -> Repeated:
    """What repeats in a sequence of symbols (int32, dense from 0)."""
    return _remembered(symbols.tobytes()) if len(symbols) <= LONGEST_REMEMBERED else Repeated(symbols)


@lru_cache(maxsize=MOST_REMEMBERED)
def _remembered(symbols: bytes) -> Repeated:
    return Repeated(np.frombuffer(symbols, np.int32))
