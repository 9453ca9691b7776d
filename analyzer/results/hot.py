"""Result of `analyze hot`: the functions and lines in which a run computes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from rich.console import Console

from analyzer.metrics.gaps import Gaps, gaps
from analyzer.metrics.hot import HotRows, hot
from analyzer.parallel import Team
from analyzer.places import Places
from analyzer.report.gaps import gaps_json, print_gaps
from analyzer.report.hot import AGAIN, hot_json, print_hot
from analyzer.results.result import Result, print_lines
from analyzer.trace import CallPaths, CodeSamples, Trace
from analyzer.trace.at_places import PlaceChoice


@dataclass(frozen=True, repr=False)
class HotResult(Result):
    """Computing time by function, from samples of the program's code.

    Attributes:
        file: Path of the run.
        lines: Whether lines are shown in addition to functions.
        by_signal: Whether a timer's signal took the samples.
    """

    _main: ClassVar[tuple[str, ...]] = ("functions",)

    file: str
    _samples: HotRows
    _places: Places
    lines: bool
    by_signal: bool

    def to_dict(self) -> dict[str, Any]:
        data = hot_json(self._samples, self._places, lines=self.lines, by_signal=self.by_signal)
        return {"file": self.file} | data

    def print(self, console: Console) -> None:
        print_hot(self._samples, self._places, console, lines=self.lines, by_signal=self.by_signal)


@dataclass(frozen=True, repr=False)
class GapsResult(Result):
    """Computing time of a run without samples, by the calls before and after the computing."""

    _main: ClassVar[tuple[str, ...]] = ("between",)

    _trace: Trace
    _places: Places
    _between_calls: Gaps | None

    def to_dict(self) -> dict[str, Any]:
        head = {"file": str(self._trace.path), "samples": 0, "hint": AGAIN}
        return head | gaps_json(self._between_calls, self._trace, self._places)

    def print(self, console: Console) -> None:
        print_lines(console, [f"{Path(self._trace.path).name} has {AGAIN}"])
        if self._between_calls is not None:
            print_gaps(self._between_calls, self._trace, self._places, console)


def compute(
    trace: Trace, team: Team, *, lines: bool = False, place: PlaceChoice | None = None,
    windows: NDArray[np.int64] | None = None,
) -> HotResult:  # fmt: skip
    """Sum a run's samples by function. Collective over the team.

    Args:
        trace: An opened run with samples.
        team: Processes that share the work.
        lines: Whether lines are shown in addition to functions.
        place: Only samples in or below functions that match. None: all samples.
        windows: Begin and end of the part of the run on each rank, ns, shape (ranks, 2). None: the whole run.
    """
    samples, places = hot(trace, team, windows), trace.extra(CallPaths).named()
    shown = samples.select(place.paths(trace)) if place else samples
    return HotResult(str(trace.path), shown, places, lines, trace.extra(CodeSamples).by_signal)


def compute_gaps(trace: Trace, team: Team) -> GapsResult:
    """Sum the computing of a run without samples by the calls before and after it. Collective over the team."""
    found = gaps(trace, team) if trace.has_call_times else None
    return GapsResult(trace, trace.extra(CallPaths).named(), found)
