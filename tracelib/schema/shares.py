"""Shares of work in whole items, and the plan file from which a program reads them.

Source: "PEMPIs-Het" (search-and-balance specification, section 2): the fractions are the initial plan of work, and
become whole items. A plan is a text file that C, Fortran and Python read (`tracelib_balance.h`):

    tracelib-plan 1
    ranks 3
    speeds 20000 1 4.25 7.55
    expect 20000 40.15 39.8 41.0 55.2
    times 20000 40.15 40.1

`speeds SIZE` has items per time of each rank, in any unit, at that size of the problem: with one such line the plan is
static. With several (sizes rise), speeds between two sizes are interpolated; outside, the nearest size holds.
`expect SIZE` has seconds: the time, its lowest and highest, and the time with equal shares.
`times SIZE` has the seconds that each rank is expected to take for its share. `#` begins a comment.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from math import floor, isfinite

MAGIC = "tracelib-plan"
"""First word of a plan file."""
VERSION = 1
MOST_ITEMS = 2**50
"""Largest number of items. Up to here a share, as a double, is exact to a small fraction of one item."""


def split(items: int, speeds: Sequence[float]) -> list[int]:
    """Divide items among ranks in proportion to their speeds, in whole numbers.

    Each number differs by at most 1 from items x speed / sum of speeds. Items left over by rounding down go to the
    ranks
    that would finish first with one more item, so that the largest number / speed is as small as possible. Among equal
    ranks, the first gets the item.

    Args:
        items: Number of items.
        speeds: Speed of each rank, in any unit.

    Raises:
        ValueError: A speed is not above 0, or the number of items is below 0 or above MOST_ITEMS.
    """
    if not 0 <= items <= MOST_ITEMS:
        raise ValueError(f"{items} items cannot be shared")
    total = 0.0
    for rank, speed in enumerate(speeds):
        if not (speed > 0 and isfinite(speed)):
            raise ValueError(f"the speed of rank {rank} is {speed:g}, and must be above 0")
        total += speed
    if not speeds or not isfinite(total):
        raise ValueError("there is nobody to share with" if not speeds else "the speeds are too large")
    counts = [floor(items * (speed / total)) for speed in speeds]
    while (left := items - sum(counts)) > 0:
        order = sorted(range(len(counts)), key=lambda rank: ((counts[rank] + 1) / speeds[rank], rank))
        for rank in order[:left]:
            counts[rank] += 1
    while sum(counts) > items:  # floor() of a product that was rounded up
        last = max(range(len(counts)), key=lambda rank: (counts[rank] / speeds[rank], rank))
        counts[last] -= 1
    return counts


@dataclass(frozen=True)
class Expectation:
    """Times that a plan expects at one size of the problem, in s.

    Attributes:
        time_s: Time of the last rank.
        low_s: Lower limit of this time.
        high_s: Upper limit of this time.
        even_s: Time of the last rank if all ranks had equal shares.
    """

    time_s: float
    low_s: float
    high_s: float
    even_s: float  # with equal shares

    @property
    def gain(self) -> float:
        """Share of the time with equal shares that the plan saves, up to 1."""
        return 1 - self.time_s / self.even_s if self.even_s else 0.0


@dataclass(frozen=True)
class SharePlan:
    """Speeds of the ranks by size of the problem, from which their shares of the work follow.

    Attributes:
        sizes: Sizes of the problem, ascending.
        speeds: Speed of each rank at each size, in any unit.
        expected: Sizes, and the times expected at each.
        times: Sizes, and the expected time of each rank for its share, in s.
    """

    sizes: tuple[float, ...]  # rising
    speeds: tuple[tuple[float, ...], ...]  # by size, then by rank
    expected: tuple[tuple[float, Expectation], ...] = ()  # by size
    times: tuple[tuple[float, tuple[float, ...]], ...] = ()  # by size: what each rank takes for its share, s

    def __post_init__(self) -> None:
        ranks = {len(row) for row in self.speeds}
        if len(ranks) != 1 or 0 in ranks or len(self.sizes) != len(self.speeds):
            raise ValueError("a plan has the speeds of all its ranks, at one size or more")
        if any(not (speed > 0 and isfinite(speed)) for row in self.speeds for speed in row):
            raise ValueError("speeds are numbers above 0")
        if any(not isfinite(size) for size in self.sizes) or list(self.sizes) != sorted(set(self.sizes)):
            raise ValueError("the sizes of a plan rise")
        if any(len(row) not in ranks or not all(time >= 0 for time in row) for _, row in self.times):
            raise ValueError("times of a plan are those of all its ranks, 0 or more")

    @property
    def ranks(self) -> int:
        """Number of ranks."""
        return len(self.speeds[0])

    @property
    def is_dynamic(self) -> bool:
        """True if the plan has speeds for more than one size."""
        return len(self.sizes) > 1

    def speeds_at(self, size: float) -> list[float]:
        """Return the speed of each rank at a size, interpolated between the plan's sizes.

        Outside, the nearest size holds.
        """
        after = bisect_left(self.sizes, size)
        if after == 0 or after == len(self.sizes):
            return list(self.speeds[min(after, len(self.sizes) - 1)])
        low, high = self.sizes[after - 1 : after + 1]
        part = (size - low) / (high - low)
        return [a + part * (b - a) for a, b in zip(self.speeds[after - 1], self.speeds[after], strict=True)]

    def shares(self, items: int, size: float | None = None) -> list[int]:
        """Return the number of items of each rank.

        Args:
            items: Number of items that are shared.
            size: Size of the problem. None: the number of items.
        """
        return split(items, self.speeds_at(items if size is None else size))

    def expectation(self, size: float) -> Expectation | None:
        """Return the expected times at exactly this size. None: the plan has none."""
        return dict(self.expected).get(size)

    def times_at(self, size: float) -> tuple[float, ...] | None:
        """Return the expected time of each rank at exactly this size, in s. None: the plan has none."""
        return dict(self.times).get(size)

    def text(self) -> str:
        """Return the plan in the form of a plan file."""
        lines = [f"{MAGIC} {VERSION}", f"ranks {self.ranks}"]
        lines += [_line("speeds", size, *row) for size, row in zip(self.sizes, self.speeds, strict=True)]
        lines += [_line("expect", size, e.time_s, e.low_s, e.high_s, e.even_s) for size, e in self.expected]
        lines += [_line("times", size, *row) for size, row in self.times]
        return "\n".join(lines) + "\n"


def _line(word: str, *numbers: float) -> str:
    return " ".join([word, *(f"{number:.17g}" for number in numbers)])


def read_plan(text: str) -> SharePlan:
    """Read a plan from the text of a plan file.

    Raises:
        ValueError: The text is no plan. The message has the number of the wrong line.
    """
    lines = [(number, line.split("#")[0].split()) for number, line in enumerate(text.splitlines(), 1)]
    lines = [(number, words) for number, words in lines if words]
    if not lines or lines[0][1] != [MAGIC, str(VERSION)]:
        raise ValueError(f"it does not begin with {MAGIC} {VERSION}")
    ranks = 0
    rows: list[tuple[float, tuple[float, ...]]] = []
    expected = []
    times = []
    for number, (word, *values) in lines[1:]:
        try:
            numbers = [float(value) for value in values]
        except ValueError:
            numbers = []
        if word == "ranks" and len(numbers) == 1 and numbers[0] >= 1 and numbers[0] == int(numbers[0]) and not ranks:
            ranks = int(numbers[0])
        elif word == "speeds" and ranks and len(numbers) == 1 + ranks:
            rows.append((numbers[0], tuple(numbers[1:])))
        elif word == "expect" and len(numbers) == 5 and all(map(isfinite, numbers)):
            expected.append((numbers[0], Expectation(*numbers[1:])))
        elif word == "times" and ranks and len(numbers) == 1 + ranks and all(map(isfinite, numbers)):
            times.append((numbers[0], tuple(numbers[1:])))
        else:
            raise ValueError(f"line {number} is no line of a plan")
    return SharePlan(tuple(size for size, _ in rows), tuple(row for _, row in rows), tuple(expected), tuple(times))
