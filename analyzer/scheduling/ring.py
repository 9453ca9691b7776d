"""Synthetic application of the scheduling studies: tasks in a ring pass one message around.

Source: "Dimemas specification", sections 8.1.1.1 and 8.1.2.2 (F9, F10, F21).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from analyzer.critical.exports import CRITICAL
from analyzer.errors import TracelibError
from analyzer.program.model import Program
from analyzer.program.operation import OP, OperationFlag, OperationKind
from analyzer.sources.dimemas.reader import communicators_of
from analyzer.sources.dimemas.trace import ProgramTrace

_US = 1000


class PriorityRecords(StrEnum):
    """Content of the priority records of a ring, for scheduling policies that use them.

    "path" tells whether a task is on the critical path. "laxity" also tells how late the other tasks may be, in us.
    """

    NONE = "none"
    PATH = "path"  # who is in the critical path, and who is not
    LAXITY = "laxity"  # and of those who are not, how much they could be late: us


@dataclass(frozen=True)
class RingProgram:
    """Ring of tasks, `(a, d %)` in the studies.

    In each iteration a task receives, computes for a, sends to the next task, and computes for b.

    Attributes:
        compute_us: Computing a between receiving and sending, us.
        demand: Share of the time, in percent, in which a task alone keeps its processor busy; b follows from it.
        tasks: Number of tasks.
        iterations: Number of iterations.
        size_bytes: Size of the message.
        records: Content of the priority records.
    """

    compute_us: float = 4200
    demand: float = 60
    tasks: int = 8
    iterations: int = 100
    size_bytes: int = 0
    records: PriorityRecords = PriorityRecords.PATH

    def __post_init__(self) -> None:
        if self.tasks < 1 or self.iterations < 1 or not self.compute_us > 0 or self.size_bytes < 0:
            raise TracelibError("a ring needs tasks, iterations and a computation, and no negative size")
        if not 100 / self.tasks <= self.demand <= 100:
            raise TracelibError(
                f"a demand of {self.demand:g} % is not possible",
                f"it must be {100 / self.tasks:g} to 100 for {self.tasks} tasks",
            )

    @property
    def compute_ns(self) -> int:
        """Computing a between receiving and sending, ns."""
        return round(self.compute_us * _US)

    @property
    def after_ns(self) -> int:
        """Computing b after sending, ns: b = a (d N / 100 - 1) (F9)."""
        return round(self.compute_us * _US * (self.demand * self.tasks / 100 - 1))

    @property
    def cycle_ns(self) -> int:
        """Shortest time of an iteration, ns: a N (F10)."""
        return self.compute_ns * self.tasks

    @property
    def laxity_ns(self) -> int:
        """Longest time by which the computing b may be delayed before the next message waits for it, ns."""
        return self.cycle_ns - self.compute_ns - self.after_ns

    def program(self, name: str = "ring") -> Program:
        """Build the operations of the ring. Sends are asynchronous.

        Task 0 begins with a send, and receives the last message at its end.
        """
        members = tuple(range(self.tasks))
        world = tuple(c.members for c in communicators_of({1: members}, self.tasks))
        streams = [self._task(task) for task in members]
        return Program.from_streams(streams, (members, *world), name=name)

    def trace(self, path: str) -> ProgramTrace:
        """Build the operations of the ring as a trace that can be written."""
        members = tuple(range(self.tasks))
        name = f"ring ({self.compute_us:g} us, {self.demand:g} %)"
        return ProgramTrace(self.program(), communicators_of({1: members}, self.tasks), path, name)

    def sends(self) -> np.ndarray:
        """Return the indices of task 0's sends among its operations, one for each iteration."""
        return np.flatnonzero(self._task(0)["kind"] == OperationKind.SEND)

    def _task(self, task: int) -> np.ndarray:
        """Return the operations of one task, a structured array of type OP."""
        one = np.zeros(4, OP)
        one["kind"] = OperationKind.PRIORITY, OperationKind.RECV, OperationKind.SEND, OperationKind.PRIORITY
        one["flags"], one["request"] = OperationFlag.FIRST, -1
        one["flags"][2] |= OperationFlag.IMMEDIATE
        one["comm"][1:3], one["bytes"][1:3] = 1, self.size_bytes
        one["peer"] = -1, (task - 1) % self.tasks, (task + 1) % self.tasks, -1
        one["burst"] = self.after_ns, 0, self.compute_ns, 0
        one["other"] = CRITICAL, 0, 0, self._priority_outside()
        ops = np.tile(one, self.iterations)
        ops["burst"][0] = 0
        end = np.zeros(1, OP)
        end["burst"], end["peer"], end["request"] = self.after_ns, -1, -1
        ops = np.concatenate([ops, end])
        if task == 0:
            first, last = ops[1:2].copy(), ops[-1:].copy()
            ops = np.concatenate([ops[:1], ops[2:-1], last, first])
        if self.records is not PriorityRecords.NONE:
            return ops
        return _without_priorities(ops)

    def _priority_outside(self) -> int:
        """Return the priority after sending, which is below that of the critical path.

        With `PriorityRecords.LAXITY` it depends on the laxity in us.
        """
        return CRITICAL + 1 + (self.laxity_ns // _US if self.records is PriorityRecords.LAXITY else 0)


def _without_priorities(ops: np.ndarray) -> np.ndarray:
    """Remove the priority records. Their bursts are added to the operations after them."""
    says = ops["kind"] == OperationKind.PRIORITY
    kept = ops[~says].copy()
    after = np.cumsum(~says)[says]  # of the kept operations the one that follows
    np.add.at(kept["burst"], after, ops["burst"][says])
    return kept
