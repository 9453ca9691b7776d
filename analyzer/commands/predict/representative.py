"""`analyze representative`: the part of a run or series that stands for all of it, and counters read in turn."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from analyzer.atomic_file import whole_file
from analyzer.commands.command import Alone, Refuses, Result, command
from analyzer.commands.shared.iteration_option import opened
from analyzer.commands.shared.options import file_argument, rare_option
from analyzer.commands.shared.session import Session
from analyzer.results.output_files import check_replaceable, checked_picture, output_base

if TYPE_CHECKING:  # numpy takes as long to import as click: who asks for --help does not wait for it
    import numpy as np

    from analyzer.representative.series import StepSeries
    from analyzer.results.counter_plan import CounterPlanResult, EstimatesResult
    from analyzer.results.representative import RepresentativeResult
    from analyzer.trace import Trace

_SERIES = (".csv", ".npz")
_ENDING = ".plan"


@command(
    "Which part of a run stands for all of it.",
    ranks=Refuses("the counters of all ranks are added up"),
    place=Refuses("counters are of all that ranks compute, between whatever calls"),
    output="Name of the plan, without ending, or a folder for it.",
    json=1,
    alone=Alone("each process reads all"),
)
@file_argument
@click.option(
    "--metric", metavar="A[/B]", show_default="cycles/instructions, else the first column", help="Metric to analyse."
)
@rare_option("--by", metavar="A[/B]", help="Show the errors of this metric, too; --sweep clusters by it.")
@rare_option("--sweep", is_flag=True, help="Show errors of samples by k-means for intervals of different lengths.")
@rare_option(
    "--steps",
    type=click.IntRange(64, 1 << 22),
    default=1 << 13,
    show_default=True,
    metavar="N",
    help="Number of steps that the run is cut into.",
)
@click.option("--plan", "sets", multiple=True, metavar="COUNTERS", help="Plan an iteration that reads these counters.")
@click.option(
    "--full",
    type=click.Path(),
    multiple=True,
    metavar="RUN",
    help="Compare FILE, which followed a plan, with this run.",
)
@click.option("--estimate", is_flag=True, help="Extrapolate the counters of FILE, which followed a plan.")
@click.option(
    "--picture",
    type=click.Path(dir_okay=False),
    metavar="FILE",
    help="Draw the metric, the part and the errors into this .png or .svg file.",
)
def representative_command(
    session: Session,
    file: str,
    metric: str | None,
    by: str | None,
    sweep: bool,
    steps: int,
    sets: tuple[str, ...],
    full: tuple[str, ...],
    estimate: bool,
    picture: str | None,
    output: str | None,
    force: bool,
) -> Result:
    """Find the shortest part of FILE that stands for all of it: one period of its counters.

    FILE is a series of counters (.csv with names in the first line, or .npz), or a run with counters. With --plan,
    write a plan (NAME.plan) by which one run reads sets of counters in turn, each in an iteration of its own. With
    --estimate or --full, FILE is such a run: print what it says of a whole run.
    """
    if picture and (sets or estimate or full):
        raise click.UsageError("--picture is of a part that stands for all: leave out --plan, --estimate and --full")
    if sets:
        return _plan(session, file, sets, steps, output, force)
    if estimate or full:
        return _estimate(session, file, full)
    path = checked_picture(picture, [file], force)
    return _analyse(session, file, metric, by, sweep, steps, path)


def _analyse(
    session: Session, file: str, metric: str | None, by: str | None, sweep: bool, steps: int, picture: Path | None
) -> RepresentativeResult:
    from analyzer.results.representative import compute

    result = compute(*_series(session, file, steps), metric=metric, by=by, sweep=sweep)
    if picture and session.speaks:
        from analyzer.report.pictures.representative import draw_representative

        draw_representative(result._report, picture)
    return result


@contextmanager
def _opened(session: Session, file: str) -> Iterator[Trace]:
    """Open a run that says when it computes. Raises TracelibError."""
    from analyzer.trace.trace import check_computing

    with opened(session, file, whole=True, remarks="") as trace:
        check_computing(trace)
        session.mention_problems(trace)
        yield trace


def _series(session: Session, file: str, steps: int) -> tuple[StepSeries, np.ndarray | None]:
    """Return the series, and where the iterations of a run begin and end in it, in steps; None: it has none."""
    from analyzer.representative.series import read_series
    from analyzer.results.representative import series_in

    if Path(file).suffix in _SERIES:
        return read_series(Path(file)), None
    with _opened(session, file) as trace:
        return series_in(trace, session.team, steps)


def _plan(
    session: Session, file: str, sets: tuple[str, ...], steps: int, output: str | None, force: bool
) -> CounterPlanResult:
    from analyzer.representative.plan import plan
    from analyzer.results.counter_plan import CounterPlanResult

    with _opened(session, file) as trace:
        base = output_base(Path(trace.path), output, (_ENDING,))
        path = base.with_name(base.name + _ENDING)
        check_replaceable(path, [Path(trace.path)], force)
        found = plan(trace, session.team, sets, steps)
    if session.speaks:
        with whole_file(path) as written:
            written.write(found.schedule().encode())
    return CounterPlanResult(found, path)


def _estimate(session: Session, file: str, full: tuple[str, ...]) -> EstimatesResult:
    from analyzer.representative.plan import estimates, totals
    from analyzer.results.counter_plan import EstimatesResult

    whole: dict[str, float] = {}
    for other in full:
        with opened(session, other, whole=True) as trace:
            whole |= totals(trace, session.team)
    with _opened(session, file) as trace:
        return EstimatesResult(file, estimates(trace, session.team, whole))
