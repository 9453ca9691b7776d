"""Results of `analyze speedup` and `analyze predict`: how runs scale, and predictions for more ranks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from itertools import chain
from typing import Any, ClassVar

from rich.console import Console

from analyzer.opening import open_trace
from analyzer.report.predicted_speedup import prediction_json, prediction_tables
from analyzer.report.speedup import speedup_json, speedup_tables, variants_json, variants_tables
from analyzer.results.open_part import RunOpener, iterations_of, open_part
from analyzer.results.result import Result, print_tables
from analyzer.speedup_model.extrapolation import FORMS, Selector, fitted
from analyzer.speedup_model.factor_model import Speedup, Variants, speedup, variants
from analyzer.speedup_model.parameters import SpeedupParameters, parameters
from analyzer.speedup_model.prediction import SpeedupPrediction, predict
from analyzer.structure.iterations import Iterations
from analyzer.structure.levels.run_structure import iterations
from analyzer.trace import Regions, Trace

MODELS = "models"
"""Value of `form` for which models are chosen from the data."""


@dataclass(frozen=True, repr=False)
class SpeedupResult(Result):
    """Speedup of runs relative to the run with the fewest ranks, and its factors."""

    _main: ClassVar[tuple[str, ...]] = ("runs",)

    _speedup: Speedup

    def to_dict(self) -> dict[str, Any]:
        return speedup_json(self._speedup)

    def print(self, console: Console) -> None:
        print_tables(console, speedup_tables(self._speedup))


@dataclass(frozen=True, repr=False)
class VariantsResult(Result):
    """Comparison of how two variants of a program scale."""

    _main: ClassVar[tuple[str, ...]] = ("differences",)

    _variants: Variants

    def to_dict(self) -> dict[str, Any]:
        return variants_json(self._variants)

    def print(self, console: Console) -> None:
        print_tables(console, variants_tables(self._variants))


@dataclass(frozen=True, repr=False)
class PredictResult(Result):
    """Predicted speedup at further numbers of ranks."""

    _main: ClassVar[tuple[str, ...]] = ("predicted",)

    _prediction: SpeedupPrediction

    def to_dict(self) -> dict[str, Any]:
        return prediction_json(self._prediction)

    def print(self, console: Console) -> None:
        print_tables(console, prediction_tables(self._prediction))


def measure_runs(
    host: RunOpener,
    files: Sequence[str],
    *,
    region: str | None = None,
    eager_limit: int | None = None,
    whole: bool = False,
) -> list[SpeedupParameters]:
    """Compute the parameters of the speedup model for each run, one run after the other.

    Args:
        host: The program that opens the runs.
        files: Paths of the runs.
        region: Region whose visits are compared. None: iterations are compared, if no run has regions, and all runs
            have a main loop with the same number of passes or the same calls.
        eager_limit: Message size in bytes from which on sends wait for their receive on the ideal network. None: as the
            run shows.
        whole: Whether to compare from MPI_Init to MPI_Finalize, even if iterations are found.

    Raises:
        TracelibError: A run cannot be read, or has no such region or loop.
    """
    with ExitStack() as opened:
        loops: Sequence[Iterations | None] = [None] * len(files)
        traces: Iterator[Trace] = (
            opened.enter_context(closing(open_part(host, file, region=region))) for file in files
        )
        if region is None and not whole:
            loops, traces = _loops(host, files, opened)
        found = []
        for file, loop, trace in zip(files, loops, traces, strict=True):
            host.mention_problems(trace)
            trace.match()
            with host.step(f"Adding up and replaying {file}"):
                found.append(parameters(trace, host.team, region, eager_limit, loop))
            trace.close()
        return found


def _loops(
    host: RunOpener, files: Sequence[str], opened: ExitStack
) -> tuple[Sequence[Iterations | None], Iterator[Trace]]:
    """Find the iterations of each run, and return them with the opened runs.

    Without a loop named by the user, there are no iterations (None for each run) if a run has regions or no loop, or if
    the loops differ in both the number of passes and the calls of a pass.
    """

    def opening(file: str) -> Trace:
        return opened.enter_context(closing(open_trace(file, host.team, matched=False)))

    if host.wanted:
        opened_runs = [opening(file) for file in files]
        return [iterations_of(trace, host) for trace in opened_runs], iter(opened_runs)
    none: Sequence[Iterations | None] = [None] * len(files)
    found: list[Iterations | None] = []
    traces: list[Trace] = []
    for file in files:
        traces.append(opening(file))
        loop = None
        if traces[-1].has_call_times and not traces[-1].extra(Regions).names:
            with host.step(f"Looking for iterations in {file}"):
                loop = iterations(traces[-1], host.team)
        if loop is None:
            return none, chain(traces, map(opening, files[len(traces) :]))
        found.append(loop)
    counts, bodies = ({one.count for one in found if one}, {one.body for one in found if one})
    return found if len(counts) == 1 or len(bodies) == 1 else none, iter(traces)


def compare_runs(
    runs: Sequence[SpeedupParameters], others: Sequence[SpeedupParameters] = (), *, scaling: str | None = None
) -> SpeedupResult | VariantsResult:
    """Compute how runs scale, and why.

    Args:
        runs: Parameters of the speedup model, one for each run.
        others: Parameters of the runs of another variant of the program. Empty: there is no other variant.
        scaling: "strong" or "weak". None: as the work of the runs shows.

    Source: Casas 2009, chapter 4.
    """
    if others:
        return VariantsResult(variants(list(runs), list(others), scaling))
    return SpeedupResult(speedup(list(runs), scaling))


def extrapolate(
    runs: Sequence[SpeedupParameters], ranks: Sequence[int], *, form: str = "log", scaling: str | None = None
) -> PredictResult:
    """Predict the speedup at other numbers of ranks.

    Args:
        runs: Parameters of the speedup model of three runs or more.
        ranks: Numbers of ranks for which the speedup is predicted.
        form: Curve of each factor: a name of `FORMS`, or "models" for models that are chosen from the data.
        scaling: "strong" or "weak". None: as the work of the runs shows.
    """
    return PredictResult(predict(list(runs), sorted(ranks), _selector(form), scaling))


def _selector(form: str) -> Selector:
    if form != MODELS:
        return fitted(FORMS[form])
    from analyzer.models.speedup_curves import selected

    return selected
