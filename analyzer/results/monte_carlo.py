"""Result of `analyze monte-carlo`, and how runs are replayed on machines that are drawn at random."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, fields, is_dataclass, replace
from hashlib import blake2b
from pathlib import Path
from typing import Any, ClassVar

from rich.console import Console

from analyzer.efficiency.ideal import not_whole
from analyzer.errors import TracelibError
from analyzer.machine.description import ExponentialNumber, GaussianNumber, Machine, UniformNumber
from analyzer.machine.parameters import vary
from analyzer.machine.write_toml import machine_text
from analyzer.metrics.unrecorded import unrecorded
from analyzer.montecarlo.distribution import LATIN, VariedParameter, points, varied
from analyzer.montecarlo.replay_jobs import WorkerInput
from analyzer.montecarlo.results_file import JobJournal
from analyzer.montecarlo.samples import replayed
from analyzer.montecarlo.spread import replayed_until
from analyzer.montecarlo.team_programs import digest, sections_of
from analyzer.montecarlo.workers import JobWorkers, workers
from analyzer.replay.section import ReplaySection
from analyzer.report.monte_carlo import MonteCarloReport, print_spread, spread_json
from analyzer.report.words.eager import Eager
from analyzer.report.words.left_out import left_out_lines, left_out_text
from analyzer.results.machine_choice import cpu_time_of
from analyzer.results.open_part import RunOpener, open_part
from analyzer.results.result import Result
from analyzer.trace import Trace

MOST = 10_000
"""Largest number of machines that are drawn until the mean time is known well enough."""


@dataclass(frozen=True, repr=False)
class MonteCarloResult(Result):
    """Predicted times of runs on machines drawn at random, and the parameters on which the times depend."""

    _main: ClassVar[tuple[str, ...]] = ("runs",)

    _report: MonteCarloReport

    def to_dict(self) -> dict[str, Any]:
        return spread_json(self._report)

    def print(self, console: Console) -> None:
        print_spread(self._report, console)

    def _rows(self) -> dict[str, list[dict[str, Any]]]:
        samples = self._report.samples
        names = [one.name for one in samples.varied]
        rows = [dict(zip(names, values, strict=True)) for values in samples.values.tolist()]
        return super()._rows() | {"samples": rows}


@dataclass(frozen=True)
class Draw:
    """Description of how machines are drawn at random.

    Attributes:
        varied: Parameters that are drawn.
        samples: Number of machines.
        design: Design of the draws: "random", "sobol" or a Latin hypercube.
        jobs: Number of processes that replay. None: one for each CPU.
    """

    varied: tuple[VariedParameter, ...]
    samples: int
    design: str
    jobs: int | None


@contextmanager
def opened(host: RunOpener, files: Sequence[str], machine: Machine) -> Iterator[list[Traced]]:
    """Open runs, and yield each with the section that is replayed.

    Raises:
        TracelibError: A run cannot be replayed.
    """
    team = host.team
    with ExitStack() as stack:
        traces: list[Trace] = []
        for file in files:
            traces.append(open_part(host, file))
            stack.callback(traces[-1].close)
            host.mention_problems(traces[-1])
            if reason := not_whole(traces[-1], unrecorded(traces[-1], team)):
                raise TracelibError(f"{file} cannot be replayed: {reason}", "trace the whole run")
        sections = sections_of(traces, team, buffered=machine.eager_limit is None)
        host.mention(left_out_lines([section.program for section in sections], machine))
        yield [Traced(*row, machine) for row in zip(files, traces, sections, strict=True)]


def eager_of(runs: Sequence[Traced], machine: Machine, draw: Draw) -> list[Eager]:
    """Return, for each run, which of its sends wait for their receive on the machine. []: the eager limit is varied."""
    if any(of.name == "eager" for of in draw.varied):
        return []
    return [Eager.from_replay(machine, run.section.program) for run in runs]


@dataclass(frozen=True)
class Traced:
    """Opened run, with the section that is replayed.

    Attributes:
        file: Path of the run.
        trace: The run.
        section: Section that is replayed.
        machine: Machine on which it is replayed.
    """

    file: str
    trace: Trace
    section: ReplaySection
    machine: Machine

    @property
    def cpu_time(self) -> bool | None:
        """True if the bursts in the replay are CPU time, False if they are wall time. None: a Dimemas trace decides."""
        return cpu_time_of(self.trace, self.section.program)

    @property
    def incomplete(self) -> str:
        """One line about what the replay leaves out. "": it leaves out nothing."""
        return left_out_text(self.section.program, self.machine)

    @property
    def measured_ns(self) -> float | None:
        """Measured duration of the section, ns. None: a Dimemas trace, which has no times."""
        return float(self.section.measured_ns) if self.trace.has_call_times else None


@contextmanager
def studied(
    host: RunOpener,
    runs: Sequence[Traced],
    machine: Machine,
    draw: Draw,
    journal: Path | None,
    anew: bool,
    guard: Callable[[JobJournal | None], AbstractContextManager[Any]] = nullcontext,
) -> Iterator[JobWorkers | None]:
    """Start the workers of a study, and stop them at the end of the context. Collective over the team.

    Args:
        host: The program that opened the runs.
        runs: The runs.
        machine: Machine whose parameters are varied.
        draw: How machines are drawn.
        journal: File that keeps the samples, to continue later. None: samples are not kept.
        anew: Whether earlier samples of the journal are discarded.
        guard: Makes a context around the replays, from the journal.

    Yields:
        The workers, on the process that leads the study. None on the other processes, after their jobs are done.
    """
    names = [of.name for of in draw.varied]
    study = WorkerInput(
        [run.section.program for run in runs], machine, lambda old, new: vary(old, dict(zip(names, new, strict=True)))
    )
    book = JobJournal(journal, _question(study, draw), anew=anew) if host.team.rank == 0 else None
    try:
        at_work = workers(study, book, host.team, draw.jobs)
        with guard(book), host.step("Replaying"), at_work as staff:
            yield staff
    finally:
        if book is not None:
            book.close()


def _question(study: WorkerInput, draw: Draw) -> dict[str, Any]:
    machine = blake2b(machine_text(replace(study.machine, seed=0)).encode(), digest_size=16).hexdigest()
    question: dict[str, Any] = {
        "runs": [digest(program) for program in study.programs],
        "machine": machine,
        "vary": [of.text for of in draw.varied],
        "design": draw.design,
        "seed": study.machine.seed,
    }
    return question | ({"samples": draw.samples} if draw.design == LATIN else {})


def variations(texts: Sequence[str]) -> tuple[VariedParameter, ...]:
    """Read parameters and their values from texts such as "latency=1us..100us".

    Raises:
        TracelibError: A text cannot be read, or a parameter is named twice.
    """
    found = tuple(varied(text) for text in texts)
    names = [of.name for of in found]
    if twice := [name for name in names if names.count(name) > 1]:
        raise TracelibError(f"{twice[0]} is varied twice", "vary each parameter once")
    return found


def check_random(machine: Machine, draw: Draw) -> None:
    """Raise TracelibError if no parameter is varied and the machine has no random values."""
    if not draw.varied and not _is_random(machine):
        raise TracelibError(
            "nothing is random", "vary a parameter (--vary latency=1us..100us), or name a machine with random values"
        )


def check_until(draw: Draw) -> None:
    """Raise TracelibError if the design needs a fixed number of machines, as a Latin hypercube does."""
    if draw.design == LATIN:
        raise TracelibError(
            "a Latin hypercube needs a fixed number of machines", "leave out --until, or use --design random or sobol"
        )


def compute(
    host: RunOpener, runs: Sequence[Traced], machine: Machine, draw: Draw, *, until: float | None = None,
    journal: Path | None = None, anew: bool = False,
    guard: Callable[[JobJournal | None], AbstractContextManager[Any]] = nullcontext,
) -> MonteCarloResult | None:  # fmt: skip
    """Replay runs on machines drawn at random. Collective over the team.

    Args:
        host: The program that opened the runs.
        runs: The runs.
        machine: Machine whose parameters are varied.
        draw: How machines are drawn.
        until: Relative error at which each mean is known well enough, so that fewer machines may do. None: all are
            drawn.
        journal: File that keeps the samples, to continue later. None: samples are not kept.
        anew: Whether earlier samples of the journal are discarded.
        guard: Makes a context around the replays, from the journal.

    Returns:
        The predicted times, on rank 0 of the team; None on its other members.
    """
    with studied(host, runs, machine, draw, journal, anew, guard) as staff:
        if staff is None:
            return None
        cube = points(draw.design, draw.samples, len(draw.varied), machine.seed & (2**64 - 1))
        asked = (staff, draw.varied, cube, range(machine.seed, machine.seed + draw.samples))
        samples = replayed(*asked) if until is None else replayed_until(*asked, until)
    return MonteCarloResult(
        MonteCarloReport(
            files=tuple(run.file for run in runs),
            measured_ns=[run.measured_ns for run in runs],
            cpu_time=[run.cpu_time for run in runs],
            samples=samples,
            design=draw.design,
            seed=machine.seed,
            written=[],
            eager=eager_of(runs, machine, draw),
            incomplete=[run.incomplete for run in runs],
            until=until,
        )
    )


def with_files(result: MonteCarloResult, written: Sequence[Path]) -> MonteCarloResult:
    """Return a copy of the result that lists the files written from it."""
    return MonteCarloResult(replace(result._report, written=list(written)))


def _is_random(part: object) -> bool:
    """Return True if a machine or a part of it has a distribution."""
    if isinstance(part, UniformNumber | GaussianNumber | ExponentialNumber):
        return True
    if isinstance(part, tuple):
        return any(map(_is_random, part))
    return is_dataclass(part) and any(_is_random(getattr(part, field.name)) for field in fields(part))
