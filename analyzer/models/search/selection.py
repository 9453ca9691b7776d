"""Result of a search: the best models, their Akaike weights, and the importance of each term."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analyzer.models.fitting.criteria import SelectionCriterion
from analyzer.models.search.space import TermSpace
from analyzer.models.terms.product import Product

CONFIDENCE = 0.90
"""Share of the weights in the set of best models over which `importance_90` is summed (TIA, 3.5)."""


@dataclass(frozen=True)
class ModelSelection:
    """The best models of a search. Models are sorted by score, best first.

    Attributes:
        models: Masks of terms, shape (models, terms).
        scores: Score of each model by the criterion.
        rss: Weighted sum of squares of each model's residuals.
        weights: Akaike weight of each model, as a share of the sum over all models of the search.
        importance: Sum of the weights of the models with each term, over all models, shape (terms,).
        importance_90: The same over the 90 % set.
        per_size: Best model of each size: mask, score, rss.
        tried: Number of models that were examined, or are known to be worse.
        dropped: Eliminated terms in order, with the relative errors of their coefficients.
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
        """True if there are several models, so that weights compare them."""
        return len(self.models) > 1

    @property
    def best(self) -> np.ndarray:
        """Mask of the best model's terms, shape (terms,)."""
        return self.models[0]

    def terms_of(self, model: np.ndarray) -> list[Product]:
        """Return the terms of a model, given as a mask, in the order of the space."""
        return [term for term, there in zip(self.space.terms, model, strict=True) if there]

    def relative_error(self, rss: float, size: int) -> float:
        """Return the residual standard deviation of a model (TIA, F20). Infinite: it has no degrees of freedom.

        Args:
            rss: Weighted sum of squares of the model's residuals.
            size: Number of the model's terms.
        """
        return float(np.sqrt(rss / (self.space.rows - size))) if self.space.rows > size else float("inf")


def whole(space: TermSpace, criterion: SelectionCriterion) -> ModelSelection:
    """Return a selection with a single model: of all terms that can be told apart."""
    model = np.isin(np.arange(len(space.terms)), space.independent_places)
    rss = space.rss(model[None])
    score = criterion.score(int(model.sum()), rss)
    one, there = np.ones(1), model.astype(float)
    best_of = ((model, float(score[0]), float(rss[0])),)
    return ModelSelection(space, criterion, model[None], score, rss, one, there, there, best_of, 1)


def within(models: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return the importance of each term over the 90 % set, shape (terms,).

    The set has the models of largest weight that together have more than 90 % of the weights.
    """
    number = int(np.searchsorted(np.cumsum(weights), CONFIDENCE, side="right")) + 1
    return weights[:number] @ models[:number]


def in_order(scores: np.ndarray, models: np.ndarray) -> np.ndarray:
    """Return the indices that sort models by score. Of equal scores (up to rounding), the smaller model is first."""
    return np.lexsort((models.sum(1), np.round(scores, 7)))
