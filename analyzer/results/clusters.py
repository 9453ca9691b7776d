"""Result of `analyze clusters`: the kinds of CPU bursts of a run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from rich.console import Console

from analyzer.burst_clusters.clustering import FoundClusters, find_clusters
from analyzer.parallel import Team
from analyzer.report.clusters import clusters_json, clusters_tables
from analyzer.results.result import Result, print_tables
from analyzer.trace import Trace


@dataclass(frozen=True, repr=False)
class ClustersResult(Result):
    """Kinds of bursts that are alike in duration and counters.

    Attributes:
        file: Path of the run.
    """

    _main: ClassVar[tuple[str, ...]] = ("clusters",)

    file: str
    _found: FoundClusters

    def to_dict(self) -> dict[str, Any]:
        return clusters_json(self.file, self._found)

    def print(self, console: Console) -> None:
        print_tables(console, clusters_tables(self._found))


def compute(trace: Trace, team: Team, **options: Any) -> ClustersResult:
    """Find the kinds of bursts of a run. Collective over the team.

    Args:
        trace: An opened run.
        team: Processes that share the work.
        options: Options of `analyzer.burst_clusters.clustering.find_clusters`.
    """
    return ClustersResult(str(trace.path), find_clusters(trace, team, **options))
