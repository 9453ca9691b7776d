"""How likely models of a few terms are, given the data: many of the same size at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import log_ndtr

from analyzer.models.choose.settings import Settings

_ROUNDS = 3
"""Least squares with the errors of what the round before expected."""
_EXACT = 1e-9
"""Measurements have at least this relative error."""


@dataclass(frozen=True)
class Weighed:
    """Models of q columns. spread: the standard error of a prediction is sigma * |spread @ columns there|."""

    coefficients: np.ndarray  # (models, q)
    spread: np.ndarray  # (models, q, q)
    sigma: np.ndarray  # (models)
    freedom: int
    log_evidence: np.ndarray  # (models)


def weigh(columns: np.ndarray, settings: Settings) -> Weighed:
    """The evidence of models with coefficients that are not negative: the integral of the likelihood over coefficients
    that may be anything from 0 to the largest mean (columns have the largest value 1) and an error of unknown size
    that is a share of the expected value. Where values are below 0, coefficients may be as far below 0 as above, and
    the error is the same everywhere. columns: (models, settings, q)."""
    q = columns.shape[2]
    expected = np.broadcast_to(settings.mean, columns.shape[:2])
    freedom = settings.rows - q
    for _ in range(_ROUNDS):
        error = settings.errors_at(expected)
        root = np.sqrt(settings.number) / error
        weighted = columns * root[:, :, None]
        gram = weighted.transpose(0, 2, 1) @ weighted
        diagonal = np.einsum("mqq->mq", gram)
        inverse = np.linalg.inv(gram + (1e-13 * diagonal + 1e-300)[:, :, None] * np.eye(q))
        along = np.einsum("mkq,mk->mq", weighted, root * settings.mean)
        coefficients = np.einsum("mqr,mr->mq", inverse, along)
        expected = np.einsum("mkq,mq->mk", columns, coefficients)
    error = settings.errors_at(expected)
    left = ((settings.number * (settings.mean - expected) ** 2 + settings.scatter) / error**2).sum(1)
    left = np.maximum(left, settings.rows * _EXACT**2)
    sigma = np.sqrt(left / max(freedom, 1))
    spread, sound = _spread(inverse)
    variance = np.einsum("mqq->mq", inverse)  # of columns that nearly say the same, rounding may make it negative
    sound &= (variance > 0).all(1)
    alone = sigma[:, None] * np.sqrt(np.where(variance > 0, variance, 1.0))
    with np.errstate(divide="ignore"):  # columns that nearly say the same have no evidence
        evidence = (
            -(settings.number * np.log(error)).sum(1)
            - freedom / 2 * np.log(left)
            + np.log(np.einsum("mqq->mq", spread)).sum(1)
            - q * np.log(settings.scale)
            + (-q * np.log(2) if settings.signed else log_ndtr(coefficients / alone).sum(1))
        )
    if settings.relative:  # where its integral is largest, a term with a negative coefficient is not there
        sound &= (coefficients >= 0).all(1)
    evidence = np.where(sound & np.isfinite(evidence), evidence, -np.inf)
    return Weighed(coefficients, spread, sigma, freedom, evidence)


def _spread(inverse: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(models, q, q) roots of the inverses, and which have one: columns that nearly say the same may have none."""
    try:
        return np.linalg.cholesky(inverse).transpose(0, 2, 1), np.ones(len(inverse), bool)
    except np.linalg.LinAlgError:
        finite = np.isfinite(inverse).all((1, 2))
        inverse = np.where(finite[:, None, None], inverse, np.eye(inverse.shape[1]))
        inverse = (inverse + inverse.transpose(0, 2, 1)) / 2
        values, vectors = np.linalg.eigh(inverse)
        sound = finite & (values[:, 0] > 0)
        roots = np.sqrt(np.maximum(values, 0))[:, :, None] * vectors.transpose(0, 2, 1)
        triangles = np.asarray(np.linalg.qr(roots, mode="r"))
        return triangles * np.where(np.einsum("mqq->mq", triangles) < 0, -1, 1)[:, :, None], sound
