"""One program on many machines, or many on one, several replays at a time."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from analyzer.operations.operation import Program
from analyzer.parallel import Team
from analyzer.replay.machine import Machine
from analyzer.replay.simulate import Prediction, simulate


def predictions(program: Program, machines: Sequence[Machine], team: Team, jobs: int | None = None) -> list[Prediction]:
    """What the program does on each machine, without the times of its operations.

    The members of the team share the machines; each runs `jobs` replays at once (default: one for each CPU that it has,
    one only in a team). The simulator runs outside of Python's lock, so threads do, and share the program.
    """
    return _shared([(program, machine) for machine in machines], team, jobs)


def _shared(pairs: Sequence[tuple[Program, Machine]], team: Team, jobs: int | None) -> list[Prediction]:
    mine = [pairs[k] for k in team.share(len(pairs))]
    jobs = jobs or (1 if team.size > 1 else len(os.sched_getaffinity(0)))
    with ThreadPoolExecutor(jobs) as pool:
        found = list(pool.map(lambda pair: simulate(*pair), mine))
    return [prediction for part in team.allgather(found) for prediction in part]


def end_times(program: Program, machines: Sequence[Machine], team: Team, jobs: int | None = None) -> list[int]:
    """When the program ends on each machine (ns)."""
    return [prediction.end_ns for prediction in predictions(program, machines, team, jobs)]


def end_times_of(programs: Sequence[Program], machine: Machine, team: Team, jobs: int | None = None) -> list[int]:
    """When each program ends on the machine, alone (ns)."""
    return [prediction.end_ns for prediction in _shared([(program, machine) for program in programs], team, jobs)]
