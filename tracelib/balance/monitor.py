"""Watches a running program and shares the work anew, when its ranks no longer finish together.

Source: search-and-balance specification, section 2, MON: planned, but not built by its authors.
"""

from __future__ import annotations

import os
from array import array
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from math import ceil
from time import perf_counter
from typing import Any

from tracelib.balance.initial import Share, shares
from tracelib.balance.replan import PaceMonitor, one_each
from tracelib.schema.shares import SharePlan


class Monitor:
    """Steps in which each rank computes its share, and shares that follow what was measured.

    `share` is this rank's, `before` the one until the last change. Rank 0 decides for all (`replan.PaceMonitor`).
    """

    def __init__(
        self,
        items: int,
        comm: Any = None,
        plan: str | os.PathLike[str] | SharePlan | None = None,
        *,
        seconds: float = 0.5,
        threshold: float = 0.1,
        clock: Callable[[], float] = perf_counter,
    ) -> None:
        """Start a monitor. Collective over comm.

        The first shares are as `shares` computes them, but each rank has an item if there are enough.

        Args:
            items: Number of items that all ranks share.
            comm: An mpi4py communicator. None: the world.
            plan: As for `shares`.
            seconds: About the time in s between two looks at all ranks.
            threshold: Share of a step's time that new shares must save, 0 to below 1.
            clock: Clock with which ranks time themselves, in s. time.process_time measures how fast CPUs are, without
                the time that other processes used them.

        Raises:
            ValueError: `seconds` or `threshold` is out of its range.
        """
        if not (0 <= seconds < float("inf") and 0 <= threshold < 1):
            raise ValueError("a monitor looks every 0 s or less often, for a gain of 0 to 1")
        if comm is None:
            from mpi4py import MPI

            comm = MPI.COMM_WORLD
        self._comm, self._seconds, self._clock = comm, seconds, clock
        first = shares(items, comm, plan)
        self.share = self.before = replace(first, counts=tuple(one_each(first.counts)))
        self._watch = PaceMonitor(self.share.counts, threshold)  # used by rank 0
        self._computing = self._inside = self._last_look = self.looks_s = 0.0  # inside: by perf_counter
        self._other_s, self._other_steps = 0.0, 0  # besides computing and waiting, since the last plan
        self.before_s = self.expected_s = self.taken_s = 0.0  # of all steps under its plans
        self.steps = self.looks = self.plans = self._looked = 0
        self._next_look = 1
        self._is_moving = False
        self._started = self._interval = perf_counter()

    @contextmanager
    def computing(self) -> Iterator[None]:
        """Time the body of a `with`: this rank's computation in a step. A step may have several."""
        inside, begun = perf_counter(), self._clock()
        try:
            yield
        finally:
            self._computing += self._clock() - begun
            self._inside += perf_counter() - inside

    def step(self) -> bool:
        """Return the end of a step, by all ranks. Whether `share` is a new one."""
        self.steps += 1
        if self.steps < self._next_look:
            return False
        begun = perf_counter()
        every = self._gathered(
            self._computing, self._last_look, begun - self._interval, begun - self._interval - self._inside
        )
        found = array("q", [0, 0])  # the next look, whether shares are new
        if self._comm.rank == 0:
            found = array("q", self._decided(every[::4], every[1::4], every[2::4], every[3::4]))
        self._comm.Bcast(found, 0)
        self._is_moving = bool(found[1])
        if self._is_moving:
            counts = array("q", self._watch.counts)
            self._comm.Bcast(counts, 0)
            self.before, self.share = self.share, Share(self.share.rank, tuple(counts))
            self.plans += 1
        self.looks += 1
        self._looked, self._next_look = self.steps, found[0]
        self._computing, self._inside, self._interval = 0.0, 0.0, perf_counter()
        self._last_look = self._interval - begun
        return self._is_moving

    def _gathered(self, *mine: float) -> array:
        """Gather numbers of all ranks, rank after rank, on rank 0."""
        every = array("d", bytes(8 * len(mine) * self._comm.size if self._comm.rank == 0 else 0))
        self._comm.Gather(array("d", mine), every if self._comm.rank == 0 else None, 0)
        return every

    def _decided(
        self,
        seconds: Sequence[float],
        looks: Sequence[float],
        all_s: Sequence[float],
        others: Sequence[float],
    ) -> tuple[int, bool]:
        """Return the step of the next look, and whether shares are new. Of each rank: s computing, s of its last look,
        s of all since then, and of what is not computing."""
        watch, longest, steps = self._watch, max(all_s), self.steps - self._looked
        self.looks_s += min(looks)  # who came last waited for nobody
        self.before_s += watch.before_s * steps
        self.expected_s += watch.expected_s * steps
        self.taken_s += max(seconds) if watch.expected_s else 0.0
        next_look = self.steps + max(1, ceil(min(self._seconds * steps / longest, 2 * steps)) if longest > 0 else 1)
        other = min(others)
        if self._is_moving:
            watch.moved(other - self._other_s / self._other_steps)
            self._other_s, self._other_steps = 0.0, 0
            return next_look, False
        self._other_s += other
        self._other_steps += steps
        changed = watch.look(seconds, steps)
        return self.steps + 1 if changed else next_look, changed  # the step after a change shows what moving costs

    def report(self) -> str:
        """Describe what the monitor did and cost, and compare times of steps with the expected ones.

        Collective. Only rank 0 gets the text; the others get "".
        """
        waits = self._gathered(self._last_look)
        if self._comm.rank:
            return ""
        looks, taken = self.looks_s + min(waits), perf_counter() - self._started
        lines = [
            f"monitor: {self.steps} steps, {self.looks} looks, {self.plans} new plans; looks took {looks:.3g} s "
            f"of {taken:.3g} s ({100 * looks / taken:.3f} %)"
        ]
        if self.expected_s:
            lines.append(
                f"monitor: steps under its plans were expected to compute {self.expected_s:.3g} s, not "
                f"{self.before_s:.3g} s, and took {self.taken_s:.3g} s "
                f"({100 * (self.taken_s / self.expected_s - 1):+.1f} %)"
            )
        if self._watch.moves:
            lines.append(f"monitor: a change of shares took {self._watch.move_s:.3g} s")
        return "\n".join(lines)
