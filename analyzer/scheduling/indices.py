"""How well and how fairly applications share a machine: the indices of the three scheduling studies.

Source: "Dimemas specification", sections 8.1.2.3, 8.2.3, 8.3.2 and 8.3.3 (F11 to F18, F20). Each study has its own
"slowdown": they have names of their own here. Times in s, throughput in jobs/s.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def stretches(together: Sequence[float], alone: Sequence[float]) -> np.ndarray:
    """How many times as long each takes as alone, 1 or more (F11, the first study's slowdown)."""
    return np.asarray(together, float) / np.asarray(alone, float)


def stretch_ratio(stretched: Sequence[float]) -> float:
    """The largest over the smallest of `stretches` (F12): 1 is fair."""
    return float(np.max(stretched) / np.min(stretched))


def speeds(alone: Sequence[float], together: Sequence[float]) -> np.ndarray:
    """The share of its speed alone that each keeps, 0 to 1 (F13 and F18, the slowdown of the second and third)."""
    return np.asarray(alone, float) / np.asarray(together, float)


def gain_over_batch(kept: Sequence[float]) -> float:
    """The sum of `speeds` (F13): above 1, sharing beats running one after the other."""
    return float(np.sum(kept))


def gain_by_repetition(alone: Sequence[float], together: Sequence[float]) -> float:
    """The same from the time that all would need in sequence to do what they do while the slowest runs once (F14)."""
    slowest = float(np.max(together))
    in_sequence = np.asarray(alone, float) * slowest / np.asarray(together, float)
    return float(in_sequence.sum() / slowest)


def spread_of_speeds(kept: Sequence[float]) -> float:
    """Standard deviation of `speeds` (F15; with n - 1, as the study has it for three): 0 is fair."""
    return float(np.std(kept, ddof=1))


def is_fair(kept: Sequence[float]) -> bool:
    """Whether each of n keeps 1/n of its speed (F18)."""
    return bool(np.min(kept) >= 1 / len(kept))


def batch_throughput(alone: Sequence[float]) -> float:
    """Of one after the other (F16)."""
    return len(alone) / float(np.sum(alone))


def shared_throughput(together: Sequence[float]) -> float:
    """Of all at once, each beginning again when it ends (F17)."""
    return float(np.sum(1 / np.asarray(together, float)))


def longest_wait(slice_: float, processes: int) -> float:
    """For a processor, of a process whose message has arrived, with round robin (F20); in the unit of the slice."""
    return slice_ * (processes - 1)
