"""Coefficients of a formula that was stated before, such as mm[0] and mm[1] of a pragma of CALL."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from analyzer.models.member import Member
from analyzer.models.terms.formula import Formula
from analyzer.models.terms.product import Product

_SAME = 1e-12
"""Singular values below this share of the largest one are rounding."""
_NONE = 1e-6


@dataclass(frozen=True)
class Coefficient:
    """A coefficient and what the formula multiplies it by. value, standard_error: None where the data cannot tell its
    term from others."""

    name: str
    term: Product
    value: float | None
    standard_error: float | None


def coefficients_of(formula: Formula, member: Member, values: Mapping[str, np.ndarray]) -> tuple[Coefficient, ...]:
    """Find the formula's coefficients in a model of its terms.

    Args:
        formula: The formula.
        member: The fitted model of its terms, or of those that can be told apart.
        values: Of each parameter, (rows): where it was measured.

    Returns:
        A coefficient for each of the formula's, in its order.
    """
    errors = dict(zip(member.terms, member.standard_errors.tolist(), strict=True))
    fitted = dict(zip(member.terms, member.coefficients.tolist(), strict=True))
    found = []
    for (name, term), known in zip(formula.terms.items(), _told_apart(formula, values), strict=True):
        plain, factor = term.term, term.factor
        if not known or plain not in fitted:
            found.append(Coefficient(name, term, None, None))
        else:
            found.append(Coefficient(name, term, fitted[plain] / factor, errors[plain] / abs(factor)))
    return tuple(found)


def _told_apart(formula: Formula, values: Mapping[str, np.ndarray]) -> np.ndarray:
    """(terms) whether the data determine the coefficient: no change of it can be made up for by others."""
    rows = next(iter(values.values())).shape
    columns = np.column_stack(
        [np.broadcast_to(np.asarray(term.value(values), float), rows) for term in formula.terms.values()]
    )
    length = np.linalg.norm(np.where(np.isfinite(columns), columns, 0.0), axis=0)
    usable = np.isfinite(columns).all(0) & (length > 0)
    scaled = columns[:, usable] / length[usable]
    _, singular, turned = np.linalg.svd(scaled, full_matrices=True)
    rank = int((singular > _SAME * singular[0]).sum()) if len(singular) else 0
    known = np.zeros(len(usable), bool)
    known[usable] = np.linalg.norm(turned[rank:], axis=0) < _NONE
    return known
