"""Levels of a network that is at times faster than at others, for milliseconds or minutes, without other load.

For example, two processors of a virtual machine are two threads of one core or two cores, as the host moves them.
Messages through shared memory take half as long where both share a cache. Each row has the time of a message of one
byte
there and back, PRTT(1,0,1), which shows the level of the row. Sizes measured at different levels do not lie on one
line.
So only rows of one level are compared: the fastest level at which nearly all sizes were measured.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from tracelib.schema.net import RowFlag

BIN = 0.04
"""Width of the histogram's bins, as a share of the time. It is about the clock's resolution for the shortest times."""
SMOOTH = np.array([1, 2, 3, 2, 1]) / 9
"""Weights with which the histogram is smoothed."""
APART = 1.25
"""Smallest ratio of the times of two levels."""
SPAN = round(np.log(50) / BIN)
"""Number of bins, beginning at the fastest time. Longer times count as disturbed."""
DEEPEST = 0.6
"""Two peaks are two levels if the valley between them is at most this share of the lower peak."""
LEAST_SHARE = 0.1
"""Smallest share of the rows that a level has. Fewer rows count as disturbed."""
SURE = 5.0
"""Smallest height of a peak above the valley, in standard deviations of the count."""
FEWEST_ROWS = 100
"""Levels are distinguished only if a pair has at least this number of rows."""
COVERED = 0.9
"""Smallest share of the sizes of which the reported level must have rows."""
FEWEST_OF_SIZE = 3
"""Smallest number of rows for which a level counts as having a size."""
UNKNOWN = -1
"""Level of a row in which a rank lost its processor."""


@dataclass(frozen=True)
class PairLevels:
    """Levels of one pair of ranks, the fastest first.

    Attributes:
        latency_s: Latency of each level: half of PRTT(1,0,1), median.
        share: Share of the rows of each level.
        of_row: Level of each row, or UNKNOWN.
        reported: Level that is reported.
    """

    latency_s: np.ndarray  # half of PRTT(1,0,1), median
    share: np.ndarray  # of the rows
    of_row: np.ndarray  # index of each row's level, UNKNOWN where a rank lost its processor
    reported: int

    @property
    def counts(self) -> np.ndarray:
        """Mask of the rows at the reported level. If there is only one level, all rows."""
        return self.of_row == self.reported if len(self.share) > 1 else np.ones(len(self.of_row), bool)


def visits(rows: np.ndarray) -> np.ndarray:
    """Number the visits. A visit is a series of rows that were measured one after the other.

    Returns:
        Number of each row's visit, int64 of shape (rows,).
    """
    if not len(rows):
        return np.zeros(0, np.int64)
    warm_up = rows["flags"] & RowFlag.WARM_UP > 0
    other = (np.diff(rows["size"]) != 0) | (np.diff(rows["pair"]) != 0)
    return np.concatenate([[0], np.cumsum(other | (warm_up[1:] & ~warm_up[:-1]))])


def levels(rows: np.ndarray, wanted: int | None = None) -> PairLevels:
    """Find the levels in the rows of one pair.

    Args:
        rows: Rows of the pair.
        wanted: Number of the level to report, 1 for the fastest. If there are fewer levels, the slowest is reported.
            None:
            the fastest level that has rows of nearly all sizes.
    """
    known = (rows["flags"] & (RowFlag.HIT_ZERO | RowFlag.WARM_UP) == 0) & (rows["zero_s"] > 0)
    zero_s = rows["zero_s"][known]
    borders = _valleys(np.log(zero_s)) if len(zero_s) >= FEWEST_ROWS else np.zeros(0)
    of_row = np.full(len(rows), UNKNOWN)
    of_row[known] = np.searchsorted(borders, np.log(zero_s), side="right")
    every = range(len(borders) + 1)
    number = np.array([(of_row == level).sum() for level in every])
    latency_s = [np.median(rows["zero_s"][of_row == level]) / 2 if number[level] else np.nan for level in every]
    share = number / max(1, number.sum())
    reported = min(wanted, len(number)) - 1 if wanted else _covering(rows["size"], of_row, len(number))
    return PairLevels(np.array(latency_s), share, of_row, reported)


def levels_of_pairs(rows: np.ndarray, wanted: int | None = None) -> dict[int, PairLevels]:
    """Find the levels of each pair that has rows.

    Args:
        rows: Rows of all pairs.
        wanted: As in `levels`.

    Returns:
        The levels by number of the pair.
    """
    return {int(pair): levels(rows[rows["pair"] == pair], wanted) for pair in np.unique(rows["pair"])}


def at_one_level(rows: np.ndarray, of: Mapping[int, PairLevels]) -> np.ndarray:
    """Return a mask of the rows that were measured at the level reported for their pair.

    Args:
        rows: Rows of all pairs.
        of: Levels of each pair, from `levels_of_pairs`.
    """
    counts = np.ones(len(rows), bool)
    for pair, found in of.items():
        counts[rows["pair"] == pair] = found.counts
    return counts


def _covering(size: np.ndarray, of_row: np.ndarray, number: int) -> int:
    """Return the fastest level that has rows of nearly all sizes (COVERED). If none has: the level with most sizes."""
    if number == 1:
        return 0
    sizes, place = np.unique(size, return_inverse=True)
    held = [np.bincount(place[of_row == level], minlength=len(sizes)) >= FEWEST_OF_SIZE for level in range(number)]
    covered = np.array([of.mean() for of in held])
    enough = np.flatnonzero(covered >= COVERED)
    return int(enough[0]) if len(enough) else int(covered.argmax())


def _valleys(x: np.ndarray) -> np.ndarray:
    """Return the borders between the levels, as logarithms of times. `x` are the logarithms of all times."""
    low = np.quantile(x, 0.001)
    bins = np.maximum((x - low) / BIN, 0).astype(int)
    heights = np.convolve(np.bincount(bins[bins < SPAN]), SMOOTH, "full")  # begins two bins earlier
    found: list[int] = []
    parts = [(0, len(heights))]
    while parts:
        begin, end = parts.pop()
        border = _valley(heights, begin, end, LEAST_SHARE * len(x))
        if border is not None:
            found.append(border)
            parts += [(begin, border), (border, end)]
    return low + BIN * (np.sort(found) - 1.5)


def _valley(heights: np.ndarray, begin: int, end: int, fewest: float) -> int | None:
    """Return the deepest bin between two peaks of [begin, end) with `fewest` rows each.

    None: there is only one peak.
    """
    beside = round(np.log(APART) / BIN)
    best, chosen = DEEPEST, None
    for border in range(begin + 1, end - 1):
        left, right = begin + int(heights[begin:border].argmax()), border + int(heights[border:end].argmax())
        around = [heights[max(begin, left - beside) : min(border, left + beside + 1)],
                  heights[max(border, right - beside) : min(end, right + beside + 1)]]  # fmt: skip
        many = min(part.sum() for part in around) >= fewest
        peak, valley = min(heights[left], heights[right]), heights[border]
        sure = peak - valley > SURE * np.sqrt(peak * (SMOOTH**2).sum())
        if right - left >= beside and many and sure and valley < best * peak:
            best, chosen = valley / peak, border
    return chosen
