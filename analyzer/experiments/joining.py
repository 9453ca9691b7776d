"""JOIN: several tables as one, with the columns that all of them have (Rodriguez 2011, section 2.5.2; cll.join)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from analyzer.experiments.columns import CLOCK, FIXED, REGION, TIME

if TYPE_CHECKING:
    import pandas


def join(frames: Sequence[pandas.DataFrame]) -> tuple[pandas.DataFrame, tuple[str, ...]]:
    """The rows of all tables, one table after the other, and the columns that were left out because one lacks them.

    Tables without rows say nothing of columns. If all have regions, the rows are by region. TIA's CLOCK and our `time`
    are the same, seconds of wall-clock time: where one table has one of them and another the other, it is `time`.
    """
    import pandas

    frames = [frame for frame in frames if len(frame)] or list(frames[:1])
    if not frames:
        return pandas.DataFrame({name: [] for name in FIXED}), ()
    frames = _with_time(frames)
    every = list(dict.fromkeys(name for frame in frames for name in frame.columns))
    common = [name for name in every if all(name in frame.columns for frame in frames)]
    joined = pandas.concat([frame[common] for frame in frames], ignore_index=True)
    if REGION in common and len(frames) > 1:
        joined = joined.sort_values(REGION, kind="stable", ignore_index=True)
    return joined, tuple(name for name in every if name not in common)


def _with_time(frames: Sequence[pandas.DataFrame]) -> list[pandas.DataFrame]:
    alone = [CLOCK in frame.columns and TIME not in frame.columns for frame in frames]
    if not any(TIME in frame.columns for frame in frames):
        return list(frames)
    return [frame.rename(columns={CLOCK: TIME}) if only else frame for frame, only in zip(frames, alone, strict=True)]
