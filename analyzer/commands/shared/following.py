"""`analyze structure --follow`: says what a running program repeats as soon as that is sure."""

from __future__ import annotations

import resource
import time
from dataclasses import dataclass, field
from pathlib import Path

import click

from analyzer.commands.shared.session import Session
from analyzer.report.words import units
from analyzer.structure.live import Look, look, place_of
from analyzer.trace.chosen import Choice

INTERVAL_S = 1.0
REST = 4.0
"""Between two looks; at least REST times as long as a look computes."""


@dataclass
class _Said:
    """The loops that were sure, each with when it was said, and how many looks were taken."""

    loops: list[Look] = field(default_factory=list)
    looks: int = 0


def follow(session: Session, file: str, choice: Choice | None, *, as_json: bool) -> None:
    """Look at a run until it ends. Raises TracelibError."""
    if not session.alone:
        raise click.UsageError("--follow is for one process")
    said = _until_it_ends(session, Path(file), choice, quiet=as_json)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    if as_json:
        loops = [
            {"at_s": one.until_ns / 1e9, "period_s": one.period_ns / 1e9, "body": one.body, "running": one.is_running}
            for one in said.loops
        ]
        session.print_json({"file": file, "loops": loops, "looks": said.looks, "peak_memory_bytes": peak})
        return
    if not said.loops:
        session.say(f"{file}: no iterations were found")
    session.say(f"The run has ended. {units.plural(said.looks, 'look')}, {units.size(peak)} of memory at most")


def _until_it_ends(session: Session, file: Path, choice: Choice | None, *, quiet: bool) -> _Said:
    said = _Said()
    earlier: Look | None = None
    while True:
        began = time.process_time()
        now = look(place_of(file), choice)
        said.looks += 1
        is_sure = now.confirms(earlier) or (not now.is_running and now.period_ns > 0)
        if is_sure and not (said.loops and said.loops[-1].body == now.body):
            said.loops.append(now)
            if not quiet:
                session.say(_sentence(now))
        if not now.is_running:
            return said
        earlier = now if now.period_ns else earlier
        time.sleep(max(INTERVAL_S, REST * (time.process_time() - began)))


def _sentence(now: Look) -> str:
    """ "At 12.3 s: iterations of 8.31 ms, each: 3 exchanges, 1 reduction"."""
    return f"At {now.until_ns / 1e9:.3f} s: iterations of {units.time(now.period_ns)}, each: {now.body}"
