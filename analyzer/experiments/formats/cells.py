"""Columns of texts as what they mean: integers, real numbers, texts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

INTEGER, REAL, TEXT = "integer", "real", "text"
TYPES = (INTEGER, REAL, TEXT)


def values(cells: Sequence[str], kind: str = "") -> np.ndarray:
    """int64, float64 (what is empty is missing, NaN) or texts; without a kind the first of these that all cells are.

    Raises ValueError or OverflowError where a cell is not of the kind.
    """
    for wanted, convert in ((INTEGER, _integers), (REAL, _reals)):
        if kind in (wanted, ""):
            try:
                return convert(cells)
            except (ValueError, OverflowError):
                if kind:
                    raise
    return np.array(cells, dtype=object)


def _integers(cells: Sequence[str]) -> np.ndarray:
    found = np.array([int(cell) for cell in cells], np.int64)
    if any("_" in cell for cell in cells):  # Python reads 1_000, nobody else does
        raise ValueError("an integer has digits only")
    return found


def _reals(cells: Sequence[str]) -> np.ndarray:
    if any("_" in cell for cell in cells):
        raise ValueError("a number has digits only")
    return np.array([float(cell) if cell else np.nan for cell in cells], np.float64)
