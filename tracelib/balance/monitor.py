"""Watches a running program and shares the work anew, when its ranks no longer finish together.

Source: search-and-balance specification, section 2, MON: planned, but not built by its authors.
"""

from __future__ import annotations

import os
from array import array
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from math import ceil
from time import perf_counter
from typing import Any

from tracelib.balance.initial import Share, shares
from tracelib.schema.shares import Plan, split


class Monitor:
    """Steps in which each rank computes its share, and shares that follow what was measured.

    `share` is this rank's, `before` the one until the last change.
    """

    def __init__(
        self,
        items: int,
        comm: Any = None,
        plan: str | os.PathLike[str] | Plan | None = None,
        *,
        seconds: float = 0.5,
        threshold: float = 0.1,
        clock: Callable[[], float] = perf_counter,
    ) -> None:
        """Collective. seconds: about so long between two looks at all ranks. threshold: the part of a step's time that
        new shares must gain. clock: what ranks measure themselves with; time.process_time sees how fast CPUs are, and
        not who else uses them. The first shares are those of `shares`."""
        if not (0 <= seconds < float("inf") and 0 <= threshold < 1):
            raise ValueError("a monitor looks every 0 s or less often, for a gain of 0 to 1")
        if comm is None:
            from mpi4py import MPI

            comm = MPI.COMM_WORLD
        self._comm, self._items, self._seconds, self._threshold = comm, items, seconds, threshold
        self.share = self.before = shares(items, comm, plan)
        self._speeds = self._earlier = [0.0] * comm.size  # items a second, at the last look and the one before
        self._computing = self._last_look = self.looks_s = 0.0
        self._expected: float | None = None  # s a step, after a change
        self.expected_s = self.taken_s = 0.0  # of all steps under its plans
        self.steps = self.looks = self.plans = self._looked = 0
        self._next_look = 1
        self._clock = clock
        self._started = self._interval = perf_counter()

    @contextmanager
    def computing(self) -> Iterator[None]:
        """What this rank computes of its share, in one step."""
        begun = self._clock()
        try:
            yield
        finally:
            self._computing += self._clock() - begun

    def step(self) -> bool:
        """The end of a step, by all ranks. Whether `share` is a new one."""
        self.steps += 1
        if self.steps < self._next_look:
            return False
        begun, steps = perf_counter(), self.steps - self._looked
        every = self._gathered(self._computing, self._last_look, begun - self._interval)
        seconds, longest = every[::3], max(every[2::3])
        self.looks_s += min(every[1::3])  # who came last waited for nobody
        self.looks += 1
        if self._expected is not None:
            self.expected_s += self._expected * steps
            self.taken_s += max(seconds)
        self._looked = self.steps
        self._next_look = self.steps + max(1, ceil(min(self._seconds * steps / longest, 1e12)) if longest > 0 else 1)
        changed = self._replan(seconds, steps)
        self._computing, self._interval = 0.0, perf_counter()
        self._last_look = self._interval - begun
        return changed

    def _gathered(self, *mine: float) -> array:
        """Numbers of all ranks, rank after rank."""
        every = array("d", bytes(8 * len(mine) * self._comm.size))
        self._comm.Allgather(array("d", mine), every)
        return every

    def _replan(self, seconds: Sequence[float], steps: int) -> bool:
        """New shares from the last two intervals, if they would have gained enough in each of them.

        So a rank that was slow for a moment changes nothing."""
        counts = self.share.counts
        measured = zip(counts, seconds, self._speeds, strict=True)
        self._earlier, self._speeds = (
            self._speeds,
            [c * steps / s if c and s > 0 else known for c, s, known in measured],
        )
        if not all(speed > 0 for speed in (*self._speeds, *self._earlier)):
            return False
        mean = [2 / (1 / now + 1 / then) for now, then in zip(self._speeds, self._earlier, strict=True)]
        better = _one_each(split(self._items, mean))
        for speeds in (self._speeds, self._earlier):
            if not _slowest(better, speeds) < _slowest(counts, speeds) * (1 - self._threshold):
                return False
        self.before, self.share = self.share, Share(self.share.rank, tuple(better))
        self._expected = _slowest(better, mean)
        self.plans += 1
        return True

    def report(self) -> str:
        """What it did, what it cost, and whether steps took what it expected. Collective."""
        looks = self.looks_s + min(self._gathered(self._last_look))
        taken = perf_counter() - self._started
        lines = [
            f"monitor: {self.steps} steps, {self.looks} looks, {self.plans} new plans; looks took {looks:.3g} s "
            f"of {taken:.3g} s ({100 * looks / taken:.3f} %)"
        ]
        if self.expected_s:
            lines.append(
                f"monitor: steps under its plans were expected to compute {self.expected_s:.3g} s, and took "
                f"{self.taken_s:.3g} s ({100 * (self.taken_s / self.expected_s - 1):+.1f} %)"
            )
        return "\n".join(lines)


def _one_each(counts: list[int]) -> list[int]:
    """Nobody has nothing to do where there are enough items: how fast a rank is would no longer be seen."""
    while 0 in counts and sum(counts) >= len(counts):
        counts[counts.index(max(counts))] -= 1
        counts[counts.index(0)] += 1
    return counts


def _slowest(counts: Sequence[int], speeds: Sequence[float]) -> float:
    return max(count / speed for count, speed in zip(counts, speeds, strict=True))
