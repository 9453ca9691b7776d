"""How the pairs of one kind differ from what they have in common."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from analyzer.loggp.estimate import Estimate
from analyzer.loggp.typical import groups, typical


@dataclass(frozen=True)
class PairModel:
    """One pair: its latency, and its overheads and gaps as multiples of those of the common model."""

    ranks: tuple[int, int]
    rows: int
    latency_s: float
    overhead: float
    gap: float


def compared_pairs(of: Estimate, ranks: Callable[[int], tuple[int, int]]) -> list[PairModel]:
    """One for each pair, by its typical rows; none where there is one pair only. `ranks` of a pair's number."""
    rows = of.sample
    numbers, places = groups(rows.pair)
    if len(numbers) < 2:
        return []

    def means(value: np.ndarray, chosen: np.ndarray) -> np.ndarray:
        keep = chosen.copy()
        keep[chosen] = typical(rows.pair[chosen], value[chosen])
        return np.array([value[at][keep[at]].mean() if keep[at].any() else np.nan for at in places])

    with np.errstate(divide="ignore", invalid="ignore"):
        shares = [rows.overhead_s / of.model.overhead(rows.size), rows.gap_s / of.model.gap(rows.size)]
    latency_s = means(rows.latency_s, np.ones(len(rows.size), bool))
    overhead, gap = (means(share, np.isfinite(share)) for share in shares)
    return [
        PairModel(ranks(int(number)), len(at), float(latency_s[i]), float(overhead[i]), float(gap[i]))
        for i, (number, at) in enumerate(zip(numbers, places, strict=True))
    ]
