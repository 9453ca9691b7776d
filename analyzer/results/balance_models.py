"""Results of `analyze balance` about models of machines, and about runs under a plan."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console

from analyzer.balance.learning import LearnedModel
from analyzer.balance.plans import MachineGroup, SizePlan
from analyzer.balance.process_times import ProcessTimes
from analyzer.balance.repository import MachineModel
from analyzer.report import balance as report
from analyzer.report.balance import PlanComparison
from analyzer.report.process_times import print_over_sizes, print_process_times, process_times_json
from analyzer.results.result import Result, print_lines

Comparison = tuple[PlanComparison, ProcessTimes | None]
"""Comparison of a run with its plan, and the times of its processes. None: the plan has no times of processes."""


@dataclass(frozen=True, repr=False)
class ComparisonResult(Result):
    """Times that plans expected, compared with the times of the runs under these plans."""

    _runs: Sequence[Comparison]

    @property
    def _processes(self) -> list[ProcessTimes]:
        """Times of processes, of each run whose plan expects some."""
        return [found for _, found in self._runs if found]

    def to_dict(self) -> dict[str, Any]:
        numbers = [
            report.compared_json(one) | {"processes": process_times_json(found) if found else None}
            for one, found in self._runs
        ]
        return numbers[0] if len(numbers) == 1 else {"runs": numbers}

    def print(self, console: Console) -> None:
        for number, (one, found) in enumerate(self._runs):
            if len(self._runs) > 1:
                print_lines(console, [f"{chr(10) if number else ''}{Path(one.file).name}"])
            report.print_compared(one, console)
            if found:
                print_process_times(found, console)
            else:
                print_lines(console, ["The plan does not say what each process takes"])
        if len(self._processes) > 1:
            print_over_sizes(self._processes, console)


@dataclass(frozen=True, repr=False)
class ModelsResult(Result):
    """Stored models of machines, by name."""

    _models: dict[str, MachineModel]

    def to_dict(self) -> list[dict[str, object]]:
        return report.models_json(self._models)

    def print(self, console: Console) -> None:
        report.print_models(self._models, console)


@dataclass(frozen=True, repr=False)
class LearnedResult(Result):
    """Models of machines that were learned from measured times."""

    _learned: list[LearnedModel]

    def to_dict(self) -> list[dict[str, object]]:
        return report.learned_json(self._learned)

    def print(self, console: Console) -> None:
        report.print_learned(self._learned, console)


@dataclass(frozen=True, repr=False)
class MixResult(Result):
    """Plans for a mix of machines.

    Attributes:
        dynamic: Whether the fractions of work depend on the size of the problem.
    """

    _groups: list[MachineGroup]
    _sizes: list[SizePlan]
    dynamic: bool

    def to_dict(self) -> Mapping[str, object]:
        return report.plan_json(self._groups, self._sizes, self.dynamic)

    def print(self, console: Console) -> None:
        report.print_plan(self._groups, self._sizes, self.dynamic, console)
