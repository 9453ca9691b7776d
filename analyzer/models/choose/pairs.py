"""The likeliest sums of two terms: all pairs are looked at, since one term alone may say little of what two explain."""

from __future__ import annotations

import numpy as np

_BLOCK = 32
"""Columns whose pairs are looked at together: few enough that they stay in the cache."""
_DEPENDENT = 1e-9
"""Least determinant of two columns of length 1 that say different things."""
_EXACT = 1e-18


def likeliest_pairs(
    columns: np.ndarray, target: np.ndarray, scatter: float, rows: int, log_prior: np.ndarray, signed: bool, number: int
) -> np.ndarray:
    """Find the pairs of columns with the largest prior times likelihood, by least squares.

    Args:
        columns: (settings, terms), weighted; columns of zeros are in no pair.
        target: (settings) the weighted means.
        scatter: Weighted sum of squares of repetitions about their means.
        rows: Number of measurements.
        log_prior: (terms) of each term.
        signed: Coefficients may be negative.
        number: The most pairs that are returned.

    Returns:
        (pairs, 2) places of columns, the likeliest pair first.
    """
    length = np.linalg.norm(columns, axis=0)
    there = np.flatnonzero(length)
    unit, log_prior = columns[:, there] / length[there], log_prior[there]
    along = target @ unit
    total = float(target @ target) + scatter
    best, places = np.empty(0), np.empty((0, 2), int)
    for begin in range(0, len(along) - 1, _BLOCK):
        end = min(begin + _BLOCK, len(along))
        a, b = (
            along[begin:end, None],
            along[begin:],
        )  # all pairs of a column of the block with one that is not before it
        cosine = unit[:, begin:end].T @ unit[:, begin:]
        determinant = 1 - cosine * cosine
        first, second = a - cosine * b, b - cosine * a
        # the determinant of equal columns is 0, and so is that of a column and itself
        sound = np.triu(determinant > _DEPENDENT, 1)
        if not signed:
            sound &= (first > 0) & (second > 0)
        pairs = np.flatnonzero(sound)
        gain = (a * first + b * second).ravel()[pairs] / determinant.ravel()[pairs]
        prior = (log_prior[begin:end, None] + log_prior[begin:]).ravel()[pairs]
        likely = prior - rows / 2 * np.log(np.maximum(total - gain, rows * _EXACT * total))
        few = np.argpartition(-likely, number)[:number] if len(likely) > number else np.arange(len(likely))
        best = np.append(best, likely[few])
        places = np.append(places, begin + np.column_stack(np.divmod(pairs[few], len(b))), axis=0)
    order = np.argsort(-best, kind="stable")[:number]
    return there[places[order]]
