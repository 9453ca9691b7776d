"""Result of commands that write a run in another form."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console

from analyzer.results.result import Result, print_lines


@dataclass(frozen=True, repr=False)
class FilesResult(Result):
    """Files that were written."""

    _paths: Sequence[Path]
    _lines: Sequence[str]

    def to_dict(self) -> dict[str, Any]:
        return {"files": [str(path) for path in self._paths]}

    def print(self, console: Console) -> None:
        print_lines(console, self._lines)
