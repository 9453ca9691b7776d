"""State of the reference simulator: threads, messages and collectives, and the order of events at one instant."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from reference_draws import Draws

from analyzer.program.operation import OperationFlag, OperationKind

ARRIVE, FREE, ENDED, FILE, TICK, SLICE, BUSY, POST, SUBMIT, NETWORK, DISPATCH = range(11)
"""Phases of one instant, in order."""

MESSAGES = (OperationKind.SEND, OperationKind.PUT, OperationKind.GET)
MOST_RUNS = 60
"""Most runs of a closed system: a program that has not ended by then starves."""
VIRTUAL = 256
"""Virtual threads come after all others of their rank."""
COLLECTIVES = (OperationKind.COLLECTIVE, OperationKind.COLLECTIVE_START)


@dataclass(eq=False)
class Thread:
    rank: int
    number: int
    ops: list[dict[str, Any]]
    first: int  # number of its first operation in the program
    priority: int = 0
    at: int = 0  # operation under way
    remaining: int = 0  # ns of processor until the operation acts, the last `overhead` of them its own
    overhead: int = 0
    wire: int = 0  # of the message that the operation sends
    hold: int = 0
    resumes: bool = False  # what it waited for has come: the operation ends when it has a processor again
    cpu: int | None = None
    kept: int = 0  # until then it keeps the processor that it got
    computes: int = 0  # it computes from then on
    turn: int = 0  # how often it got or lost a processor, or went on to an operation
    stay: int = 0  # how often it got or lost a processor
    busy: bool = False  # waits without leaving its processor
    queued: int = 0
    wants: int = 0  # a processor since then
    waits_for: Any = None
    blocked: int = 0  # order in which it began to wait
    requests: dict[int, Any] = field(default_factory=dict)
    last_cpu: int | None = None
    parent: Thread | None = None
    share: int = 0  # which of its parent's virtual threads it is
    children: int = 0
    draws: Draws | None = None  # of its operation
    times: dict[str, int] = field(default_factory=dict)  # random numbers of each time of the policy so far
    used: float = 0.0  # ticks of processor, less those that are forgotten
    run: int = 0  # of its application
    done: bool = False
    met_before: int = 0  # ns that the traced run waited for others in the call on a file under way

    @property
    def name(self) -> tuple[int, int, int]:
        return self.rank, self.number, self.share

    def key(self, operation: int = 0) -> tuple[int, int, int]:
        """Its place among those to whom something happens at one instant."""
        return self.rank, self.number + VIRTUAL * self.share, operation


@dataclass(eq=False)
class Receive:
    posted: int
    message: Message | None = None
    over: bool = False


@dataclass(eq=False)
class Message:
    sender: Thread
    op: int
    needs: list[tuple[str, int]]
    wire: int
    hold: int
    inside: bool  # a node
    submitted: int = -1
    rendezvous: bool = False
    channel: tuple[int, ...] = ()
    has_out: bool = False  # links
    has_in: bool = False
    sender_waits: str = ""  # until its "match", "start" or "delivery"
    access: bool = False
    places: list[tuple[int, ...]] = field(default_factory=list)  # of an access: of its target, of its window
    receive: Receive | None = None
    start: int = -1
    arrival: int = -1

    def waits(self, end: int) -> tuple[int, int]:
        """From when until when it waits for the network, by the end of the run."""
        begin = self.submitted
        if self.rendezvous:
            begin = max(begin, self.receive.posted) if self.receive else end
        return min(begin, end), min(self.start, end) if self.start >= 0 else end


@dataclass(eq=False)
class Instance:
    """One collective operation of a communicator."""

    comm: int
    number: int
    entered: dict[int, dict[str, Any]] = field(default_factory=dict)  # by rank
    draws: Draws | None = None  # of the call of the communicator's first member
    running: bool = False
    done: bool = False
    buses: int = 0  # that it has
    root: Thread | None = None  # that says so and waits in it

    @property
    def of_file(self) -> bool:
        return any(op["flags"] & OperationFlag.OF_FILE for op in self.entered.values())
