"""Levels: a network that is at times faster than at others, for milliseconds or for minutes, whoever else works.

Two processors of a virtual machine are now two threads of one core, now two cores, as its host moves them; messages
through shared memory take half as long where they share a cache. Each row holds a message of one byte there and back,
PRTT(1,0,1), which tells at what level the row was measured. Sizes measured at different levels do not lie on one line,
so rows of one level only are compared: of the fastest at which nearly all sizes were measured.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from tracelib.schema.net import RowFlag

BIN = 0.04
"""Width of the histogram's bins, as a share of the time; about the resolution of clocks where times are shortest."""
SMOOTH = np.array([1, 2, 3, 2, 1]) / 9
APART = 1.25
"""Levels whose times differ by less are one; the rows of one are so close to the most frequent time, or mostly so."""
SPAN = round(np.log(50) / BIN)
"""Bins from the fastest on: what takes longer is disturbed."""
DEEPEST = 0.6
"""Largest number of rows in the valley between two levels, relative to the lower of their peaks."""
LEAST_SHARE = 0.1
"""Smallest share of the rows that a level has. Fewer rows are not a level, but disturbed."""
SURE = 5.0
"""Standard deviations of the count by which a peak is above the valley beside it."""
FEWEST_ROWS = 100
"""Number of rows of a pair below which no levels are distinguished."""
COVERED = 0.9
"""Share of the sizes that the reported level holds rows of."""
FEWEST_OF_SIZE = 3
UNKNOWN = -1


@dataclass(frozen=True)
class PairLevels:
    """Levels of one pair, the fastest first."""

    latency_s: np.ndarray  # half of PRTT(1,0,1), median
    share: np.ndarray  # of the rows
    of_row: np.ndarray  # index of each row's level, UNKNOWN where a rank lost its processor
    reported: int

    @property
    def counts(self) -> np.ndarray:
        """Rows at the reported level (bool); where there is but one, all rows."""
        return self.of_row == self.reported if len(self.share) > 1 else np.ones(len(self.of_row), bool)


def visits(rows: np.ndarray) -> np.ndarray:
    """Number the visits: rows that were measured one after the other have the same number."""
    if not len(rows):
        return np.zeros(0, np.int64)
    warm_up = rows["flags"] & RowFlag.WARM_UP > 0
    other = (np.diff(rows["size"]) != 0) | (np.diff(rows["pair"]) != 0)
    return np.concatenate([[0], np.cumsum(other | (warm_up[1:] & ~warm_up[:-1]))])


def levels(rows: np.ndarray, wanted: int | None = None) -> PairLevels:
    """Find the levels in the rows of one pair.

    Args:
        rows: Rows of the pair.
        wanted: The level to report, 1 for the fastest; the slowest if there are fewer levels. None: the fastest level
            of which nearly all sizes have rows.
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
    """Find the levels of each pair that has rows, by number of the pair. `wanted`: as for `levels`."""
    return {int(pair): levels(rows[rows["pair"] == pair], wanted) for pair in np.unique(rows["pair"])}


def at_one_level(rows: np.ndarray, of: Mapping[int, PairLevels]) -> np.ndarray:
    """Return a mask of the rows that were measured at the level reported for their pair.

    `of`: levels_of_pairs(rows).
    """
    counts = np.ones(len(rows), bool)
    for pair, found in of.items():
        counts[rows["pair"] == pair] = found.counts
    return counts


def _covering(size: np.ndarray, of_row: np.ndarray, number: int) -> int:
    """Return the fastest of so many levels that holds rows of nearly all sizes, else the one of the most."""
    if number == 1:
        return 0
    sizes, place = np.unique(size, return_inverse=True)
    held = [np.bincount(place[of_row == level], minlength=len(sizes)) >= FEWEST_OF_SIZE for level in range(number)]
    covered = np.array([of.mean() for of in held])
    enough = np.flatnonzero(covered >= COVERED)
    return int(enough[0]) if len(enough) else int(covered.argmax())


def _valleys(x: np.ndarray) -> np.ndarray:
    """Return the borders between the levels of logarithms of times."""
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
    """Return the deepest bin between two peaks of [begin, end) with `fewest` rows each; None where there is but one
    peak."""
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
