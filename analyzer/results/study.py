"""Result of `analyze study`: how the results of a program spread."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console

from analyzer.report.shots import print_results, results_json
from analyzer.results.result import Result
from analyzer.shots.results import ShotResults


@dataclass(frozen=True, repr=False)
class StudyResult(Result):
    """Outputs of shots, and the inputs that they depend on."""

    _results: ShotResults
    _written: Sequence[Path]

    def to_dict(self) -> dict[str, Any]:
        return results_json(self._results, self._written)

    def print(self, console: Console) -> None:
        print_results(self._results, self._written, console)
