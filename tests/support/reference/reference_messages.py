"""Sends, receives and what waits for them, in the reference simulator.

Source: "Dimemas specification", sections 1.4 and 1.7.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

from reference_machine import Costs
from reference_state import Instance, Message, Receive, Thread

from analyzer.machine.description import AS_CALLS, Machine
from analyzer.program.model import Program
from analyzer.program.operation import OperationFlag, OperationKind


class Messages:
    """The part of `Reference` that lets sends meet receives."""

    program: Program
    machine: Machine
    costs: Costs
    thesis: bool
    as_dimemas: bool
    now: int
    messages: dict[int, Message]
    sent: dict[tuple[int, ...], list[Message]]  # and not received
    posted: dict[tuple[int, ...], list[Receive]]  # and not sent
    open_receives: dict[tuple[int, ...], list[Receive]]
    surplus: dict[tuple[int, ...], int]
    queue: list[Message]
    accesses: Counter[tuple[int, ...]]
    ask_network: Callable[[], None]
    make_ready: Callable[[Thread], None]
    boost: Callable[[Thread, dict[str, Any], Receive], None]
    place: Callable[[Thread, dict[str, Any], int], tuple[int, ...]]
    file_wait: Callable[[Thread, dict[str, Any]], Any]
    met: Callable[[Thread, Instance, dict[str, Any]], None]

    def send(self, thread: Thread, op: dict[str, Any]) -> Message | None:
        here, there = self.costs.node_of[thread.rank], self.costs.node_of[op["peer"]]
        number = thread.first + thread.at
        source, target = (there, here) if op["kind"] == OperationKind.GET else (here, there)
        needs = self.costs.needs(source, target)
        m = self.messages[number] = Message(thread, number, needs, thread.wire, thread.hold, here == there, self.now)
        if op["kind"] == OperationKind.SEND:
            m.rendezvous = self.is_rendezvous(thread, op)
            if not op["flags"] & OperationFlag.IMMEDIATE and (m.rendezvous or self.machine.synchronous):
                m.sender_waits = "delivery" if self.thesis or self.machine.synchronous else "start"
                if self.as_dimemas and m.sender_waits == "start":
                    m.sender_waits = "match"
            channel = m.channel = (self.run_of(thread, op), op["comm"], thread.rank, op["peer"], op["tag"])
            if self.posted.get(channel):
                self.meet(m, self.posted[channel].pop(0))
            else:
                self.sent.setdefault(channel, []).append(m)
        else:
            m.access = True
            m.places = [self.place(thread, op, op["peer"]), self.place(thread, op, -1)]
            self.accesses.update(m.places)
            if op["request"] >= 0:
                thread.requests[op["request"]] = m
        self.queue.append(m)
        self.ask_network()
        return m if m.sender_waits and not (m.sender_waits == "match" and m.receive) else None

    def is_rendezvous(self, thread: Thread, op: dict[str, Any]) -> bool:
        """By the machine's limit; else as the call says, but for what the program's MPI is known to buffer."""
        limit, buffered = self.machine.eager_limit, self.program.buffered
        if limit is not None and limit != AS_CALLS:
            assert thread.draws
            return op["bytes"] >= thread.draws.value(limit, self.costs.first_time, 0.0)
        if limit is None and buffered >= 0 and op["flags"] & OperationFlag.STANDARD:
            return op["bytes"] > buffered and op["peer"] != thread.rank
        return bool(op["flags"] & OperationFlag.RENDEZVOUS)

    def run_of(self, thread: Thread, op: dict[str, Any]) -> int:
        """Messages stay within a run of their application, but for those through ports: no communicator has them."""
        return thread.run if op["comm"] < len(self.program.communicators) else 0

    def meet(self, message: Message, receive: Receive) -> None:
        message.receive, receive.message = receive, message
        if self.machine.matching == "sending":
            receive.over = message.arrival >= 0
        if message.sender_waits == "match" and message.sender.waits_for is message:
            self.make_ready(message.sender)
        self.ask_network()

    def receive(self, thread: Thread, op: dict[str, Any]) -> Receive | None:
        receive = Receive(self.now)
        channel = (self.run_of(thread, op), op["comm"], op["peer"], thread.rank, op["tag"])
        self.expect(channel, receive)
        if self.sent.get(channel):
            self.meet(self.sent[channel].pop(0), receive)
        else:
            self.posted.setdefault(channel, []).append(receive)
        if op["kind"] == OperationKind.IRECV:
            thread.requests[op["request"]] = receive
            return None
        self.boost(thread, op, receive)
        return None if receive.over else receive

    def expect(self, channel: tuple[int, ...], receive: Receive) -> None:
        """By arrival: what came before is for the receives in the order of posting."""
        if self.machine.matching != "arrival":
            return
        if self.surplus.get(channel):
            self.surplus[channel] -= 1
            receive.over = True
        else:
            self.open_receives.setdefault(channel, []).append(receive)

    def wait(self, thread: Thread, op: dict[str, Any]) -> Receive | Instance | str | None:
        if op["flags"] & (OperationFlag.OF_FILE | OperationFlag.OF_COLLECTIVE) == OperationFlag.OF_FILE:
            return self.file_wait(thread, op)
        what = thread.requests.pop(op["request"])
        if isinstance(what, Instance):
            if what.done:
                self.met(thread, what, op)
            return None if what.done else what
        if isinstance(what, Message):
            return None if what.arrival >= 0 else what
        self.boost(thread, op, what)
        return None if what.over else what
