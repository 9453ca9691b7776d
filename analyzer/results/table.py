"""Result of `analyze table`: one table of several runs and their settings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rich.console import Console

from analyzer.experiments.table import ExperimentTable
from analyzer.report.experiments import print_table, table_json
from analyzer.results.result import Result, print_lines


@dataclass(frozen=True, repr=False)
class TableResult(Result):
    """Measurements of several runs, a row each.

    Attributes:
        observable: Column that the text sums up.
        written: File of the table; None: none was written.
        why_empty: Why it may have no rows.
    """

    _found: ExperimentTable
    observable: str
    written: str | None
    why_empty: str

    def to_dict(self) -> dict[str, Any]:
        return table_json(self._found)

    def print(self, console: Console) -> None:
        print_table(self._found, self.observable, console)
        if not len(self._found.frame) and self.why_empty:
            print_lines(console, [self.why_empty])
        print_lines(console, [f"\n{self.written}" if self.written else ""])
