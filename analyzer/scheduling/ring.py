"""The synthetic application of the scheduling studies: tasks in a ring that pass one message around.

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
    """Content of the application's priority records, for policies that use them."""

    NONE = "none"
    PATH = "path"  # who is in the critical path, and who is not
    LAXITY = "laxity"  # and of those who are not, how much they could be late: us


@dataclass(frozen=True)
class RingProgram:
    """`(a, d %)` of the studies. In each iteration a task receives, computes `compute_us` (a), sends to the next, and
    computes again (b), so that alone it keeps its processor busy for `demand` percent of the time."""

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
        """a, between receiving and sending."""
        return round(self.compute_us * _US)

    @property
    def after_ns(self) -> int:
        """b = a (d N / 100 - 1), after sending (F9)."""
        return round(self.compute_us * _US * (self.demand * self.tasks / 100 - 1))

    @property
    def cycle_ns(self) -> int:
        """a N, the least time of an iteration (F10)."""
        return self.compute_ns * self.tasks

    @property
    def laxity_ns(self) -> int:
        """Longest delay of the computation after sending for which the next message does not wait, ns."""
        return self.cycle_ns - self.compute_ns - self.after_ns

    def program(self, name: str = "ring") -> Program:
        """Build the operations. Task 0 first sends without receiving, and receives the last message at its end.

        Sends are asynchronous.
        """
        members = tuple(range(self.tasks))
        world = tuple(c.members for c in communicators_of({1: members}, self.tasks))
        streams = [self._task(task) for task in members]
        return Program.from_streams(streams, (members, *world), name=name)

    def trace(self, path: str) -> ProgramTrace:
        """Build the operations as a trace that can be written."""
        members = tuple(range(self.tasks))
        name = f"ring ({self.compute_us:g} us, {self.demand:g} %)"
        return ProgramTrace(self.program(), communicators_of({1: members}, self.tasks), path, name)

    def sends(self) -> np.ndarray:
        """Return the positions of task 0's sends among its operations: one for each iteration."""
        return np.flatnonzero(self._task(0)["kind"] == OperationKind.SEND)

    def _task(self, task: int) -> np.ndarray:
        """Return OP of one task."""
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
        """Return the priority after sending: worse than in the critical path, with `PriorityRecords.LAXITY` by the
        laxity in us."""
        return CRITICAL + 1 + (self.laxity_ns // _US if self.records is PriorityRecords.LAXITY else 0)


def _without_priorities(ops: np.ndarray) -> np.ndarray:
    """Remove priority records; their bursts are added to the bursts of the operations after them."""
    says = ops["kind"] == OperationKind.PRIORITY
    kept = ops[~says].copy()
    after = np.cumsum(~says)[says]  # of the kept operations the one that follows
    np.add.at(kept["burst"], after, ops["burst"][says])
    return kept
