"""Fitted models as text that `Formula` reads."""

from __future__ import annotations

import math
from collections.abc import Sequence

from scipy.special import stdtrit

from analyzer.models.member import Member
from analyzer.models.model import CONFIDENCE
from analyzer.models.terms.product import Product, plain


def formula_text(member: Member) -> str:
    """The model as `Formula` reads it, with all digits."""
    return sum_text(member.coefficients.tolist(), member.terms)


def sum_text(coefficients: Sequence[float], terms: Sequence[Product]) -> str:
    """A sum of terms as `Formula` reads it; "": all coefficients are 0."""
    return " + ".join(f"({c:.17g}) * {_term(term)}" for c, term in zip(coefficients, terms, strict=True) if c)


def _term(term: Product) -> str:
    return f"({plain(term).replace('^', '**')})"


def reach_text(member: Member) -> str:
    """Half of the interval of a model as `Formula` reads it: t * sigma * |spread @ terms|; "" without freedom."""
    if member.freedom < 1 or not math.isfinite(member.sigma):
        return ""
    times = float(stdtrit(member.freedom, (1 + CONFIDENCE) / 2)) * member.sigma
    squares = [f"({text}) ** 2" for row in member.spread if (text := sum_text((times * row).tolist(), member.terms))]
    return f"sqrt({' + '.join(squares)})" if squares else ""
