"""Functions of several runs: what changed between them, how they scale."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Unpack

from analyzer.arguments import Count, checked
from analyzer.errors import TracelibError
from analyzer.interface.choices import PathArgument, ScalingOptions, SizeArgument, iteration_choice, one_of, size_bytes
from analyzer.interface.host import PythonHost
from analyzer.interface.run import Run, open_run

if TYPE_CHECKING:  # an analysis is imported when it is asked for
    from analyzer.efficiency.analysis import Efficiencies
    from analyzer.results.diff import DiffResult
    from analyzer.results.efficiency import EfficiencyResult
    from analyzer.results.speedup import PredictResult, SpeedupResult, VariantsResult
    from analyzer.speedup_model.parameters import SpeedupParameters

RunArgument = Run | PathArgument
"""A run that is open, or the path of one."""
RunsArgument = RunArgument | Sequence[RunArgument]

SCALINGS = ("strong", "weak")


@checked
def diff(a: RunsArgument, b: RunsArgument) -> DiffResult:
    """Say what changed from run a to run b, where, and whether it is more than noise (`analyze diff`).

    Args:
        a: A run, or several of the same program and input, which say how much is noise.
        b: The other run, or several.

    Raises:
        TracelibError: A run cannot be read.
    """
    from analyzer.results.diff import compare_runs, measure_run

    sides = []
    for side in (a, b):
        measured = []
        for one in _each(side):
            with _opened(one) as run:
                measured.append(measure_run(run.trace, PythonHost().team))
        sides.append(measured)
    return compare_runs(*sides)


@checked
def efficiencies(
    runs: Sequence[RunArgument],
    *,
    by_region: bool = False,
    region: str | None = None,
    additive: bool = False,
    scaling: str | None = None,
    eager_limit: SizeArgument | None = None,
) -> EfficiencyResult:
    """Compare the POP factors of runs, and say how they scale (`analyze efficiency RUN RUN ...`).

    Args:
        runs: Runs of one program.
        by_region: Whether each region of the program is looked at, too.
        region: Region each of whose visits is looked at.
        additive: Whether to show factors whose losses add up, as in PyPOP.
        scaling: "strong" or "weak". None: as the work of the runs shows.
        eager_limit: Size from which on sends wait for their receive on the ideal network. None: as the runs show.

    Raises:
        TracelibError: A run cannot be read, or has no such region.
    """
    from analyzer.results.efficiency import compare_runs

    one_of("scaling", scaling, SCALINGS)
    found: list[Efficiencies] = []
    for one in _some(runs):
        with _opened(one) as run:
            found.append(run._efficiencies(by_region=by_region, region=region, eager_limit=eager_limit))
    return compare_runs(found, scaling=scaling, additive=additive)


@checked
def speedup(
    runs: Sequence[RunArgument],
    *,
    against: Sequence[RunArgument] = (),
    **options: Unpack[ScalingOptions],
) -> SpeedupResult | VariantsResult:
    """Say how runs scale and why, relative to the one with the fewest ranks (`analyze speedup`).

    Args:
        runs: Runs of one program.
        against: Runs of another variant of the program.
        options: Parts that are compared, and how (`ScalingOptions`).

    Raises:
        TracelibError: A run cannot be read, or has no such region or loop.

    Source: Casas 2009, chapter 4.
    """
    from analyzer.results.speedup import compare_runs

    scaling = _scaling(options)
    measured = _measuring([*_some(runs), *against], options)
    return compare_runs(measured[: len(runs)], measured[len(runs) :], scaling=scaling)


@checked
def predict(
    runs: Sequence[RunArgument],
    ranks: Count | Sequence[Count],
    *,
    form: str = "log",
    **options: Unpack[ScalingOptions],
) -> PredictResult:
    """Predict the speedup of a program at other numbers of ranks (`analyze predict`).

    Args:
        runs: Runs at three or more numbers of ranks. One that has as many ranks as are to be predicted is compared.
        ranks: Number of ranks to predict for, or several.
        form: Curve of each factor: "log" is a + b ln P; "models" are chosen from the data.
        options: Parts that are compared, and how (`ScalingOptions`).

    Raises:
        TracelibError: A run cannot be read, or there are too few.
    """
    from analyzer.results.speedup import MODELS, extrapolate
    from analyzer.speedup_model.extrapolation import FORMS

    one_of("form", form, [*FORMS, MODELS])
    scaling = _scaling(options)
    counts = [ranks] if isinstance(ranks, int) else list(ranks)
    if not counts:
        raise TracelibError("ranks=[] names no number of ranks", "such as 128, or [128, 1024]")
    return extrapolate(_measuring(_some(runs), options), counts, form=form, scaling=scaling)


def _scaling(options: ScalingOptions) -> str | None:
    scaling = options.get("scaling")
    one_of("scaling", scaling, SCALINGS)
    return scaling


def _measuring(runs: Sequence[RunArgument], options: ScalingOptions) -> list[SpeedupParameters]:
    """Compute the parameters of the speedup model of runs."""
    from analyzer.results.speedup import measure_runs

    return measure_runs(
        PythonHost(wanted=iteration_choice(options.get("loop"), None)),
        [_path(run) for run in runs],
        region=options.get("region"),
        eager_limit=size_bytes("eager_limit", options.get("eager_limit")),
        whole=options.get("whole", False),
    )


def _path(run: RunArgument) -> str:
    if not isinstance(run, Run):
        return os.fspath(run)
    if run.is_part:
        raise TracelibError(f"{run.path} was opened in part, and is compared as a whole", "give its path")
    return run.path


def _each(runs: RunsArgument) -> Sequence[RunArgument]:
    return _some([runs] if isinstance(runs, Run | str | os.PathLike) else runs)


def _some(runs: Sequence[RunArgument]) -> Sequence[RunArgument]:
    """Raise TracelibError if there is no run."""
    if not runs:
        raise TracelibError("no run is given", 'give several: ["a.h5", "b.h5"]')
    return runs


@contextmanager
def _opened(run: RunArgument) -> Iterator[Run]:
    """Give an open run as it is; open the run at a path for this block."""
    if isinstance(run, Run):
        yield run
        return
    with open_run(run) as opened:
        yield opened
