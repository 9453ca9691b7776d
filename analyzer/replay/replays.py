"""Programs on machines, several replays at a time."""

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
    """Call `tell` inside the block after each replay of this process, with their number so far."""
    done = count(1)
    token = _tell.set(lambda: tell(next(done)))
    try:
        yield
    finally:
        _tell.reset(token)


def predictions(
    program: Program, machines: Sequence[Machine], team: Team, jobs: int | None = None
) -> list[ReplayPrediction]:
    """Predict the program on each machine, without the times of its operations."""
    return _each([(program, machine) for machine in machines], lambda found: found, team, jobs)


def end_times(cases: Sequence[Case], team: Team, jobs: int | None = None) -> list[int]:
    """Predict when each program ends on its machine (ns)."""
    return _each(cases, lambda found: found.end_ns, team, jobs)


def end_times_of(programs: Sequence[Program], machine: Machine, team: Team, jobs: int | None = None) -> list[int]:
    """Predict when each program ends on the machine, alone (ns)."""
    return end_times([(program, machine) for program in programs], team, jobs)


def at_once(team: Team, jobs: int | None = None) -> int:
    """Return the number of replays that all members of a team make at the same time."""
    return team.size * _own_at_once(team, jobs)


def _own_at_once(team: Team, jobs: int | None) -> int:
    return jobs or (1 if team.size > 1 else len(os.sched_getaffinity(0)))


def _each(
    cases: Sequence[Case], kept: Callable[[ReplayPrediction], _Kept], team: Team, jobs: int | None
) -> list[_Kept]:
    """Replay the cases and keep a result of each, in order.

    The members of the team share the cases; each runs `jobs` replays at once (default: one for each CPU that it has,
    one only in a team). The simulator runs outside of Python's lock, so threads do, and share the programs.
    """
    mine = [cases[k] for k in team.share(len(cases))]
    found, tell = [], _tell.get()
    with ThreadPoolExecutor(_own_at_once(team, jobs)) as pool:
        for one in pool.map(lambda case: kept(simulate(*case)), mine):
            found.append(one)
            if tell:
                tell()
    return [one for part in team.allgather(found) for one in part]
