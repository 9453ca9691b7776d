"""The least squares of every subset of terms by Schur complements of the normal equations, many at a time in numpy.

No QR, no rotation and no bound: each term in turn is left out, or eliminated from what is left. In extended precision,
because normal equations square the condition number.
"""

from __future__ import annotations

import numpy as np

_AT_ONCE = 256


def best_of_each_size(columns: np.ndarray, y: np.ndarray) -> dict[int, tuple[int, float]]:
    """{size: (bits of the columns, rss)} of the subset with the least rss. columns: (rows, an even number of terms)."""
    terms = columns.shape[1]
    every = np.column_stack([columns, y]).astype(np.longdouble)
    some = _eliminated((every.T @ every)[None], terms // 2)
    sizes = np.bitwise_count(np.arange(len(some), dtype=np.uint32)).astype(np.int64)
    best: dict[int, tuple[int, float]] = {}
    for first in range(0, len(some), _AT_ONCE):
        part = some[first : first + _AT_ONCE]
        rss = _eliminated(part, terms - terms // 2)[:, 0, 0].astype(float).reshape(-1, len(part))
        size = sizes[: len(rss), None] + sizes[first : first + len(part)]
        for k in np.unique(size):
            place = int(np.where(size == k, rss, np.inf).argmin())
            high, low = divmod(place, len(part))
            if k not in best or rss.flat[place] < best[k][1]:
                best[int(k)] = ((high << terms // 2) + first + low, float(rss.flat[place]))
    return {k: found for k, found in best.items() if k}


def _eliminated(matrices: np.ndarray, terms: int) -> np.ndarray:
    """(m, k, k) -> (2^terms m, k - terms, k - terms): without the first terms; where bit t of the place divided by m
    is 1, term t was eliminated."""
    for _ in range(terms):
        rest, along = matrices[:, 1:, 1:], matrices[:, 1:, 0]
        eliminated = rest - along[:, :, None] * (along / matrices[:, :1, 0])[:, None, :]
        matrices = np.concatenate([rest, eliminated])
    return matrices
