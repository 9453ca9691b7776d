"""Job of a Monte Carlo study: a replay of all runs on one machine, its outcome, and the function that does it."""

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
    """A job: values of the varied parameters, in their order, and the seed of the machine's own random numbers."""

    values: tuple[float, ...]
    seed: int


@dataclass(frozen=True)
class ReplayOutcome:
    """Outcome of a job.

    Attributes:
        times_ns: Predicted time of each run in ns. None: a replay was not possible.
        error: Why a replay was not possible; "" otherwise.
    """

    times_ns: tuple[int, ...] | None
    error: str = ""
    by: str = ""  # host and process id of the worker


@dataclass(frozen=True)
class WorkerInput:
    """Input of a worker for all jobs.

    Attributes:
        programs: Programs of the runs.
        machine: The machine whose parameters are varied.
        change: Returns a machine with other values of the varied parameters.
    """

    programs: Sequence[Program]
    machine: Machine
    change: Callable[[Machine, Sequence[float]], Machine]

    def do(self, job: ReplayJob) -> ReplayOutcome:
        """Replay all runs on the machine of a job."""
        by = f"{socket.gethostname()}:{os.getpid()}"
        machine = replace(self.machine, seed=job.seed)
        try:
            machine = self.change(machine, job.values)
            times = tuple(simulate(program, machine, runs_room=1).end_ns for program in self.programs)
        except TracelibError as error:
            return ReplayOutcome(None, str(error), by)
        return ReplayOutcome(times, "", by)
