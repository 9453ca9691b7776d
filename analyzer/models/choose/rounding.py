"""Powers that stand for others: where the data ask for a power that is no half, the true one may be any nearby."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from analyzer.models.choose.shapes import GRID
from analyzer.models.member import Member
from analyzer.models.terms.product import Call, Name

ROUNDING = 1.2 / GRID / 12**0.5
"""Standard error of such a power: that of rounding to a grid, and a fifth more, because a logarithm may be in place of
a part of the power."""


def rounded(member: Member) -> frozenset[str]:
    """The parameters that the member has in thirds, quarters or twentieths, or with a squared logarithm."""
    found = set()
    for term in member.terms:
        for atom, power in term.powers:
            if isinstance(atom, Name) and power.denominator > 2:
                found.add(atom.name)
            elif isinstance(atom, Call) and power > 1:
                found |= atom.arguments[0].names()
    return frozenset(found)


def rounding_error(
    names: Sequence[frozenset[str]], values: Mapping[str, float], ranges: Mapping[str, tuple[float, float]]
) -> np.ndarray:
    """(members) the relative standard error of a value by its rounded powers: it grows with the logarithm of how far
    the point is from the data. names: `rounded` of each."""
    far = {name: _beyond(values[name], *ends) for name, ends in ranges.items() if name in values}
    squares = [sum(far.get(name, 0.0) ** 2 for name in of) for of in names]
    return ROUNDING * np.sqrt(squares)


def _beyond(x: float, low: float, high: float) -> float:
    """How far a value is from a range, as a logarithm; 0 inside it."""
    if low > 0 and x > 0:
        return float(max(np.log(x) - np.log(high), np.log(low) - np.log(x), 0.0))
    return 0.0
