"""JOIN: several tables as one, with the columns that all of them have (Rodriguez 2011, section 2.5.2; cll.join)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from analyzer.experiments.columns import FIXED, REGION

if TYPE_CHECKING:
    import pandas


def join(frames: Sequence[pandas.DataFrame]) -> tuple[pandas.DataFrame, tuple[str, ...]]:
    """The rows of all tables, one table after the other, and the columns that were left out because one lacks them.

    Tables without rows say nothing of columns. If all have regions, the rows are by region.
    """
    import pandas

    frames = [frame for frame in frames if len(frame)] or list(frames[:1])
    if not frames:
        return pandas.DataFrame({name: [] for name in FIXED}), ()
    every = list(dict.fromkeys(name for frame in frames for name in frame.columns))
    common = [name for name in every if all(name in frame.columns for frame in frames)]
    joined = pandas.concat([frame[common] for frame in frames], ignore_index=True)
    if REGION in common and len(frames) > 1:
        joined = joined.sort_values(REGION, kind="stable", ignore_index=True)
    return joined, tuple(name for name in every if name not in common)
