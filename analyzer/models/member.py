"""One model of an average: terms with coefficients, how sure these are, and the model's weight."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from analyzer.models.terms.product import Product


@dataclass(frozen=True)
class Member:
    """sum of coefficients * terms. The standard error of a value is sigma * |spread @ terms there|, with `freedom`
    degrees of freedom (Student's t); sigma is the residual standard deviation: a share, where errors are relative."""

    terms: tuple[Product, ...]
    coefficients: np.ndarray  # (terms)
    spread: np.ndarray  # (terms, terms)
    sigma: float
    freedom: int
    weight: float

    @property
    def standard_errors(self) -> np.ndarray:
        """(terms) of the coefficients; infinite without freedom."""
        return self.sigma * np.linalg.norm(self.spread, axis=0)

    def with_weight(self, weight: float) -> Member:
        """The same with another weight."""
        return replace(self, weight=weight)
