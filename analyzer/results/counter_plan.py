"""Results of `analyze representative --plan` and `--estimate`: counters that one run reads in turn."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console

from analyzer.report.representative import estimates_json, estimates_tables, plan_command, plan_json, plan_tables
from analyzer.representative.plan import CounterEstimates, CounterPlan
from analyzer.results.result import Result, print_lines, print_tables


@dataclass(frozen=True, repr=False)
class CounterPlanResult(Result):
    """Plan by which one run reads several sets of counters in turn.

    Attributes:
        path: Path of the plan.
    """

    _plan: CounterPlan
    path: Path

    def to_dict(self) -> dict[str, Any]:
        return plan_json(self._plan, str(self.path))

    def print(self, console: Console) -> None:
        print_tables(console, plan_tables(self._plan))
        print_lines(console, [plan_command(self._plan, str(self.path))])


@dataclass(frozen=True, repr=False)
class EstimatesResult(Result):
    """Counters of a whole run, extrapolated from a run that read sets of counters in turn.

    Attributes:
        file: Path of the run.
    """

    file: str
    _estimates: CounterEstimates

    def to_dict(self) -> dict[str, Any]:
        return estimates_json(self.file, self._estimates)

    def print(self, console: Console) -> None:
        print_tables(console, estimates_tables(self._estimates))
