"""Which calls the two sides of a message were in at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise

import numpy as np

from analyzer.trace import CALL, Trace

Calls = Mapping[tuple[int, int], np.ndarray]
"""Rows of CALL in order of `enter`, by (rank, thread)."""


def windows_with_calls(trace: Trace, mine: np.ndarray) -> Iterator[tuple[np.ndarray, Calls]]:
    """Window by window the messages (MESSAGE) sent in it, and the calls of the ranks in `mine` (bool by rank) that
    began in it, with the last one before."""
    latest: dict[tuple[int, int], np.ndarray] = {}
    for begin, end in pairwise(trace.windows().tolist()):
        calls = {}
        for rank in np.flatnonzero(mine).tolist():
            rows = np.concatenate([np.zeros(0, CALL), *trace.calls(rank, begin, end)])
            for thread in range(int(trace.threads[rank])):
                before = latest.get((rank, thread), rows[:0])
                calls[rank, thread] = np.concatenate([before, rows[rows["thread"] == thread]])
                latest[rank, thread] = calls[rank, thread][-1:]
        yield trace.messages(begin, end), calls


def call_at(calls: Calls, messages: np.ndarray, side: str, time_ns: np.ndarray) -> np.ndarray:
    """The last call (CALL) that the "source" or the "destination" of each message had begun at a time, whether or not
    it was over by then; `enter` and `exit` -1 where there was none."""
    found = np.zeros(len(messages), CALL)
    found["enter"] = found["exit"] = found["call"] = -1
    keys = messages[side].astype(np.int64) << 32 | messages[f"{side}_thread"]
    for key in np.unique(keys).tolist():
        rows = calls.get((key >> 32, key & 0xFFFFFFFF), found[:0])
        chosen = np.flatnonzero(keys == key)
        place = np.searchsorted(rows["enter"], time_ns[chosen], side="right") - 1
        found[chosen[place >= 0]] = rows[place[place >= 0]]
    return found
