"""Policies whose priorities the run changes, in the reference simulator.

Source: "Dimemas specification", section 1.10 (Tables 4 and 5, DECAY, BOOST) and F7, F8.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from reference_draws import Draws
from reference_machine import Costs
from reference_state import DISPATCH, TICK, VIRTUAL, Receive, Thread

from analyzer.machine.description import Count, CpuScheduling, PrioritySource
from analyzer.program.model import Program

TIMES = ("slice_ns", "context_switch_ns", "busy_wait_ns", "least_run_ns")
INTERVALS = ("decay_ns", "load_ns", "settle_ns")
"""In the order of their numbers."""


class Policies:
    """The part of `Reference` that says who is better; smaller is better."""

    program: Program
    policy: CpuScheduling
    costs: Costs
    now: int
    threads: list[Thread]
    ready: list[Thread]
    loads: dict[int, float]
    ask: Callable[[Thread], None]
    draws: Callable[[Thread], Draws]
    dispatch: Callable[[int], None]
    schedule: Callable[[int, int, tuple[int, int, int], Callable[[], object]], None]
    interval_ends: dict[str, int]
    intervals_drawn: dict[str, int]

    def first_priority(self, rank: int) -> int:
        given = 0 if self.program.priority is None else int(self.program.priority[rank])
        return {
            PrioritySource.NONE: 0, PrioritySource.FIXED: given, PrioritySource.RECORDS: given,
            PrioritySource.SVR4: self.policy.base,
        }.get(self.policy.priority, self.clip(self.policy.base))  # fmt: skip

    def quantum(self, thread: Thread) -> int:
        """How long it may run; 0: until it blocks."""
        of, number = self.policy.slice_ns, self.costs.first_time + 1
        if self.policy.priority == PrioritySource.SVR4:
            level = thread.priority
            of, number = self.policy.levels[level].quantum_ns, self.costs.first_level + level
        slice_ns = self.drawn(thread, "slice_ns", of, number)
        return slice_ns if isinstance(of, int) else max(slice_ns, 1)

    def time(self, thread: Thread, name: str) -> int:
        """Another time of the policy."""
        return self.drawn(thread, name, getattr(self.policy, name), self.costs.first_time + 1 + TIMES.index(name))

    def drawn(self, thread: Thread, name: str, of: Count, number: int) -> int:
        """At random it is that of the operation under way, and one for each time it is needed."""
        if isinstance(of, int):
            return of
        draws = self.draws(thread.parent or thread)
        draws.who += VIRTUAL * thread.share
        draws.taken = thread.times.get(name, 0)
        found = draws.value(of, number, 0.0)
        thread.times[name] = draws.taken
        return math.floor(found + 0.5)

    def clip(self, priority: float) -> int:
        if self.policy.best != self.policy.worst:
            priority = max(self.policy.best, min(self.policy.worst, priority))
        return int(priority)

    def boost(self, thread: Thread, op: dict[str, Any], receive: Receive) -> None:
        """At a receive, by who came first: the receiver or its message; where the receiver did, its sender too."""
        if self.policy.priority != PrioritySource.BOOST:
            return
        first = not (receive.message and receive.message.arrival >= 0)
        by = self.policy.receiver_first if first else self.policy.receiver_last
        thread.priority = self.clip(thread.priority + by)
        if first and op["peer"] >= 0 and self.policy.sender_receiver_first:
            sender = next(t for t in self.threads if t.rank == op["peer"] and not t.parent)
            sender.priority = self.clip(sender.priority + self.policy.sender_receiver_first)
            self.ask(sender)

    def interval(self, name: str) -> int:
        """Return the interval of DECAY, which belongs to no thread."""
        of = getattr(self.policy, name)
        if isinstance(of, int):
            return of
        number = self.costs.first_level + len(self.policy.levels) + ("tick_ns", *INTERVALS).index(name)
        draws = Draws(self.costs.machine.seed)
        draws.taken = self.intervals_drawn.get(name, 0)
        found = draws.value(of, number, 0.0)
        self.intervals_drawn[name] = draws.taken
        return math.floor(found + 0.5)

    def next_tick(self) -> int:
        return max(self.interval("tick_ns"), 1)

    def begin_intervals(self) -> None:
        self.interval_ends = {name: self.interval(name) for name in INTERVALS}
        self.schedule(self.next_tick(), TICK, (0, 0, 0), self.tick)

    def tick(self) -> None:
        """F7: what a thread used counts against it, and is forgotten the slower the higher the load of its node."""
        policy = self.policy
        due = {name for name in INTERVALS if getattr(policy, name) != 0 and self.now >= self.interval_ends[name]}
        for name in sorted(due):
            self.interval_ends[name] = self.now + self.interval(name)
        for node in range(len(self.costs.nodes)):
            here = [t for t in self.threads if self.costs.node_of[t.rank] == node]
            for thread in here:
                thread.used += thread.cpu is not None
            if "load_ns" in due:
                active = sum(t.cpu is not None or t in self.ready for t in here)
                self.loads[node] = (active + self.loads.get(node, 0.0)) / 2
            load = self.loads.get(node, 0.0)
            for thread in (t for t in here if not t.parent):
                if "decay_ns" in due:
                    thread.used *= 2 * load / (2 * load + 1)
                if "settle_ns" in due:
                    thread.priority = self.clip(thread.used + policy.base)
            self.schedule(self.now, DISPATCH, (node, 0, 0), lambda node=node: self.dispatch(node))  # type: ignore[misc]
        if self.threads and any(not t.done for t in self.threads):
            self.schedule(self.now + self.next_tick(), TICK, (0, 0, 0), self.tick)
