"""How plain a formula is: of models that the data cannot tell apart, people read the plainest one."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from analyzer.models.member import Member
from analyzer.models.terms.product import Call, Product

NOISE = 10.0
"""Models whose weights differ by less than this factor are not told apart by the data ("substantial" evidence at most:
Jeffreys 1961, appendix B)."""
_LOG = 1.0
_STEEP = 0.5
_NEGATIVE = 1.0
"""More for each power above 1; for a negative coefficient, which no time has."""
_BY_DENOMINATOR = {1: 1.0, 2: 2.0, 3: 3.0, 4: 3.0}
_ODD = 5.0


def plainest(members: Sequence[Member]) -> list[Member]:
    """The same members, the one to be shown first: the plainest of those that are about as likely as the best. The
    others by weight."""
    enough = max(member.weight for member in members) / NOISE
    chosen = min(
        (member for member in members if member.weight >= enough), key=lambda one: (complexity(one), -one.weight)
    )
    return [chosen, *(member for member in members if member is not chosen)]


def complexity(member: Member) -> float:
    """1 for each term, and more for its powers: 1 for whole ones, 2 for halves, 3 for thirds and quarters."""
    return sum(map(_of_term, member.terms)) + _NEGATIVE * int((np.asarray(member.coefficients) < 0).sum())


def _of_term(term: Product) -> float:
    return 1 + sum(_LOG * float(power) if isinstance(atom, Call) else _of_power(power) for atom, power in term.powers)


def _of_power(power: Fraction) -> float:
    kind = _BY_DENOMINATOR.get(power.denominator, _ODD)
    steep = _STEEP * (abs(power.numerator) - 1) if power.denominator == 1 else 0
    return kind + float(steep) + (1 if power < 0 and power != -1 else 0)
