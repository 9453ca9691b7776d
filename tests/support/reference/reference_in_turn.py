"""Links and buses as Dimemas 5.5 gives them, in the reference simulator: one after the other, and kept while waiting.

What csrc/replay/network/in_turn.c says at its head, with lists.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from reference_machine import Costs
from reference_state import ARRIVE, FREE, Instance, Message

from analyzer.machine.description import Machine
from analyzer.program.model import Program


class InTurn:
    """The part of `Reference` for messages between nodes in dialect dimemas-5.5."""

    costs: Costs
    machine: Machine
    program: Program
    now: int
    serial: int
    taken: dict[tuple[str, int], int]
    queue: list[Message]
    holding: list[Instance]
    waiting: dict[tuple[str, int], list[Any]]  # messages, and collectives for buses, in the order of asking
    having_out: dict[tuple[str, int], list[Message]]
    start: Callable[[Message], None]
    start_collective: Callable[[Instance], None]
    schedule: Callable[[int, int, tuple[int, int, int], Callable[[], object]], None]
    arrive: Callable[[Message], None]
    free: Callable[[Message], None]

    @property
    def in_turn(self) -> bool:
        """Machines with half duplex links take all at once."""
        return self.costs.as_dimemas and not any(node.half_duplex for node in self.costs.nodes)

    def has_room(self, name: tuple[str, int]) -> bool:
        return self.taken[name] < self.costs.room[name]

    def wait_at(self, name: tuple[str, int], what: Message | Instance) -> None:
        self.waiting.setdefault(name, []).append(what)

    def named(self, m: Message, word: str) -> tuple[str, int] | None:
        return next((name for name in m.needs if name[0] == word), None)

    def take(self, m: Message) -> None:
        """An outgoing link, then an incoming one, then a bus."""
        out, into, bus = (self.named(m, word) for word in ("out", "in", "bus"))
        lends = None
        if out and not m.has_out:
            if self.has_room(out):
                self.taken[out] += 1
                m.has_out = True
                self.having_out.setdefault(out, []).append(m)
            else:
                lends = next((x for x in self.having_out[out] if not x.has_in), None)
                if lends is None:
                    return self.wait_at(out, m)
        if into and not m.has_in and not self.has_room(into):
            assert not lends or out
            return self.wait_at(out if lends and out else into, m)
        if lends and out:
            self.lend(lends, m, out)
        if into and not m.has_in:
            self.taken[into] += 1
        m.has_in = True
        if bus:
            if not self.has_room(bus):
                return self.wait_at(bus, m)
            self.taken[bus] += 1
        return self.start(m)

    def lend(self, lender: Message, m: Message, out: tuple[str, int]) -> None:
        into = self.named(lender, "in")
        assert into
        self.having_out[out][self.having_out[out].index(lender)] = m
        m.has_out, lender.has_out = True, False
        self.waiting[into].remove(lender)
        self.waiting.setdefault(out, []).insert(0, lender)

    def serve(self, name: tuple[str, int]) -> None:
        """Give free resources to the first that asked; a collective takes all buses before it goes on."""
        while self.has_room(name) and self.waiting.get(name):
            first = self.waiting[name][0]
            if isinstance(first, Message):
                self.take(self.waiting[name].pop(0))
                continue
            first.buses += self.costs.room[name] - self.taken[name]
            self.taken[name] = self.costs.room[name]
            if first.buses == self.costs.room[name]:
                self.waiting[name].pop(0)
                self.start_collective(first)

    def give_back(self, m: Message) -> None:
        out = self.named(m, "out")
        if out:
            self.having_out[out].remove(m)
        for name in m.needs:
            self.taken[name] -= 1
            self.serve(name)

    def free_buses(self, instance: Instance) -> None:
        """Free the buses of a collective that is over."""
        if instance.buses:
            network = self.costs.nodes[self.costs.node_of[self.program.communicators[instance.comm][0]]].network
            self.taken["bus", network] -= instance.buses
            self.serve(("bus", network))

    def scan_in_turn(self) -> None:
        """Add the new transfers: messages in the order of submission, then collectives."""
        for m in [m for m in self.queue if not m.inside and not (m.rendezvous and m.receive is None)]:
            self.queue.remove(m)
            self.take(m)
        for name in [name for name in self.costs.room if name[0] == "bus"]:
            self.serve(name)

    def schedule_end(self, m: Message) -> None:
        """It arrives, and what it had is free; of messages that arrive at once the first to start is first."""
        self.serial += 1
        key = (self.serial, 0, 0)
        if m.hold == m.wire:
            self.schedule(self.now + m.wire, ARRIVE, key, lambda: self.free(m))
        else:
            self.schedule(self.now + m.hold, FREE, m.sender.key(m.op), lambda: self.free(m))
        self.schedule(self.now + m.wire, ARRIVE, key, lambda: self.arrive(m))
