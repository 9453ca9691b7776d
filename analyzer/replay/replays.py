"""Makes several replays of programs on machines at a time."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import count
from typing import TypeVar

from analyzer.machine.description import Machine
from analyzer.parallel import Team
from analyzer.program.model import Program
from analyzer.replay.simulate import ReplayPrediction, simulate

Case = tuple[Program, Machine]
_Kept = TypeVar("_Kept")
_tell: ContextVar[Callable[[], None] | None] = ContextVar("_tell", default=None)


@contextmanager
def counted(tell: Callable[[int], None]) -> Iterator[None]:
    """Call `tell` after each replay that this process makes inside the block, with the number of replays so far."""
    done = count(1)
    token = _tell.set(lambda: tell(next(done)))
    try:
        yield
    finally:
        _tell.reset(token)


def predictions(
    program: Program, machines: Sequence[Machine], team: Team, jobs: int | None = None
) -> list[ReplayPrediction]:
    """Predict the program on each machine, without the times of its operations.

    All members of the team must call this function.

    Args:
        program: The program.
        machines: The machines.
        team: Processes that share the replays.
        jobs: Number of replays that a process makes at once. None: one for each of its CPUs; in a team one.

    Returns:
        One prediction for each machine.
    """
    return _each([(program, machine) for machine in machines], lambda found: found, team, jobs)


def end_times(cases: Sequence[Case], team: Team, jobs: int | None = None) -> list[int]:
    """Predict when each program ends on its machine, in ns. Team and jobs are as in `predictions`."""
    return _each(cases, lambda found: found.end_ns, team, jobs)


def end_times_of(programs: Sequence[Program], machine: Machine, team: Team, jobs: int | None = None) -> list[int]:
    """Predict when each program ends if it runs alone on the machine, in ns. Team and jobs are as in `predictions`."""
    return end_times([(program, machine) for program in programs], team, jobs)


def at_once(team: Team, jobs: int | None = None) -> int:
    """Return the number of replays that all members of a team make at the same time. `jobs`: as in `predictions`."""
    return team.size * _own_at_once(team, jobs)


def _own_at_once(team: Team, jobs: int | None) -> int:
    return jobs or (1 if team.size > 1 else len(os.sched_getaffinity(0)))


def _each(
    cases: Sequence[Case], kept: Callable[[ReplayPrediction], _Kept], team: Team, jobs: int | None
) -> list[_Kept]:
    """Replay all cases and return one result for each, in order.

    The members of the team share the cases. The simulator runs outside of Python's lock, so the replays of a process
    run in threads, which share the programs.
    """
    mine = [cases[k] for k in team.share(len(cases))]
    found, tell = [], _tell.get()
    with ThreadPoolExecutor(_own_at_once(team, jobs)) as pool:
        for one in pool.map(lambda case: kept(simulate(*case)), mine):
            found.append(one)
            if tell:
                tell()
    return [one for part in team.allgather(found) for one in part]
