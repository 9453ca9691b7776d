"""Numbers of views in tables: five digits, and all that stand before the point; nothing where there is none."""

from __future__ import annotations

from typing import Any

import numpy as np

_FIVE_DIGITS, _LARGEST = 10**5, 10**10


def number(value: float) -> str:
    """ "12", "3.1416", "123457", "1.2346e+10"; empty for NaN."""
    if np.isnan(value):
        return ""
    return f"{value:.0f}" if _FIVE_DIGITS <= abs(value) < _LARGEST else f"{value:.5g}"


def plain(values: np.ndarray) -> Any:
    """Lists of numbers for JSON: whole ones as such, None for NaN."""
    if values.ndim > 1:
        return [plain(row) for row in values]
    return [
        None if not np.isfinite(value) else int(value) if value.is_integer() and abs(value) < 2**53 else value
        for value in values.astype(np.float64).tolist()
    ]
