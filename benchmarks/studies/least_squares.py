"""The best sum of a few given terms by relative least squares and AICc (Rodriguez 2011, section 4.3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import log

import numpy as np
import pandas

from analyzer.experiments.expression import evaluate


@dataclass(frozen=True)
class Sum:
    """Terms (expressions over columns) and their coefficients."""

    terms: tuple[str, ...]
    coefficients: np.ndarray

    def of(self, frame: pandas.DataFrame) -> np.ndarray:
        """Its values in the rows of a table."""
        return columns(frame, self.terms) @ self.coefficients

    def errors(self, frame: pandas.DataFrame, observable: str) -> np.ndarray:
        """Relative errors, (predicted - measured) / measured."""
        return self.of(frame) / frame[observable].to_numpy() - 1

    @property
    def text(self) -> str:
        """As a formula."""
        return " + ".join(f"{c:.3g} {term}" for c, term in zip(self.coefficients, self.terms, strict=True))


def columns(frame: pandas.DataFrame, terms: Sequence[str]) -> np.ndarray:
    """(rows, terms)."""
    return np.stack([np.asarray(evaluate(term, frame), float) for term in terms], axis=1)


def best(frame: pandas.DataFrame, observable: str, terms: Sequence[str]) -> Sum:
    """Of all subsets the one with the lowest AICc; the errors of a subset are relative to what was measured, and its
    parameters are the coefficients and the variance."""
    measured = frame[observable].to_numpy(float)
    design = columns(frame, terms) / measured[:, None]
    found: list[tuple[float, tuple[int, ...], np.ndarray]] = []
    n = len(frame)
    for size in range(1, min(len(terms), n - 3) + 1):
        for chosen in combinations(range(len(terms)), size):
            scale = np.abs(design[:, chosen]).max(axis=0)
            coefficients, _, rank, _ = np.linalg.lstsq(design[:, chosen] / scale, np.ones(n), rcond=1e-10)
            if rank == size:
                rest = float(np.square(design[:, chosen] / scale @ coefficients - 1).sum())
                k = size + 1
                criterion = n * log(rest / n + 1e-30) + 2 * k + 2 * k * (k + 1) / (n - k - 1)
                found.append((criterion, chosen, coefficients / scale))
    _, chosen, coefficients = min(found, key=lambda one: (one[0], one[1]))
    return Sum(tuple(terms[k] for k in chosen), coefficients)
