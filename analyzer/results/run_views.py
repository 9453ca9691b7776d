"""Results of `analyze views` and `analyze view --print`: what ranks do over time, as numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rich.console import Console

from analyzer.live.interval_numbers import DrawnNumbers, IntervalNumbers
from analyzer.report.live.numbers import drawn_json, numbers_json, print_drawn, print_numbers
from analyzer.report.views.shown import ShownView
from analyzer.report.views.tables import print_library
from analyzer.results.result import Result, print_lines


@dataclass(frozen=True, repr=False)
class LibraryResult(Result):
    """Names of all views, with one line of explanation for each."""

    _views: dict[str, str]

    def to_dict(self) -> dict[str, str]:
        return self._views

    def print(self, console: Console) -> None:
        print_library(self._views, console)


@dataclass(frozen=True, repr=False)
class RunViewsResult(Result):
    """Views of one or several runs, as numbers."""

    _runs: Sequence[tuple[str, Sequence[ShownView]]]

    def to_dict(self) -> dict[str, Any]:
        data = [{"file": file, "views": [view.json() for view in views]} for file, views in self._runs]
        return data[0] if len(data) == 1 else {"runs": data}

    def print(self, console: Console) -> None:
        for place, (file, views) in enumerate(self._runs):
            _print_heading(console, file, place, len(self._runs))
            for number, view in enumerate(views):
                view.print(console, first=not number)


@dataclass(frozen=True, repr=False)
class IntervalResult(Result):
    """Numbers of one stretch of time, for one or several runs."""

    _runs: Sequence[tuple[str, IntervalNumbers, list[DrawnNumbers]]]

    def to_dict(self) -> dict[str, Any]:
        data = [
            {"file": file, **numbers_json(found), **({"views": drawn_json(drawn)} if drawn else {})}
            for file, found, drawn in self._runs
        ]
        return data[0] if len(data) == 1 else {"runs": data}

    def print(self, console: Console) -> None:
        for place, (file, found, drawn) in enumerate(self._runs):
            _print_heading(console, file, place, len(self._runs))
            print_numbers(found, console)
            for one in drawn:
                print_drawn(one, console)


def _print_heading(console: Console, file: str, place: int, count: int) -> None:
    """Print the name of a run if there are several runs. An empty line stands before all but the first."""
    if count > 1:
        print_lines(console, [f"{chr(10) if place else ''}{file}"])
