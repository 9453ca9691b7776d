"""Result of `analyze representative`: the part of a run, or of a series of counters, that represents all of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from rich.console import Console

from analyzer.errors import TracelibError
from analyzer.parallel import Team
from analyzer.replay.section import section_bounds
from analyzer.report.representative import RepresentativeReport, analysed_json, analysed_tables
from analyzer.representative.plan import passes
from analyzer.representative.series import StepSeries, default_metric, metric_of, series_of_run
from analyzer.representative.subset import lengths, representative, typical_iteration
from analyzer.results.result import Result, print_tables
from analyzer.trace import Trace
from analyzer.trace.trace import check_computing

STEPS = 1 << 13
"""Number of steps into which a run is divided."""


@dataclass(frozen=True, repr=False)
class RepresentativeResult(Result):
    """Shortest part that represents a run: one period of its counters."""

    _main: ClassVar[tuple[str, ...]] = ("lengths", "summary")

    _report: RepresentativeReport

    def to_dict(self) -> dict[str, Any]:
        return analysed_json(self._report)

    def print(self, console: Console) -> None:
        print_tables(console, analysed_tables(self._report))


def series_in(trace: Trace, team: Team, steps: int = STEPS) -> tuple[StepSeries, NDArray[np.float64] | None]:
    """Divide the counters of a run into a series of steps. Collective over the team.

    Args:
        trace: An opened run.
        team: Processes that share the work.
        steps: Number of steps.

    Returns:
        The series; and begins and ends of the iterations, in steps (None: there are no iterations).

    Raises:
        TracelibError: The run does not know when it computes, or nothing lies between MPI_Init and MPI_Finalize.
    """
    check_computing(trace)
    begin, end = section_bounds(trace, team)
    if end.max() <= begin.min():
        raise TracelibError(f"{trace.path}: nothing lies between MPI_Init and MPI_Finalize")
    first = int(begin.min())
    series = series_of_run(trace, first, int(end.max()), steps)
    edges = team.bcast(passes(trace) if team.rank == 0 else None)
    return series, None if edges is None else (edges - first) / series.step


def compute(
    series: StepSeries, iterations: NDArray[np.float64] | None = None, *, metric: str | None = None,
    by: str | None = None,
    sweep: bool = False,
) -> RepresentativeResult:  # fmt: skip
    """Find the shortest part of a series that represents all of it.

    Args:
        series: Counters by step.
        iterations: Begins and ends of iterations, in steps. None: not known.
        metric: Metric that is analysed, such as "cycles/instructions". None: this one, or else the first column.
        by: Second metric, whose errors are computed, too. None: none.
        sweep: Whether to compute errors of samples by k-means, for intervals of up to twice the period.

    Raises:
        TracelibError: There is no such metric.
    """
    main = metric_of(series, metric or default_metric(series))
    other = metric_of(series, by) if by else None
    metrics = (main, *([other] if other else []))
    subset = representative(main.values())
    if subset is None and iterations is not None:
        subset = typical_iteration(iterations, len(series))
    swept = None
    if sweep and subset:
        from analyzer.representative.sampling import sweep as errors_of_sweep

        swept = tuple(errors_of_sweep(main, other or main, min(2 * subset.length, len(series))))
    known = tuple(lengths(subset, metrics)) if subset else ()
    return RepresentativeResult(RepresentativeReport(series, metrics, subset, known, swept))
