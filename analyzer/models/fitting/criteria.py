"""Information criteria of weighted least squares (TIA, F15 to F19, and 3.5)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

CRITERIA = ("aicc", "aic", "bic")


@dataclass(frozen=True)
class Criterion:
    """A criterion for a number of rows with these weights. K counts the coefficients and the error's variance."""

    name: str
    rows: int
    log_weights: float  # sum of log(weight)

    def penalty(self, size: np.ndarray | int) -> np.ndarray:
        """All but rows * log(rss) of models of so many coefficients; infinite where it is not defined."""
        k = np.asarray(size, float) + 1
        n = self.rows
        base = n * (np.log(2 * np.pi) + 1 - np.log(n)) - self.log_weights
        with np.errstate(divide="ignore"):
            more = {
                "aic": 2 * k,
                "aicc": 2 * k + np.where(n - k - 1 > 0, 2 * k * (k + 1) / np.maximum(n - k - 1, 1e-9), np.inf),
                "bic": np.log(n) * k,
            }[self.name]
        return np.where(n - k - 1 > 0, base + more, np.inf)

    def score(self, size: np.ndarray | int, rss: np.ndarray | float) -> np.ndarray:
        """-2 log L + penalty, L being the largest likelihood of errors with variance sigma^2 / weight (R's AIC of lm)."""
        with np.errstate(divide="ignore"):
            return self.rows * np.log(rss) + self.penalty(size)


def criterion_of(name: str, weight: np.ndarray) -> Criterion:
    """aic, aicc or bic for rows of these weights."""
    return Criterion(name, len(weight), float(np.log(weight).sum()))


def akaike_weights(scores: np.ndarray) -> np.ndarray:
    """exp(-(score - least) / 2), as shares of their sum (TIA, F18)."""
    weights = np.exp(-(scores - scores.min()) / 2)
    return weights / weights.sum()
