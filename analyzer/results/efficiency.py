"""Result of `analyze efficiency`: the POP factors of runs, of their regions, and of each visit of a region."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from rich.console import Console

from analyzer.efficiency.analysis import Efficiencies, ScalingComparison, compare, efficiencies
from analyzer.errors import TracelibError
from analyzer.parallel import Team
from analyzer.report.efficiencies import efficiencies_json, efficiencies_tables
from analyzer.results.result import Result, print_tables
from analyzer.trace import Regions, Trace

_MOST_NAMES = 12


@dataclass(frozen=True, repr=False)
class EfficiencyResult(Result):
    """POP efficiencies of one or several runs, and how they scale.

    Attributes:
        additive: Whether factors are shown whose losses add up, as in PyPOP.
    """

    _main: ClassVar[tuple[str, ...]] = ("visits", "regions", "summary")

    _compared: ScalingComparison
    additive: bool = False

    def to_dict(self) -> dict[str, Any] | list[dict[str, Any]]:
        count = len(self._compared.runs)
        data = [efficiencies_json(self._compared, number, additive=self.additive) for number in range(count)]
        return data if count > 1 else data[0]

    @property
    def parallel_efficiency(self) -> float | tuple[float, ...]:
        """Parallel efficiency, 0 to 1. For several runs: a tuple with one value for each run."""
        return self._single("parallel_efficiency")

    @property
    def load_balance(self) -> float | tuple[float, ...]:
        """Load balance, 0 to 1. For several runs: a tuple with one value for each run."""
        return self._single("load_balance")

    @property
    def communication_efficiency(self) -> float | tuple[float, ...]:
        """Communication efficiency, 0 to 1. For several runs: a tuple with one value for each run."""
        return self._single("communication_efficiency")

    def _single(self, name: str) -> float | tuple[float, ...]:
        rows = self._rows()["summary"]
        return tuple(row[name] for row in rows) if rows[1:] else rows[0][name]

    def print(self, console: Console) -> None:
        print_tables(console, efficiencies_tables(self._compared, additive=self.additive))


def compute_run(
    trace: Trace, team: Team, *, by_region: bool = False, region: str | None = None, eager_limit: int | None = None
) -> Efficiencies:
    """Compute the efficiencies of one run. Collective over the team.

    Args:
        trace: An opened run.
        team: Processes that share the work.
        by_region: Whether to compute the factors of each region, too.
        region: Name of a region; the factors of each of its visits are computed, too. None: no region.
        eager_limit: Message size in bytes from which on sends wait for their receive on the ideal network. None: as the
            run shows.

    Raises:
        TracelibError: The run has no such region.
    """
    if by_region or region is not None:
        _check_regions(trace, region)
    return efficiencies(trace, team, eager_limit=eager_limit, by_region=by_region, region=region)


def compare_runs(
    runs: Sequence[Efficiencies], *, scaling: str | None = None, additive: bool = False
) -> EfficiencyResult:
    """Compare efficiencies of runs with the efficiencies of the smallest run.

    Args:
        runs: Efficiencies of each run.
        scaling: "strong" or "weak". None: as the work of the runs shows.
        additive: Whether factors are shown whose losses add up, as in PyPOP.
    """
    return EfficiencyResult(compare(runs, scaling), additive)


def _check_regions(trace: Trace, region: str | None) -> None:
    """Raise TracelibError if the trace has no regions, or not this one."""
    names = trace.extra(Regions).names
    if not names:
        raise TracelibError(f"{trace.path} has no regions", "name them in the program: docs/regions.md")
    if region is not None and region not in names:
        known = ", ".join(names[:_MOST_NAMES]) + (", ..." if len(names) > _MOST_NAMES else "")
        raise TracelibError(f"{trace.path} has no region {region!r}", f"it has {known}")
