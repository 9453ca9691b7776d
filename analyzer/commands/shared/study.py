"""Options, opening of runs and start of workers for commands that replay runs on many machines."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import wraps
from pathlib import Path
from threading import current_thread, main_thread
from types import FrameType
from typing import TYPE_CHECKING, Any

import click

from analyzer.commands.shared.iteration_option import open_wanted
from analyzer.commands.shared.options import LazyChoice, jobs_option, rare_option
from analyzer.commands.shared.session import Session
from analyzer.errors import TracelibError
from analyzer.signal_handling import EndRequested, die

if TYPE_CHECKING:  # numpy takes as long to import as click: who asks for --help does not wait for it
    from analyzer.machine.description import Machine
    from analyzer.montecarlo.distribution import VariedParameter
    from analyzer.montecarlo.replay_jobs import WorkerInput
    from analyzer.montecarlo.results_file import JobJournal
    from analyzer.montecarlo.workers import JobWorkers
    from analyzer.replay.section import ReplaySection
    from analyzer.report.words.eager import Eager
    from analyzer.trace import Trace


@dataclass(frozen=True)
class Draw:
    """Parameters that are drawn at random, number of draws, their design, and number of processes that replay."""

    varied: tuple[VariedParameter, ...]
    samples: int
    design: str
    jobs: int | None


_OPTIONS = (
    click.option(
        "--vary",
        "texts",
        multiple=True,
        metavar="NAME=VALUES",
        help="Parameter and its values: latency=1us..100us, log:1us..100us, gaussian:1,0.1 or exponential:1us,5us.",
    ),
    click.option(
        "-n",
        "--samples",
        type=click.IntRange(1),
        default=100,
        show_default=True,
        metavar="N",
        help="Number of machines to draw.",
    ),
    rare_option(
        "--design",
        type=LazyChoice("analyzer.montecarlo.distribution", "DESIGNS"),
        default="random",
        show_default=True,
        help="Method by which machines are drawn.",
    ),
    jobs_option,
)


def study_options(command: Callable) -> Callable:
    """Add --vary, --samples, --design, --jobs; the command gets `draw`."""

    @wraps(command)
    def with_draw(*args: Any, texts: tuple[str, ...], samples: int, design: str, jobs: int | None, **given: Any) -> Any:
        from analyzer.montecarlo.distribution import varied

        found = tuple(varied(text) for text in texts)
        names = [of.name for of in found]
        if twice := [name for name in names if names.count(name) > 1]:
            raise TracelibError(f"{twice[0]} is varied twice", "vary each parameter once")
        return command(*args, draw=Draw(found, samples, design, jobs), **given)

    for option in reversed(_OPTIONS):
        with_draw = option(with_draw)
    return with_draw


def output_options(help_: str) -> Callable:
    """Add -o, and -f, which begins samples anew."""

    def decorate(command: Callable) -> Callable:
        command = click.option(
            "-f", "--force", is_flag=True, help="Replace existing files, and start the samples anew."
        )(command)
        return click.option("-o", "--output", type=click.Path(), help=help_)(command)

    return decorate


@contextmanager
def opened(session: Session, files: Sequence[str], machine: Machine) -> Iterator[list[Traced]]:
    """Open the runs, with the section of each that is replayed. Raises TracelibError if one cannot be replayed."""
    from analyzer.efficiency.ideal import not_whole
    from analyzer.metrics.unrecorded import unrecorded
    from analyzer.montecarlo.team_programs import sections_of
    from analyzer.report.words.left_out import left_out_lines

    team = session.team
    with ExitStack() as stack:
        traces: list[Trace] = []
        for file in files:
            traces.append(open_wanted(session, file))
            stack.callback(traces[-1].close)
            session.mention_problems(traces[-1])
            if reason := not_whole(traces[-1], unrecorded(traces[-1], team)):
                raise TracelibError(f"{file} cannot be replayed: {reason}", "trace the whole run")
        sections = sections_of(traces, team, buffered=machine.eager_limit is None)
        session.mention(left_out_lines([section.program for section in sections], machine))
        yield [Traced(*row, machine) for row in zip(files, traces, sections, strict=True)]


def eager_of(runs: Sequence[Traced], machine: Machine, draw: Draw) -> list[Eager]:
    """Return which sends of each run wait; empty if the eager limit is varied."""
    from analyzer.report.words.eager import Eager

    if any(of.name == "eager" for of in draw.varied):
        return []
    return [Eager.from_replay(machine, run.section.program) for run in runs]


@dataclass(frozen=True)
class Traced:
    """An opened run, with the section that is replayed."""

    file: str
    trace: Trace
    section: ReplaySection
    machine: Machine

    @property
    def cpu_time(self) -> bool | None:
        """Whether bursts of its replays are CPU time, not the time that passed; None: as a Dimemas trace has them."""
        from analyzer.results.machine_choice import cpu_time_of

        return cpu_time_of(self.trace, self.section.program)

    @property
    def incomplete(self) -> str:
        """Say in one line what the replays of the run leave out; "" if nothing."""
        from analyzer.report.words.left_out import left_out_text

        return left_out_text(self.section.program, self.machine)

    @property
    def measured_ns(self) -> float | None:
        """How long the section took; None of a Dimemas trace, which holds no times."""
        return float(self.section.measured_ns) if self.trace.has_call_times else None


@contextmanager
def studied(
    session: Session, runs: Sequence[Traced], machine: Machine, draw: Draw, journal: Path | None, anew: bool
) -> Iterator[JobWorkers | None]:
    """Yield the workers of a study on the process that leads it; None on the others, when they have done their jobs."""
    from analyzer.machine.parameters import vary
    from analyzer.montecarlo.replay_jobs import WorkerInput
    from analyzer.montecarlo.results_file import JobJournal
    from analyzer.montecarlo.workers import workers

    names = [of.name for of in draw.varied]
    study = WorkerInput(
        [run.section.program for run in runs], machine, lambda old, new: vary(old, dict(zip(names, new, strict=True)))
    )
    book = JobJournal(journal, _question(study, draw), anew=anew) if session.speaks else None
    try:
        at_work = workers(study, book, session.team, draw.jobs)
        with _says_when_ended(book, journal), session.step("Replaying"), at_work as staff:
            yield staff
    finally:
        if book is not None:
            book.close()


@contextmanager
def _says_when_ended(book: JobJournal | None, path: Path | None) -> Iterator[None]:
    """Say on stderr how to go on if this process is ended by its user or from outside.

    Launchers end it when another process dies.
    """

    def say(text: str) -> None:
        hint = f"the same command goes on from {path}" if path else "with -o NAME the same command could go on"
        os.write(2, f"{text} after {len(book or ())} replays ({hint})\n".encode())

    def ended(number: int, _frame: FrameType | None) -> None:
        say(f"Error: ended by {signal.Signals(number).name}")
        die(number)

    if book is None or current_thread() is not main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, ended)
    try:
        yield
    except EndRequested:
        say("Ended")
        raise
    finally:
        signal.signal(signal.SIGTERM, before)


def _question(study: WorkerInput, draw: Draw) -> dict[str, Any]:
    from hashlib import blake2b

    from analyzer.machine.toml_text import machine_text
    from analyzer.montecarlo.distribution import LATIN
    from analyzer.montecarlo.team_programs import digest

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
    """Read one number above 0 for each run, separated by commas. Raises TracelibError."""
    if text is None:
        return None
    try:
        found = [float(word) for word in text.split(",")]
    except ValueError:
        found = []
    if len(found) != count or not all(0 < number < float("inf") for number in found):
        how = f"give {count} of them, separated by commas" if count > 1 else "give one"
        raise TracelibError(f"{option} {text}: expected one number above 0 for each run", how)
    return found
