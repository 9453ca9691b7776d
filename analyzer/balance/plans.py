"""Relative performance, fractions of work, and the plans that follow, for any mix of machines.

Source: search-and-balance specification, section 2, formulas 3 and 8 to 14; P2 to P5.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from analyzer.balance.repository import MachineModel
from analyzer.errors import TracelibError
from tracelib.schema.shares import Expectation, Plan, split


@dataclass(frozen=True)
class Group:
    """So many machines of one type."""

    model: MachineModel
    count: int


def relative_performance(groups: Sequence[Group], n: float) -> list[float]:
    """g_1i(n) = delta_1(1, n) / delta_i(1, n): how many times as fast as the first each type is (formula 10)."""
    times = [group.model.time_s(n) for group in groups]
    return [times[0] / time for time in times]


def fractions(groups: Sequence[Group], n: float) -> list[float]:
    """f_i, the part of all work for one machine of each type: sum p_i f_i = 1 (formulas 3, 11 to 13)."""
    relative = relative_performance(groups, n)
    total = sum(group.count * g for group, g in zip(groups, relative, strict=True))
    return [g / total for g in relative]


def speeds_of_ranks(groups: Sequence[Group], n: float) -> list[float]:
    """Relative performance of each rank; ranks are in order of the groups."""
    relative = relative_performance(groups, n)
    return [g for group, g in zip(groups, relative, strict=True) for _ in range(group.count)]


def rank_times_s(groups: Sequence[Group], n: float, counts: Sequence[int], items: int) -> list[float]:
    """T_i = f_i delta_i(1, n) of each rank, with whole items (formula 14)."""
    models = [group.model for group in groups for _ in range(group.count)]
    return [model.time_s(n) * count / items for model, count in zip(models, counts, strict=True)]


def expectation(groups: Sequence[Group], n: float, counts: Sequence[int], items: int) -> Expectation:
    """The time of the last rank with these items, its interval, and the time with equal shares."""
    models = [group.model for group in groups for _ in range(group.count)]
    even = split(items, [1.0] * len(models))
    parts = [count / items for count in counts]
    intervals = [model.interval_s(n) for model in models]
    return Expectation(
        max(rank_times_s(groups, n, counts, items)),
        max(part * low for part, (low, _) in zip(parts, intervals, strict=True)),
        max(part * high for part, (_, high) in zip(parts, intervals, strict=True)),
        max(rank_times_s(groups, n, even, items)),
    )


@dataclass(frozen=True)
class SizePlan:
    """What a plan means at one size."""

    size: int
    relative: list[float]  # by group
    fractions: list[float]  # by group, of one machine
    counts: list[int]  # by rank
    times_s: list[float]  # by rank
    expected: Expectation

    @property
    def spread_s(self) -> float:
        """Between the first and the last rank that is done."""
        return max(self.times_s) - min(self.times_s)


def plan_of(
    groups: Sequence[Group], sizes: Sequence[int], static_size: int | None = None
) -> tuple[Plan, list[SizePlan]]:
    """A plan for a mix of machines, and what it means at each size.

    static_size: fractions of that size are kept for all others; None: dynamic, they are those of each size. As many
    items as the size says are shared.
    """
    if not groups or not sizes:
        raise TracelibError("a plan needs machines and sizes", "--machines NAME=COUNT,... and --size N")
    order = sorted(set(sizes))
    if order[0] < 1:
        raise TracelibError("a size is 1 or more")
    found = []
    for size in order:
        basis = size if static_size is None else static_size
        counts = split(size, speeds_of_ranks(groups, basis))
        found.append(
            SizePlan(
                size,
                relative_performance(groups, basis),
                fractions(groups, basis),
                counts,
                rank_times_s(groups, size, counts, size),
                expectation(groups, size, counts, size),
            )
        )
    at = order if static_size is None else [static_size]
    plan = Plan(
        tuple(float(size) for size in at),
        tuple(tuple(speeds_of_ranks(groups, size)) for size in at),
        tuple((float(one.size), one.expected) for one in found),
        tuple((float(one.size), tuple(one.times_s)) for one in found),
    )
    return plan, found
