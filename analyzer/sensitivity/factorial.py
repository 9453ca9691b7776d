"""Two-level factorial designs: what each of k factors, alone and together with others, does to a result.

Each factor takes its low level (x = -1) and its high level (x = +1) with all others: 2^k corners. The result is written
as y = q0 + sum q_j x_j + sum q_jk x_j x_k + ..., exactly, by the table of signs.

Source: "Dimemas specification", section 1.12 (thesis section 3.7.2); the arithmetic as in Jain, "The Art of Computer
Systems Performance Analysis" (1991), chapters 17 and 18.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Term:
    """A factor, or an interaction of several.

    coefficient: q, in units of y: half of what going from low to high adds (of an interaction: what the product does).
    influence: share of the variation, SS / SST with SS = 2^k q^2; None where nothing varies at all.
    """

    factors: tuple[int, ...]
    coefficient: float
    influence: float | None


@dataclass(frozen=True)
class Factorial:
    """The terms of a design: single factors first, then pairs, ..., each in order of the factors."""

    mean: float  # q0
    terms: tuple[Term, ...]

    def main(self, factor: int) -> Term:
        """The term of a factor alone."""
        return self.terms[factor]


def levels(corner: int, factors: int) -> tuple[bool, ...]:
    """Which factors are high at a corner: factor j is where bit j of the corner's number is set."""
    return tuple(bool(corner >> j & 1) for j in range(factors))


def factorial(results: Sequence[int]) -> Factorial:
    """The terms, from the results at all 2^k corners in order of their numbers.

    Sums are of integers, so what does not interact has exactly 0.
    """
    corners = len(results)
    contrasts = _contrasts([int(y) for y in results])
    subsets = sorted(range(1, corners), key=lambda s: (s.bit_count(), _members(s)))
    variation = sum(contrasts[s] ** 2 for s in subsets)  # 2^k SST
    terms = tuple(
        Term(_members(s), contrasts[s] / corners, contrasts[s] ** 2 / variation if variation else None) for s in subsets
    )
    return Factorial(contrasts[0] / corners, terms)


def _contrasts(values: list[int]) -> list[int]:
    """Sum of sign times value for each column of the table of signs, by Yates's algorithm; column s is the product of
    the factors whose bits are set in s."""
    half = 1
    while half < len(values):
        for low in range(len(values)):
            if not low & half:
                high = low | half
                values[low], values[high] = values[low] + values[high], values[high] - values[low]
        half *= 2
    return values


def _members(subset: int) -> tuple[int, ...]:
    return tuple(j for j in range(subset.bit_length()) if subset >> j & 1)
