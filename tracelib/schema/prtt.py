"""Overhead and gap of each message size from measured times PRTT (parametrized round trip time), freed of disturbances.

Source: TIA, Eqs. 3.1 and 3.2: T_o(s) = (PRTT(n,d,s) - PRTT(1,0,s)) / (n-1) - d,
T_g(s) = (PRTT(n,0,s) - PRTT(1,0,s)) / (n-1).

Other work of a processor only makes a PRTT longer. A row that combines a lengthened PRTT(1,0,s) with other times
gives a
result that is too short. So the shortest times of each kind are combined, from whatever row they are.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tracelib.schema.levels import at_one_level, levels_of_pairs, visits
from tracelib.schema.net import RowFlag

LOW = 0.25
"""Quantile that stands for a time without disturbance.

Half of the undisturbed times lie below it, if half of all times are disturbed."""
FEWEST = 3
"""If fewer rows than this have no flag, all rows count."""
_Z = 1.96


@dataclass(frozen=True)
class SizeTimes:
    """Times of each message size in s, with half the width of their 95 % confidence intervals (distribution-free).

    Attributes:
        size: Message size in bytes, ascending.
        rows: Number of rows that count.
        visits: Number of visits in which the rows were measured.
        one_s: PRTT(1,0,s).
        overhead_s: Overhead T_o.
        overhead_ci_s: Half width of the overhead's interval.
        gap_s: Gap T_g.
        gap_ci_s: Half width of the gap's interval.
    """

    size: np.ndarray  # bytes, ascending
    rows: np.ndarray  # how many count
    visits: np.ndarray  # in how many visits they were measured
    one_s: np.ndarray
    overhead_s: np.ndarray
    overhead_ci_s: np.ndarray
    gap_s: np.ndarray
    gap_ci_s: np.ndarray


def overheads_s(rows: np.ndarray, one_s: np.ndarray | float) -> np.ndarray:
    """Compute the overhead T_o of each row in s, with the delays that were measured.

    Args:
        rows: Measured rows.
        one_s: PRTT(1,0,s) in s, for each row or for all.
    """
    return (rows["delayed_s"] - one_s) / (rows["train"] - 1) - rows["waited_s"]


def gaps_s(rows: np.ndarray, one_s: np.ndarray | float) -> np.ndarray:
    """Compute the gap T_g of each row in s.

    Args:
        rows: Measured rows.
        one_s: PRTT(1,0,s) in s, for each row or for all.
    """
    return (rows["train_s"] - one_s) / (rows["train"] - 1)


def undisturbed(rows: np.ndarray, flag: RowFlag) -> np.ndarray:
    """Return the rows that have neither `flag` nor the flag of a warm-up.

    If fewer than FEWEST are left, all rows but warm-ups are returned, and if there are none of these, all rows.
    """
    warm = rows[rows["flags"] & RowFlag.WARM_UP == 0]
    for chosen in (warm[warm["flags"] & flag == 0], warm):
        if len(chosen) >= FEWEST:
            return chosen
    return warm if len(warm) else rows


def low(values: np.ndarray, independent: int) -> tuple[float, float]:
    """Return the quantile LOW, and half the width of its 95 % confidence interval.

    With fewer than FEWEST values, these are the smallest value and infinity.

    Args:
        values: The values.
        independent: Number of values that no common disturbance links.
    """
    if len(values) < FEWEST:
        return float(np.min(values)), np.inf
    aside = _Z * np.sqrt(LOW * (1 - LOW) / independent)
    below, value, above = np.quantile(values, np.clip([LOW - aside, LOW, LOW + aside], 0, 1))
    return float(value), float(above - below) / 2


def size_times(rows: np.ndarray) -> SizeTimes:
    """Summarize the times of each message size. Only rows at the reported level count (schema/levels.py).

    Args:
        rows: Rows of one pair of ranks, or of several pairs that are alike.
    """
    visit, counts = visits(rows), at_one_level(rows, levels_of_pairs(rows))
    rows, visit = rows[counts], visit[counts]
    order = np.argsort(rows["size"], kind="stable")
    sizes, begins = np.unique(rows["size"][order], return_index=True)
    parts = np.split(order, begins[1:]) if len(rows) else []
    found = [_one_size(rows[part], len(np.unique(visit[part]))) for part in parts]
    return SizeTimes(sizes, *(np.array(column) for column in zip(*found, strict=True)) if found else [np.zeros(0)] * 7)


def _one_size(rows: np.ndarray, visited: int) -> tuple[int, int, float, float, float, float, float]:
    one, _ = low(undisturbed(rows, RowFlag.HIT_ONE)["one_s"], visited)
    trains, delayed = undisturbed(rows, RowFlag.HIT_TRAIN), undisturbed(rows, RowFlag.HIT_DELAYED)
    overhead, gap = low(overheads_s(delayed, one), visited), low(gaps_s(trains, one), visited)
    return min(len(trains), len(delayed)), visited, one, *overhead, *gap
