"""Result of a search: the best models, their Akaike weights, and the importance of each term."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analyzer.models.fitting.criteria import SelectionCriterion
from analyzer.models.search.space import TermSpace
from analyzer.models.terms.product import Product

CONFIDENCE = 0.90
"""The set of models, by weight, over which importance is summed beside the full sum (TIA, 3.5)."""


@dataclass(frozen=True)
class ModelSelection:
    """Models by score, the best first. weights: shares of the sum over all models of the space.

    importance, importance_90: (terms) sum of the weights of models with a term, over all models and over the 90 % set.
    per_size: the best model of each size. tried: models that were looked at, or are known to be worse. dropped: terms
    that were eliminated, in this order, and the relative errors of their coefficients.
    """

    space: TermSpace
    criterion: SelectionCriterion
    models: np.ndarray  # (models, terms) bool
    scores: np.ndarray
    rss: np.ndarray
    weights: np.ndarray
    importance: np.ndarray
    importance_90: np.ndarray
    per_size: tuple[tuple[np.ndarray, float, float], ...]  # model, score, rss
    tried: int
    dropped: tuple[tuple[Product, float], ...] = ()

    @property
    def is_of_several(self) -> bool:
        """Check whether weights compare several models."""
        return len(self.models) > 1

    @property
    def best(self) -> np.ndarray:
        """(terms) bool"""
        return self.models[0]

    def terms_of(self, model: np.ndarray) -> list[Product]:
        """Return the terms of a model, in the order of the space."""
        return [term for term, there in zip(self.space.terms, model, strict=True) if there]

    def relative_error(self, rss: float, size: int) -> float:
        """Return residual standard deviation of a model (TIA, F20)."""
        return float(np.sqrt(rss / (self.space.rows - size))) if self.space.rows > size else float("inf")


def whole(space: TermSpace, criterion: SelectionCriterion) -> ModelSelection:
    """Return the one model of all terms that can be told apart."""
    model = np.isin(np.arange(len(space.terms)), space.independent_places)
    rss = space.rss(model[None])
    score = criterion.score(int(model.sum()), rss)
    one, there = np.ones(1), model.astype(float)
    best_of = ((model, float(score[0]), float(rss[0])),)
    return ModelSelection(space, criterion, model[None], score, rss, one, there, there, best_of, 1)


def within(models: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return the sums over the models, (terms), by weight, until these are more than 90 % of all: the 90 % set."""
    number = int(np.searchsorted(np.cumsum(weights), CONFIDENCE, side="right")) + 1
    return weights[:number] @ models[:number]


def in_order(scores: np.ndarray, models: np.ndarray) -> np.ndarray:
    """Return places by score; of equal scores the smaller model first. Scores are equal up to rounding."""
    return np.lexsort((models.sum(1), np.round(scores, 7)))
