"""One replay of all runs on one machine out of many: what is asked, what comes out, and who knows how to do it."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from analyzer.errors import TracelibError
from analyzer.machine.description import Machine
from analyzer.program.model import Program
from analyzer.replay.simulate import simulate


@dataclass(frozen=True)
class ReplayJob:
    """The values of the varied parameters, in their order, and the seed of what is random in the machine itself."""

    values: tuple[float, ...]
    seed: int


@dataclass(frozen=True)
class ReplayOutcome:
    """Predicted times of the runs; None where a replay was not possible there, for the reason in `error`."""

    times_ns: tuple[int, ...] | None
    error: str = ""
    by: str = ""  # the process that did it


@dataclass(frozen=True)
class WorkerInput:
    """Input of a worker for all jobs. change: gives the machine with other values."""

    programs: Sequence[Program]
    machine: Machine
    change: Callable[[Machine, Sequence[float]], Machine]

    def do(self, job: ReplayJob) -> ReplayOutcome:
        """Replay all runs."""
        by = f"{socket.gethostname()}:{os.getpid()}"
        machine = replace(self.machine, seed=job.seed)
        try:
            machine = self.change(machine, job.values)
            times = tuple(simulate(program, machine, runs_room=1).end_ns for program in self.programs)
        except TracelibError as error:
            return ReplayOutcome(None, str(error), by)
        return ReplayOutcome(times, "", by)
