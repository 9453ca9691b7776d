"""What threads did when, and how much of the critical path that was."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from analyzer.critical.functions import Functions

_NODES_AT_ONCE = 1 << 16
"""So that what is computed of them stays in the cache."""


@dataclass(frozen=True)
class Did:
    """What a thread did: in [begin, held) the tracer had it, in [held, enter) it did `ahead`, in [enter, exit)
    `inside` (numbers of Functions). Arrays of one length."""

    begin: np.ndarray
    held: np.ndarray
    enter: np.ndarray
    exit: np.ndarray
    ahead: np.ndarray
    inside: np.ndarray


def did_in(functions: Functions, rows: np.ndarray, begin: int, held: int) -> Did:
    """From `begin` on, with the nodes (NODE) of a thread that the tracer holds until `held`."""
    enter, exit_ = rows["enter"], rows["exit"]
    begins = np.append(begin, exit_[:-1])
    until = np.maximum.accumulate(np.append(held, (exit_ + rows["tracer"])[:-1]))
    return Did(
        begins, np.clip(until, begins, np.maximum(enter, begins)), enter, exit_,
        functions.before_nodes(rows), functions.of_nodes(rows),
    )  # fmt: skip


def pieces_of(functions: Functions, whole: np.ndarray, begin: int) -> Iterator[tuple[int, Did]]:
    """What a thread with these nodes (NODE) did from `begin` on, piece by piece, each with the number of its first."""
    held = begin
    for first in range(0, len(whole), _NODES_AT_ONCE):
        rows = whole[first : first + _NODES_AT_ONCE]
        did = did_in(functions, rows, begin, held)
        if first == 0:
            did.ahead[:1] = functions.launch
        yield first, did
        begin, held = int(rows["exit"][-1]), max(held, int((rows["exit"] + rows["tracer"]).max()))


class Before:
    """The time on the path of one thread before any time."""

    def __init__(self, segments: np.ndarray) -> None:
        self._begin = segments["begin"]
        self._length = segments["end"] - segments["begin"]
        self._sums = np.concatenate([[0], np.cumsum(self._length)])

    @property
    def total(self) -> int:
        return int(self._sums[-1])

    def until(self, times: np.ndarray) -> np.ndarray:
        """ns of the path before each time, which no segment need contain."""
        if not len(self._begin):
            return np.zeros(len(times), np.int64)
        at = np.searchsorted(self._begin, times, "right") - 1
        last = at.clip(min=0)
        return np.where(at < 0, 0, self._sums[last] + np.minimum(times - self._begin[last], self._length[last]))
