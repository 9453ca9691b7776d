"""Elimination of terms one by one by the errors of their coefficients, TIA's search before Akaike's criterion.

Source: "model selection with a genetic algorithm in TIA", section I: the term whose coefficient has the largest
relative error is dropped, until the errors of all coefficients are below a threshold.
"""

from __future__ import annotations

import numpy as np

from analyzer.models.fitting.criteria import SelectionCriterion
from analyzer.models.fitting.least_squares import fit_columns
from analyzer.models.search.selection import ModelSelection
from analyzer.models.search.space import TermSpace, none_can_be_fitted


def eliminate(space: TermSpace, criterion: SelectionCriterion, largest: float) -> ModelSelection:
    """Drop terms until every coefficient's standard error is at most the share `largest` of it, or one term is left.

    Args:
        space: The candidate terms on the data. The search begins with all terms that can be told apart.
        criterion: Criterion that scores the models on the way.
        largest: Largest relative error of a coefficient. 0.5 keeps what is about significant at 95 %.

    Returns:
        One model. `dropped` has the dropped terms in order, `per_size` the models on the way.

    Raises:
        TracelibError: No model can be fitted to so few rows.
    """
    places = list(space.independent_places)
    dropped, on_the_way = [], []
    while True:
        model = np.isin(np.arange(len(space.terms)), places)
        rss = float(space.rss(model[None])[0])
        score = float(criterion.score(len(places), rss))
        if np.isfinite(score):
            on_the_way.append((model, score, rss))
        errors = _relative_errors(space, places, rss)
        worst = int(errors.argmax())
        if len(places) == 1 or (np.isfinite(score) and errors[worst] <= largest):
            break
        dropped.append((space.terms[places.pop(worst)], float(errors[worst])))
    if not on_the_way:
        raise none_can_be_fitted(space)
    one, there = np.ones(1), model.astype(float)
    return ModelSelection(
        space, criterion, model[None], np.array([score]), np.array([rss]), one, there, there,
        tuple(reversed(on_the_way)), len(dropped) + 1, tuple(dropped),
    )  # fmt: skip


def _relative_errors(space: TermSpace, places: list[int], rss: float) -> np.ndarray:
    """Return standard error / |coefficient| of each term. Without degrees of freedom, a common factor is arbitrary."""
    fitted = fit_columns(space.triangle[:, places], space.triangle[:, -1], np.ones(len(space.triangle)))
    freedom = space.rows - len(places)
    sigma = np.sqrt(rss / freedom) if freedom > 0 else 1e300
    with np.errstate(all="ignore"):
        errors = sigma * np.linalg.norm(fitted.spread, axis=0) / np.abs(fitted.coefficients)
    return np.where(np.isnan(errors), np.inf, errors)
