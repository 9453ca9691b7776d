"""Messages that wait for links, buses and collectives, in the reference simulator.

Source: "Dimemas specification", sections 1.4, 1.7, 1.8 and 3.4.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.reference_machine import Costs
from tests.reference_state import ARRIVE, FREE, NETWORK, Instance, Message, Thread


class Links:
    """The part of `Reference` that says when messages start and arrive."""

    costs: Costs
    now: int
    over: int
    threads: list[Thread]
    messages: dict[int, Message]
    taken: dict[tuple[str, int], int]
    queue: list[Message]
    holding: list[Instance]
    in_flight: int
    accesses: list[int]
    make_ready: Callable[[Thread], None]
    wake: Callable[[Any], None]
    start_collective: Callable[[Instance], None]
    schedule: Callable[[int, int, tuple[int, int, int], Callable[[], object]], None]

    def ask_network(self) -> None:
        self.schedule(self.now, NETWORK, (0, 0, 0), self.scan)

    def scan(self) -> None:
        """First come, first served: all that can start does. A collective waits for what is in flight between nodes;
        nothing between nodes starts until it is over."""
        if self.holding and not self.in_flight and not self.holding[0].running:
            self.start_collective(self.holding[0])
        for m in list(self.queue):
            if (m.rendezvous and m.receive is None) or (self.holding and not m.inside):
                continue
            if all(self.taken[name] < self.costs.room[name] for name in m.needs):
                self.queue.remove(m)
                self.start(m)

    def start(self, m: Message) -> None:
        m.start = self.now
        self.in_flight += not m.inside
        for name in m.needs:
            self.taken[name] += 1
        key = m.sender.key(m.op)
        self.schedule(self.now + m.wire, ARRIVE, key, lambda: self.arrive(m))
        self.schedule(self.now + m.hold, ARRIVE if m.hold == m.wire else FREE, key, lambda: self.free(m))
        if m.sender_waits == "start":
            self.make_ready(m.sender)

    def free(self, m: Message) -> None:
        for name in m.needs:
            self.taken[name] -= 1
        self.in_flight -= not m.inside
        self.ask_network()

    def arrive(self, m: Message) -> None:
        m.arrival = self.now
        if m.receive:
            self.wake(m.receive)
        if m.sender_waits == "delivery":
            self.make_ready(m.sender)
        if m.access:
            self.wake(m)
            for place in m.places:
                self.accesses[place] -= 1
                if not self.accesses[place]:
                    for thread in [t for t in self.threads if t.waits_for == ("accesses", place)]:
                        self.make_ready(thread)

    def queue_lengths(self) -> tuple[int, float]:
        """The most messages that waited for the network at once, and how many did on average until the end."""
        waits = [m.waits(self.over) for m in self.messages.values()]
        most = max((sum(a <= t < b for a, b in waits) for t, _ in waits), default=0)
        return most, sum(b - a for a, b in waits) / self.over if self.over else 0.0
