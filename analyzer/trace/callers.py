"""Events of a Paraver trace that say where calls come from, as Extrae numbers them.

At the entry of a call stand for each level the function (70000001, ...) and the line (80000001, ...): level 1 is the
place of the call, level 2 the place that called its function, and so on.
"""

from __future__ import annotations

import numpy as np

FUNCTION_TYPE, LINE_TYPE = 70000000, 80000000
"""Plus the level."""
MOST_LEVELS = 100
UNRESOLVED, NOT_FOUND = 1, 2
"""Values: no name is known; the path has no such level. 0 ends; names come from 3 on."""


def level_of(types: np.ndarray, base: int) -> np.ndarray:
    """The level from 0 of types of FUNCTION_TYPE or LINE_TYPE; -1: it is another type."""
    level = types.astype(np.int64) - base - 1
    return np.where((level >= 0) & (level < MOST_LEVELS), level, -1)


def are_callers(types: np.ndarray) -> np.ndarray:
    """Which of some event types are callers, of functions or lines."""
    return (level_of(types, FUNCTION_TYPE) >= 0) | (level_of(types, LINE_TYPE) >= 0)
