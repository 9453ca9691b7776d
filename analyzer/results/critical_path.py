"""Result of `analyze critical-path`: what determines the run's duration, and how much slack the rest has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from rich.console import Console

from analyzer.critical.by_place import place_shares
from analyzer.critical.path import critical_path
from analyzer.critical.residences import longest_residences
from analyzer.critical.shares import path_shares
from analyzer.efficiency.cpu_use import cpus
from analyzer.efficiency.ideal import lacking
from analyzer.metrics.unrecorded import unrecorded
from analyzer.parallel import Team
from analyzer.report.critical_path import CriticalPathReport, critical_path_json, print_critical_path
from analyzer.results.result import Result
from analyzer.trace import Trace
from analyzer.trace.at_places import PlaceChoice

POLL_GAP_NS = 10_000
"""Longest time between two failed polls that counts as waiting, ns."""


@dataclass(frozen=True, repr=False)
class CriticalPathResult(Result):
    """Path through the ranks that determines how long the run takes."""

    _main: ClassVar[tuple[str, ...]] = ("functions",)

    _found: CriticalPathReport

    def to_dict(self) -> dict[str, Any]:
        return critical_path_json(self._found)

    @property
    def length_s(self) -> float:
        """Length of the path in time, seconds."""
        return float(self.to_dict()["length_s"])

    def print(self, console: Console) -> None:
        print_critical_path(self._found, console)


def compute(
    trace: Trace, team: Team, *, top: int = 10, eager_limit: int | None = None, poll_gap_ns: int = POLL_GAP_NS,
    place: PlaceChoice | None = None,
) -> CriticalPathResult | None:  # fmt: skip
    """Follow the critical path back from the last event. Collective over the team.

    Args:
        trace: An opened run.
        team: Processes that share the work. Rank 0 follows the path.
        top: Number of stays on a thread to return, the longest first.
        eager_limit: Message size in bytes above which sends wait for their receive. None: as the run shows.
        poll_gap_ns: Longest time between two failed polls that counts as waiting, ns.
        place: Only calls through these places, and the computing before and after them, are shown. None: all.

    Returns:
        The path, on rank 0 of the team; None on its other members.

    Raises:
        TracelibError: A place was named, but the run does not know where calls come from.
    """
    paths = place.paths(trace) if place else None
    lacks = lacking(trace, unrecorded(trace, team)) if trace.has_call_times else ""
    had = cpus(trace, team)
    if team.rank:
        return None
    path = critical_path(trace, eager_limit, poll_gap_ns)
    by_place = place_shares(trace, path, paths)
    stays = longest_residences(trace, path, 0 if place else top)
    text = place.text if place else ""
    return CriticalPathResult(
        CriticalPathReport(str(trace.path), trace, path, path_shares(trace, path), stays, lacks, had, by_place, text)
    )
