"""Plans as files, with the errors that a user sees."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from analyzer.errors import TracelibError
from analyzer.whole import whole_file
from tracelib.schema.shares import Plan, read_plan


def load_plan(path: str | Path, ranks: int | None = None) -> Plan:
    """A plan. Raises TracelibError where it is none, or not of so many ranks."""
    try:
        plan = read_plan(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise TracelibError(f"cannot read {path}: {error.strerror}") from error
    except ValueError as error:
        raise TracelibError(f"{path} is no plan: {error}", "analyze balance -o PLAN writes one") from error
    if ranks is not None and plan.ranks != ranks:
        raise TracelibError(f"{path} is a plan for {plan.ranks} ranks, and the run has {ranks}")
    return plan


def save_plan(plan: Plan, path: str | Path) -> None:
    """Write it."""
    with whole_file(path) as file:
        file.write(plan.text().encode())


def parts_of(plan: Plan, items: int | None) -> np.ndarray:
    """The part of the work of each rank: in whole items, if it is known how many are shared."""
    if items is None:
        speeds = np.array(plan.speeds_at(plan.sizes[0]))
        return speeds / speeds.sum()
    return np.array(plan.shares(items), float) / items
