"""Watching a run that is being written.

`analyze structure --follow` reports loops as soon as they are certain, and `analyze cut --follow` cuts them out.
"""

from __future__ import annotations

import resource
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import click

from analyzer.commands.shared.session import Session
from analyzer.report.words import units

if TYPE_CHECKING:  # numpy takes as long to import as click: who asks for --help does not wait for it
    from analyzer.results.structure import FollowedResult
    from analyzer.structure.live import LiveIterations
    from analyzer.trace.chosen import Choice

INTERVAL_S = 1.0
REST = 4.0
"""Pause between two looks, at least this many times the time of a look."""


@dataclass
class Watched:
    """Loops that were found with certainty, and the number of looks.

    Attributes:
        loops: The loops by their number, from 1.
        looks: Number of times that the run was read.
    """

    loops: list[LiveIterations] = field(default_factory=list)
    looks: int = 0


def follow(session: Session, file: str, choice: Choice | None) -> FollowedResult:
    """Look at a run until it ends, and report each loop as soon as it is certain.

    Raises:
        TracelibError: The run cannot be read.
    """
    from analyzer.results.structure import FollowedResult

    def tell(number: int, now: LiveIterations) -> bool:
        session.report(sentence(number, now))
        return True

    watched = watch(session, file, choice, tell)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return FollowedResult(file, tuple(watched.loops), watched.looks, peak)


def watch(session: Session, file: str, choice: Choice | None, take: Callable[[int, LiveIterations], bool]) -> Watched:
    """Look at a run until it ends.

    Args:
        session: Session of the command.
        file: Path of the run.
        choice: Ranks to read. None: a few.
        take: Called with each loop and its number as soon as the loop is certain, and again after each look until it
            returns True.

    Raises:
        TracelibError: The run cannot be read.
        UsageError: Several processes watch.
    """
    from analyzer.structure.live import LiveIterations, look, place_of

    if not session.alone:
        raise click.UsageError("--follow is for one process")
    watched = Watched()
    waiting = list[tuple[int, LiveIterations]]()
    earlier: LiveIterations | None = None
    while True:
        began = time.process_time()
        now = look(place_of(Path(file)), choice)
        watched.looks += 1
        is_sure = now.confirms(earlier) or (not now.is_running and now.period_ns > 0)
        if is_sure and not (watched.loops and watched.loops[-1].body == now.body):
            watched.loops.append(now)
            waiting.append((len(watched.loops), now))
        waiting = [one for one in waiting if not take(*one)]
        if not now.is_running:
            return watched
        earlier = now if now.period_ns else earlier
        time.sleep(max(INTERVAL_S, REST * (time.process_time() - began)))


def sentence(number: int, now: LiveIterations) -> str:
    """Return a sentence about a loop.

    For example "Loop 1 at 12.3 s: iterations of 8.31 ms, each: 3 exchanges, 1 reduction; inside it 8 passes of 1.00
    ms".
    """
    inside = "".join(f"; inside it {passes} passes of {units.time(period)}" for passes, period in now.inside)
    at = f"{now.until_ns / 1e9:.3f} s"
    return f"Loop {number} at {at}: iterations of {units.time(now.period_ns)}, each: {now.body}{inside}"
