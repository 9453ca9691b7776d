"""The three rules by which the thesis drops rows before it looks for intervals (Rodriguez 2011, section 3.3.2)."""

from __future__ import annotations

import numpy as np

from analyzer.loggp.neighbourhood import neighbours
from analyzer.loggp.options import RULES
from analyzer.loggp.typical import groups

DEVIATIONS = 2
NEAR = 1 / 3
"""Sizes of the middle third of a neighbourhood are near its mean."""
EXTREME = 0.05
"""Times of the lowest and the highest 5 % are extreme. The thesis gives no numbers for both."""


def negative(size: np.ndarray, time_s: np.ndarray, window: float) -> np.ndarray:
    """Rule 1: a time below 0 means nothing. Each rule says which rows stay (bool)."""
    return time_s >= 0


def deviation(size: np.ndarray, time_s: np.ndarray, window: float) -> np.ndarray:
    """Rule 2: more than two standard deviations from the mean of the rows of its size."""
    stay = np.ones(len(size), bool)
    for of in groups(size)[1]:
        times = time_s[of]
        if len(of) > 2:
            stay[of] = np.abs(times - times.mean()) <= DEVIATIONS * times.std(ddof=1)
    return stay


def neighbourhood(size: np.ndarray, time_s: np.ndarray, window: float) -> np.ndarray:
    """Rule 3: in the middle of the sizes of its neighbourhood, yet at the edge of their times."""
    near = neighbours(size, time_s, window, "size")
    sizes, times = size[near], time_s[near]
    least, most = sizes.min(axis=1), sizes.max(axis=1)
    inside = np.abs(size - sizes.mean(axis=1)) <= NEAR / 2 * (most - least)
    low, high = np.quantile(times, [EXTREME, 1 - EXTREME], axis=1)
    return ~(inside & ((time_s < low) | (time_s > high)))


_RULES = dict(zip(RULES, (negative, deviation, neighbourhood), strict=True))


def kept(rules: tuple[str, ...], size: np.ndarray, time_s: np.ndarray, window: float) -> np.ndarray:
    """Rows that stay after the rules, one after the other in the thesis's order (bool)."""
    stay = np.ones(len(size), bool)
    for name, rule in _RULES.items():
        if name in rules and stay.any():
            stay[stay] = rule(size[stay], time_s[stay], window)
    return stay
