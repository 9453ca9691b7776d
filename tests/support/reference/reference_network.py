"""Messages that wait for links, buses and collectives, in the reference simulator.

Source: "Dimemas specification", sections 1.4, 1.7, 1.8 and 3.4.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from reference_in_turn import InTurn
from reference_machine import Costs
from reference_state import ARRIVE, FREE, NETWORK, Instance, Message, Receive, Thread


class Links(InTurn):
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
    open_receives: dict[tuple[int, ...], list[Receive]]  # by arrival: posted and not over
    surplus: dict[tuple[int, ...], int]  # by arrival: messages that came before their receives
    make_ready: Callable[[Thread], None]
    wake: Callable[[Any], None]
    start_collective: Callable[[Instance], None]
    schedule: Callable[[int, int, tuple[int, int, int], Callable[[], object]], None]

    def ask_network(self) -> None:
        self.schedule(self.now, NETWORK, (0, 0, 0), self.scan)

    def scan(self) -> None:
        """First come, first served: all that can start does. A collective waits for what is in flight between nodes;
        nothing between nodes starts until it is over."""
        if self.in_turn:
            self.scan_in_turn()
        elif self.holding and not self.in_flight and not self.holding[0].running:
            self.start_collective(self.holding[0])
        for m in list(self.queue):
            if (m.rendezvous and m.receive is None) or (not m.inside and (self.holding or self.in_turn)):
                continue
            if all(self.taken[name] < self.costs.room[name] for name in m.needs):
                self.queue.remove(m)
                self.start(m)

    def start(self, m: Message) -> None:
        m.start = self.now
        self.in_flight += not m.inside
        if not self.in_turn or m.inside:
            for name in m.needs:
                self.taken[name] += 1
        if self.in_turn:
            self.schedule_end(m)
        else:
            key = m.sender.key(m.op)
            self.schedule(self.now + m.wire, ARRIVE, key, lambda: self.arrive(m))
            self.schedule(self.now + m.hold, ARRIVE if m.hold == m.wire else FREE, key, lambda: self.free(m))
        if m.sender_waits == "start":
            self.make_ready(m.sender)

    def free(self, m: Message) -> None:
        if self.in_turn and not m.inside:
            return self.give_back(m)
        for name in m.needs:
            self.taken[name] -= 1
        self.in_flight -= not m.inside
        return self.ask_network()

    def arrive(self, m: Message) -> None:
        m.arrival = self.now
        if self.machine.matching == "arrival" and not m.access:
            self.receive_next(m)
        elif m.receive:
            m.receive.over = True
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

    def receive_next(self, m: Message) -> None:
        """Give an arriving message to the first receive of its key that is not over."""
        receives = self.open_receives.get(m.channel, [])
        if not receives:
            self.surplus[m.channel] = self.surplus.get(m.channel, 0) + 1
            return
        receives[0].over = True
        self.wake(receives.pop(0))

    def queue_lengths(self) -> tuple[int, float]:
        """The most messages that waited for the network at once, and how many did on average until the end."""
        waits = [m.waits(self.over) for m in self.messages.values()]
        most = max((sum(a <= t < b for a, b in waits) for t, _ in waits), default=0)
        return most, sum(b - a for a, b in waits) / self.over if self.over else 0.0
