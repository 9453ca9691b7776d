"""Functions of several runs: what changed between them, how they scale."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from analyzer.errors import TracelibError
from analyzer.interface.choices import SizeArgument, iteration_choice, one_of, size_bytes
from analyzer.interface.host import PythonHost
from analyzer.interface.run import PathArgument, Run, open_run

if TYPE_CHECKING:  # an analysis is imported when it is asked for
    from analyzer.efficiency.analysis import Efficiencies
    from analyzer.results.diff import DiffResult
    from analyzer.results.efficiency import EfficiencyResult
    from analyzer.results.speedup import PredictResult, SpeedupResult, VariantsResult

RunArgument = Run | PathArgument
"""A run that is open, or the path of one."""
RunsArgument = RunArgument | Sequence[RunArgument]

_SCALINGS = ("strong", "weak")


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

    one_of("scaling", scaling, _SCALINGS)
    found: list[Efficiencies] = []
    for one in _some(runs):
        with _opened(one) as run:
            result = run.efficiency(by_region=by_region, region=region, eager_limit=eager_limit)
            found += result.compared.runs
    return compare_runs(found, scaling=scaling, additive=additive)


def speedup(
    runs: Sequence[RunArgument],
    *,
    against: Sequence[RunArgument] = (),
    region: str | None = None,
    loop: int | None = None,
    whole: bool = False,
    scaling: str | None = None,
    eager_limit: SizeArgument | None = None,
) -> SpeedupResult | VariantsResult:
    """Say how runs scale and why, relative to the one with the fewest ranks (`analyze speedup`).

    Args:
        runs: Runs of one program.
        against: Runs of another variant of the program.
        region: Region whose visits are compared. None: iterations are, where all runs are loops of the same and none
            has regions.
        loop: Number of the loop that is compared; 1 is the main one.
        whole: Whether to compare from MPI_Init to MPI_Finalize, even if iterations are found.
        scaling: "strong" or "weak". None: as the work of the runs shows.
        eager_limit: Size from which on sends wait for their receive on the ideal network. None: as the runs show.

    Raises:
        TracelibError: A run cannot be read, or has no such region or loop.

    Source: Casas 2009, chapter 4.
    """
    from analyzer.results.speedup import compare_runs, measure_runs

    one_of("scaling", scaling, _SCALINGS)
    files = [*_paths(_some(runs)), *_paths(against)]
    limit = size_bytes("eager_limit", eager_limit)
    measured = measure_runs(_host(loop), files, region=region, eager_limit=limit, whole=whole)
    return compare_runs(measured[: len(runs)], measured[len(runs) :], scaling=scaling)


def predict(
    runs: Sequence[RunArgument],
    ranks: int | Sequence[int],
    *,
    form: str = "log",
    region: str | None = None,
    loop: int | None = None,
    whole: bool = False,
    scaling: str | None = None,
    eager_limit: SizeArgument | None = None,
) -> PredictResult:
    """Predict the speedup of a program at other numbers of ranks (`analyze predict`).

    Args:
        runs: Runs at three or more numbers of ranks. One that has as many ranks as are to be predicted is compared.
        ranks: Number of ranks to predict for, or several.
        form: Curve of each factor: "log" is a + b ln P; "models" are chosen from the data.
        region: Region whose visits are compared. None: iterations are, where all runs are loops of the same and none
            has regions.
        loop: Number of the loop that is compared; 1 is the main one.
        whole: Whether to compare from MPI_Init to MPI_Finalize, even if iterations are found.
        scaling: "strong" or "weak". None: as the work of the runs shows.
        eager_limit: Size from which on sends wait for their receive on the ideal network. None: as the runs show.

    Raises:
        TracelibError: A run cannot be read, or there are too few.
    """
    from analyzer.results.speedup import MODELS, extrapolate, measure_runs
    from analyzer.speedup_model.extrapolation import FORMS

    one_of("form", form, [*FORMS, MODELS])
    one_of("scaling", scaling, _SCALINGS)
    counts = [ranks] if isinstance(ranks, int) else list(ranks)
    if not counts or min(counts) < 1:
        raise TracelibError(f"ranks={ranks!r} is no number of ranks", "such as 128, or [128, 1024]")
    limit = size_bytes("eager_limit", eager_limit)
    measured = measure_runs(_host(loop), _paths(_some(runs)), region=region, eager_limit=limit, whole=whole)
    return extrapolate(measured, counts, form=form, scaling=scaling)


def _host(loop: int | None) -> PythonHost:
    return PythonHost(wanted=iteration_choice(loop, None))


def _each(runs: RunsArgument) -> Sequence[RunArgument]:
    return _some(runs) if isinstance(runs, Sequence) and not isinstance(runs, str) else [runs]


def _some(runs: Sequence[RunArgument]) -> Sequence[RunArgument]:
    """Raise TracelibError if these are no runs."""
    if isinstance(runs, str | Run) or not isinstance(runs, Sequence):
        raise TracelibError(f"{runs!r} is one run", 'give several: ["a.h5", "b.h5"]')
    if not runs:
        raise TracelibError("no run is given", 'give several: ["a.h5", "b.h5"]')
    return runs


def _paths(runs: Sequence[RunArgument]) -> list[str]:
    return [run.path if isinstance(run, Run) else str(run) for run in runs]


@contextmanager
def _opened(run: RunArgument) -> Iterator[Run]:
    """Give an open run as it is; open the run at a path for this block."""
    if isinstance(run, Run):
        yield run
        return
    with open_run(run) as opened:
        yield opened
