"""All subsets of columns one by one, by numpy's least squares: slow, and with nothing in common with the kernel."""

from itertools import combinations

import numpy as np


def all_fits(columns, y):
    """{subset: rss} of weighted columns and y."""
    found = {}
    for size in range(1, columns.shape[1] + 1):
        for subset in combinations(range(columns.shape[1]), size):
            left = y - columns[:, subset] @ np.linalg.lstsq(columns[:, subset], y, rcond=None)[0]
            found[subset] = float(left @ left)
    return found


def aicc(rss, rows, size, log_weights=0.0):
    """By hand: n (log 2 pi + 1 + log(rss / n)) - sum log w + 2 K + 2 K (K + 1) / (n - K - 1), K = size + 1."""
    k = size + 1
    if rows - k - 1 <= 0:
        return np.inf
    likelihood = rows * (np.log(2 * np.pi) + 1 + np.log(rss / rows)) - log_weights
    return likelihood + 2 * k + 2 * k * (k + 1) / (rows - k - 1)
