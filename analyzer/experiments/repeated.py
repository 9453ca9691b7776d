"""Repeated measurements as one: the executions and ranks of a run, or the ranks of an execution."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from analyzer.errors import TracelibError
from analyzer.experiments.columns import BEGIN, EXECUTION, NODE, RANK, REGION, RUN, THREAD

if TYPE_CHECKING:
    import pandas

RUNS, EXECUTIONS = "run", "execution"
LEVELS = {RUNS: (REGION, RUN), EXECUTIONS: (REGION, RUN, EXECUTION)}
"""What the rows of a level have in common, besides their factors."""
STATISTICS = ("median", "min", "mean", "max")
COUNT = "rows"
_DROPPED = (NODE, RANK, THREAD, EXECUTION, BEGIN)


def per(level: str, frame: pandas.DataFrame, factors: Sequence[str], statistic: str) -> pandas.DataFrame:
    """One row for each run (and region), or execution, and setting of the factors. Each measured column has its
    `statistic`, one of STATISTICS, over the rows that it stands for; `rows` is how many these are (`rows_` where there
    is such a column).

    Raises TracelibError where nothing tells rows apart.
    """
    keys = [name for name in dict.fromkeys([*LEVELS[level], *factors]) if name in frame.columns]
    values = [
        name for name in frame.columns
        if name not in keys and name not in _DROPPED and frame[name].dtype.kind in "iufb"
    ]  # fmt: skip
    if not keys:
        raise TracelibError(f"nothing says which rows are of one {level}", "name the factors: --factors n,ranks")
    groups = frame.groupby(keys, dropna=False, sort=False)
    found = groups.size().to_frame(COUNT + "_" * sum(name in (COUNT, COUNT + "_") for name in frame.columns))
    for name in values:
        found[name] = groups[name].agg(statistic)
    return found.reset_index()
