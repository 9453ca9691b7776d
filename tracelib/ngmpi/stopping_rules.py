"""When a measurement is enough."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from tracelib.schema.prtt import SizeTimes


@dataclass(frozen=True)
class StoppingLimits:
    """When it is enough."""

    repetitions: int | None  # rows of each size; None: as many as precision asks for
    precision: float  # half the width of the confidence intervals, as a share of the time
    time_s: float  # for each series
    rows: int = 8  # that count, of each size, at least
    visits: int = 6  # in which they were measured


def spread(times: SizeTimes) -> np.ndarray:
    """Return how well each size is known: half the width of the wider confidence interval, as a share of the time."""
    return np.maximum(times.overhead_ci_s / np.abs(times.overhead_s), times.gap_ci_s / np.abs(times.gap_s))


def imprecise(sizes: Iterable[int], times: SizeTimes, limits: StoppingLimits) -> list[int]:
    """Return the sizes that need more rows. Some of them may have no row that counts."""
    enough = (times.rows >= limits.rows) & (times.visits >= limits.visits) & (spread(times) <= limits.precision)
    precise = set(times.size[enough].tolist())
    return [size for size in sizes if size not in precise]
