"""Information criteria of weighted least squares (TIA, F15 to F19, and 3.5)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln

CRITERIA = ("aicc", "aic", "bic", "ebic")


@dataclass(frozen=True)
class SelectionCriterion:
    """An information criterion for rows with given weights.

    The number K of parameters counts the coefficients and the error's variance. "ebic" is "bic" plus 2 log of the
    number of models of the same size (Chen and Chen 2008, gamma = 1): among many candidate terms some fit by chance.

    Attributes:
        name: One of CRITERIA.
        rows: Number of rows.
    """

    name: str
    rows: int
    log_weights: float  # sum of log(weight) over the rows
    candidates: int = 0  # number of terms from which models are chosen; for "ebic"

    def penalty(self, size: np.ndarray | int) -> np.ndarray:
        """Return the criterion without rows * log(rss), for models with `size` coefficients.

        Infinite: there are too few rows for the criterion.
        """
        k = np.asarray(size, float) + 1
        n = self.rows
        base = n * (np.log(2 * np.pi) + 1 - np.log(n)) - self.log_weights
        with np.errstate(divide="ignore"):
            more = {
                "aic": 2 * k,
                "aicc": 2 * k + np.where(n - k - 1 > 0, 2 * k * (k + 1) / np.maximum(n - k - 1, 1e-9), np.inf),
                "bic": np.log(n) * k,
                "ebic": np.log(n) * k + 2 * self._log_choices(k - 1),
            }[self.name]
        return np.where(n - k - 1 > 0, base + more, np.inf)

    def _log_choices(self, size: np.ndarray) -> np.ndarray:
        others = np.maximum(self.candidates - size, 0)
        return gammaln(self.candidates + 1) - gammaln(size + 1) - gammaln(others + 1)

    def score(self, size: np.ndarray | int, rss: np.ndarray | float) -> np.ndarray:
        """Return -2 log L + penalty, as R's AIC.

        L is the largest likelihood of errors with variance sigma^2 / weight.

        Args:
            size: Number of coefficients.
            rss: Weighted sum of squares of the residuals.
        """
        with np.errstate(divide="ignore"):
            return self.rows * np.log(rss) + self.penalty(size)


def criterion_of(name: str, weight: np.ndarray, candidates: int = 0) -> SelectionCriterion:
    """Return a criterion for rows with given weights.

    Args:
        name: One of CRITERIA.
        weight: Weight of each row, shape (rows,).
        candidates: Number of terms from which models are chosen.
    """
    return SelectionCriterion(name, len(weight), float(np.log(weight).sum()), candidates)


def akaike_weights(scores: np.ndarray) -> np.ndarray:
    """Return Akaike weights: exp(-(score - least score) / 2) as shares of their sum (TIA, F18).

    The weights are equal if no score is finite (too few rows).
    """
    if not np.isfinite(scores.min()):
        return np.full(len(scores), 1 / len(scores))
    weights = np.exp(-(scores - scores.min()) / 2)
    return weights / weights.sum()
