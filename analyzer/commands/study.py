"""What the commands that replay runs on many machines share: their options, and from files to workers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import wraps
from hashlib import blake2b
from pathlib import Path
from typing import Any

import click

from analyzer.commands.common import Session
from analyzer.errors import TracelibError
from analyzer.metrics.ideal import obstacle
from analyzer.metrics.unrecorded import unrecorded
from analyzer.montecarlo.design import DESIGNS, LATIN
from analyzer.montecarlo.distribution import Varied, varied
from analyzer.montecarlo.jobs import Study
from analyzer.montecarlo.journal import Journal
from analyzer.montecarlo.shared import digest, sections_of
from analyzer.montecarlo.workers import Workers, workers
from analyzer.parallel import Team
from analyzer.replay.machine import Machine
from analyzer.replay.machine_text import machine_text
from analyzer.replay.parameters import vary
from analyzer.replay.section import Section
from analyzer.sources.opening import open_trace
from analyzer.trace import Trace


@dataclass(frozen=True)
class Draw:
    """What is drawn, how often, and who replays it."""

    varied: tuple[Varied, ...]
    samples: int
    design: str
    jobs: int | None


_OPTIONS = (
    click.option(
        "--vary",
        "texts",
        multiple=True,
        metavar="NAME=VALUES",
        help="A parameter: latency=1us..100us, latency=log:1us..100us, speed=gaussian:1,0.1, "
        "latency=exponential:1us,5us; may be repeated.",
    ),
    click.option("-n", "--samples", type=click.IntRange(1), default=100, show_default=True, help="Machines drawn."),
    click.option("--design", type=click.Choice(DESIGNS), default=DESIGNS[0], show_default=True, help="How."),
    click.option("--jobs", type=click.IntRange(1), metavar="N", help="Replays at once; one for each CPU if not given."),
)


def study_options(command: Callable) -> Callable:
    """--vary, --samples, --design, --jobs; the command gets `draw`."""

    @wraps(command)
    def with_draw(*args: Any, texts: tuple[str, ...], samples: int, design: str, jobs: int | None, **given: Any) -> Any:
        found = tuple(varied(text) for text in texts)
        names = [of.name for of in found]
        if twice := [name for name in names if names.count(name) > 1]:
            raise TracelibError(f"{twice[0]} is varied twice", "vary each parameter once")
        return command(*args, draw=Draw(found, samples, design, jobs), **given)

    for option in reversed(_OPTIONS):
        with_draw = option(with_draw)
    return with_draw


def output_options(help_: str) -> Callable:
    """-o, and -f, which begins samples anew."""

    def decorate(command: Callable) -> Callable:
        command = click.option(
            "-f", "--force", is_flag=True, help="Replace existing files, and begin the samples anew."
        )(command)
        return click.option("-o", "--output", type=click.Path(), help=help_)(command)

    return decorate


@contextmanager
def opened(files: Sequence[str], team: Team) -> Iterator[list[Traced]]:
    """The runs in files and the parts of them that are replayed. Raises TracelibError for runs that cannot be."""
    with ExitStack() as stack:
        traces: list[Trace] = []
        for file in files:
            traces.append(open_trace(file, team))
            stack.callback(traces[-1].close)
            if reason := obstacle(traces[-1], unrecorded(traces[-1], team)):
                raise TracelibError(f"{file} cannot be replayed: {reason}", "trace the whole run")
        sections = sections_of(traces, team)
        yield [Traced(*row) for row in zip(files, traces, sections, strict=True)]


@dataclass(frozen=True)
class Traced:
    """A run."""

    file: str
    trace: Trace
    section: Section

    @property
    def measured_ns(self) -> float | None:
        """How long the section took; None of a Dimemas trace, which holds no times."""
        return None if self.trace.program is not None else float(self.section.measured_ns)


@contextmanager
def studied(
    session: Session, runs: Sequence[Traced], machine: Machine, draw: Draw, journal: Path | None, anew: bool
) -> Iterator[Workers | None]:
    """The workers of a study on the process that leads it; None on the others, when they have done their jobs."""
    names = [of.name for of in draw.varied]
    study = Study(
        [run.section.program for run in runs], machine, lambda old, new: vary(old, dict(zip(names, new, strict=True)))
    )
    book = Journal(journal, _question(study, draw), anew=anew) if session.speaks else None
    try:
        with session.step("Replaying"), workers(study, book, session.team, draw.jobs) as staff:
            yield staff
    finally:
        if book is not None:
            book.close()


def _question(study: Study, draw: Draw) -> dict[str, Any]:
    machine = blake2b(machine_text(replace(study.machine, seed=0)).encode(), digest_size=16).hexdigest()
    question: dict[str, Any] = {
        "runs": [digest(program) for program in study.programs],
        "machine": machine,
        "vary": [of.text for of in draw.varied],
        "design": draw.design,
        "seed": study.machine.seed,
    }
    return question | ({"samples": draw.samples} if draw.design == LATIN else {})


def numbers(text: str | None, count: int, option: str) -> list[float] | None:
    """One number above 0 for each run, separated by commas. Raises TracelibError."""
    if text is None:
        return None
    try:
        found = [float(word) for word in text.split(",")]
    except ValueError:
        found = []
    if len(found) != count or not all(0 < number < float("inf") for number in found):
        raise TracelibError(f"{option} {text}", f"give one number above 0 for each run: {count}, with commas between")
    return found
