"""Result of `analyze fit-machine`: the machine on which replays take as long as runs did."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rich.console import Console

from analyzer.report.fit_machine import MachineFit, fit_json, print_fit
from analyzer.results.result import Result


@dataclass(frozen=True, repr=False)
class FitMachineResult(Result):
    """Machine on which replays take as long as runs did."""

    _fitted: MachineFit

    def to_dict(self) -> dict[str, Any]:
        return fit_json(self._fitted)

    def print(self, console: Console) -> None:
        print_fit(self._fitted, console)
