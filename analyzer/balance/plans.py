"""Relative performance of machines, fractions of work, and the plans for a mix of machines.

Source: search-and-balance specification, section 2, formulas 2, 3 and 8 to 14; P2 to P5.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from analyzer.atomic_file import whole_file
from analyzer.balance.parts import equal_finish
from analyzer.balance.repository import MachineModel
from analyzer.errors import TracelibError
from tracelib.schema.shares import Expectation, SharePlan, read_plan, split


def load_plan(path: str | Path, ranks: int | None = None) -> SharePlan:
    """Read a plan from a file.

    Args:
        path: Path of the plan.
        ranks: Number of ranks that the plan must have. None: any.

    Raises:
        TracelibError: The file holds no plan, or a plan for another number of ranks.
    """
    try:
        plan = read_plan(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise TracelibError(f"cannot read {path}: {error.strerror}") from error
    except ValueError as error:
        raise TracelibError(f"{path} is no plan: {error}", "analyze balance -o PLAN writes one") from error
    if ranks is not None and plan.ranks != ranks:
        raise TracelibError(f"{path} is a plan for {plan.ranks} ranks, and the run has {ranks}")
    return plan


def save_plan(plan: SharePlan, path: str | Path) -> None:
    """Write a plan to a file, which appears whole or not at all."""
    with whole_file(path) as file:
        file.write(plan.text().encode())


def parts_of(plan: SharePlan, items: int | None) -> np.ndarray:
    """Return the fraction of the work of each rank, shape (ranks,); the sum is 1.

    Args:
        plan: The plan.
        items: Number of items; the fractions then are whole numbers of items. None: not known, the speeds at the plan's
            first size count.
    """
    if items is None:
        speeds = np.array(plan.speeds_at(plan.sizes[0]))
        return speeds / speeds.sum()
    return np.array(plan.shares(items), float) / items


@dataclass(frozen=True)
class MachineGroup:
    """Group of equal machines: the model of their type, and their number."""

    model: MachineModel
    count: int


def relative_performance(groups: Sequence[MachineGroup], n: float) -> list[float]:
    """Divide the first type's time for the shared work of size n by the time of each type (formula 10)."""
    processes = _processes(groups)
    times = [group.model.whole_s(n, processes) for group in groups]
    return [times[0] / time for time in times]


def _processes(groups: Sequence[MachineGroup]) -> int:
    return sum(group.count for group in groups)


def fractions(groups: Sequence[MachineGroup], n: float) -> list[float]:
    """Compute f_i, the fraction of all work for one machine of each type, so that all machines finish together.

    The fractions of all p_i machines add up: sum p_i f_i = 1. Where all of a process's time is shared work, the result
    equals formulas 11 to 13.

    Args:
        groups: Machines by type.
        n: Size of the problem.

    Raises:
        TracelibError: A machine would have nothing to do.

    Source: formulas 3, 9.
    """
    processes = _processes(groups)
    whole = [group.model.whole_s(n, processes) for group in groups]
    fixed = [group.model.fixed_s(n, processes) for group in groups]
    found = equal_finish(whole, fixed, [group.count for group in groups])
    for group, fraction, own in zip(groups, found, fixed, strict=True):
        if fraction <= 0:
            name = group.model.name
            raise TracelibError(
                f"{name} would get no work at n = {n:g}: {own:.3g} s of a process there are not shared",
                f"leave {name} out",
            )
    return found


def speeds_of_ranks(groups: Sequence[MachineGroup], n: float) -> list[float]:
    """Compute the speed of each rank relative to a rank of the first group. Ranks are in order of the groups."""
    found = fractions(groups, n)
    return [f / found[0] for group, f in zip(groups, found, strict=True) for _ in range(group.count)]


def rank_times_s(groups: Sequence[MachineGroup], n: float, counts: Sequence[int], items: int) -> list[float]:
    """Compute the time of each rank for its items, s: T_i = f_i delta_i(1, n), or the sum of its parts.

    Args:
        groups: Machines by type.
        n: Size of the problem.
        counts: Number of items of each rank.
        items: Number of all items.

    Source: formulas 2, 14.
    """
    processes = _processes(groups)
    models = [group.model for group in groups for _ in range(group.count)]
    return [model.process_s(n, count / items, processes) for model, count in zip(models, counts, strict=True)]


def expectation(groups: Sequence[MachineGroup], n: float, counts: Sequence[int], items: int) -> Expectation:
    """Compute the time of the last rank for its items, with its interval, and the time with equal shares.

    Args:
        groups: Machines by type.
        n: Size of the problem.
        counts: Number of items of each rank.
        items: Number of all items.
    """
    models = [group.model for group in groups for _ in range(group.count)]
    even = split(items, [1.0] * len(models))
    intervals = [
        model.process_interval_s(n, count / items, len(models)) for model, count in zip(models, counts, strict=True)
    ]
    return Expectation(
        max(rank_times_s(groups, n, counts, items)),
        max(low for low, _ in intervals),
        max(high for _, high in intervals),
        max(rank_times_s(groups, n, even, items)),
    )


@dataclass(frozen=True)
class SizePlan:
    """Fractions of work and expected times of a plan at one size of the problem.

    Attributes:
        size: Size of the problem, which is also the number of items.
        relative: Relative performance of each group (`relative_performance`).
        fractions: Fraction of the work for one machine of each group.
        counts: Number of items of each rank.
        times_s: Expected time of each rank.
        expected: Expected times of the last rank.
    """

    size: int
    relative: list[float]  # by group
    fractions: list[float]  # by group, of one machine
    counts: list[int]  # by rank
    times_s: list[float]  # by rank
    expected: Expectation

    @property
    def spread_s(self) -> float:
        """Time between the end of the first and of the last rank, s."""
        return max(self.times_s) - min(self.times_s)


def plan_of(
    groups: Sequence[MachineGroup], sizes: Sequence[int], static_size: int | None = None
) -> tuple[SharePlan, list[SizePlan]]:
    """Make a plan for a mix of machines, with its fractions and expected times at each size.

    Args:
        groups: Machines by type.
        sizes: Sizes of the problem. The number of items equals the size.
        static_size: Size whose fractions are used for all sizes. None: each size has fractions of its own.
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
    plan = SharePlan(
        tuple(float(size) for size in at),
        tuple(tuple(speeds_of_ranks(groups, size)) for size in at),
        tuple((float(one.size), one.expected) for one in found),
        tuple((float(one.size), tuple(one.times_s)) for one in found),
    )
    return plan, found
