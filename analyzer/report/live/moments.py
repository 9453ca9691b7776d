"""What a rank does at a moment, as `analyze what` says it, and what it waits for."""

from __future__ import annotations

from typing import Any

import numpy as np

from analyzer.live.run import Run
from analyzer.moment.moment import moment
from analyzer.report.moment import moment_json
from analyzer.waits.kinds import LABELS

_AROUND = 1
"""Calls before and after."""


def moment_at(run: Run, rank: int, time: int) -> dict[str, Any]:
    """The JSON of `analyze what`, without what is on its way, and of each thread `wait`: None, or what it waits for."""
    with run.reading:
        said = moment_json(run.trace, moment(run.trace, rank, time, _AROUND, messages=False))
    for thread in said["threads"]:
        thread["wait"] = _wait(run, int(run.lanes.first[rank]) + thread["thread"], time)
    return said


def _wait(run: Run, lane: int, time: int) -> dict[str, Any] | None:
    """The wait of the call that a thread is in."""
    first, last = run.waits.lane_first[lane : lane + 2].tolist()
    rows = run.waits.waits[first:last]
    at = int(np.searchsorted(rows["enter"], time, side="right")) - 1
    if at < 0 or time >= max(rows["end"][at], rows["exit"][at]):
        return None
    row = rows[at]
    return {
        "kind": LABELS[row["kind"]],
        "cause_rank": int(run.lanes.rank[row["cause"]]),
        "begin_s": int(row["enter"]) / 1e9,
        "end_s": int(row["end"]) / 1e9,
    }
