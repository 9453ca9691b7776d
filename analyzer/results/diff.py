"""Result of `analyze diff`: what changed between two runs, and whether it is more than noise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from rich.console import Console

from analyzer.differences.compare import RunDifference, compare
from analyzer.differences.figures import RunFigures
from analyzer.differences.measure import measure
from analyzer.parallel import Team
from analyzer.report.differences.as_json import difference_json
from analyzer.report.differences.tables import print_difference
from analyzer.results.result import Result
from analyzer.trace import Trace


@dataclass(frozen=True, repr=False)
class DiffResult(Result):
    """Changes from one or several runs to others."""

    _main: ClassVar[tuple[str, ...]] = ("rows",)

    _difference: RunDifference

    def to_dict(self) -> dict[str, Any]:
        return difference_json(self._difference)

    @property
    def verdict(self) -> str:
        """Verdict on the run time, such as "within noise"."""
        return str(self.to_dict()["run_time"]["verdict"])

    def print(self, console: Console) -> None:
        print_difference(self._difference, console)


def measure_run(trace: Trace, team: Team) -> RunFigures:
    """Compute the figures of a run that `compare_runs` compares. Collective over the team."""
    return measure(trace, team)


def compare_runs(first: Sequence[RunFigures], second: Sequence[RunFigures]) -> DiffResult:
    """Compare the figures of two groups of runs. The runs of a group are repetitions of the same kind."""
    return DiffResult(compare(list(first), list(second)))
