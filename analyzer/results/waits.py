"""Result of `analyze waits`: where ranks wait for others, and which ranks cause the waiting."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from rich.console import Console

from analyzer.efficiency.cpu_use import CpuSharing, cpus
from analyzer.efficiency.ideal import lacking
from analyzer.metrics.profile import Profile, profile
from analyzer.metrics.unrecorded import unrecorded
from analyzer.parallel import Team
from analyzer.report.waits import print_waits, waits_json
from analyzer.results.result import Result, in_seconds
from analyzer.trace import Trace
from analyzer.trace.at_places import PlaceChoice
from analyzer.waits.analysis import MOST_SINGLE, Waits, analyze_waits
from analyzer.waits.kinds import WaitKind


@dataclass(frozen=True, repr=False)
class WaitsResult(Result):
    """Wait states of a run, named as in Scalasca, and the delays that cause them.

    Attributes:
        file: Path of the run.
        lacking: One line about what was not recorded of the run. "": nothing is missing.
    """

    _main: ClassVar[tuple[str, ...]] = ("ranks",)

    file: str
    _wait_states: Waits
    _calls: Profile
    _cpus: CpuSharing
    lacking: str

    def to_dict(self) -> dict[str, Any]:
        return {"file": self.file} | waits_json(self._wait_states, self._cpus) | {"lacking": self.lacking or None}

    @property
    def waiting_s(self) -> float:
        """Sum of the waiting time of all ranks, seconds."""
        return self._wait_states.total_ns / 1e9

    def _rows(self) -> dict[str, list[dict[str, Any]]]:
        rows = super()._rows()
        return rows | {"ranks": in_seconds(rows["ranks"], [kind.name.lower() for kind in WaitKind])}

    def print(self, console: Console) -> None:
        print_waits(self._wait_states, console, self.lacking, self._cpus)


def compute(
    trace: Trace, team: Team, *, longest: int = MOST_SINGLE, place: PlaceChoice | None = None,
    calls: Profile | None = None,
) -> WaitsResult:  # fmt: skip
    """Find where ranks wait for others, and which rank caused each wait. Collective over the team.

    Args:
        trace: An opened run.
        team: Processes that share the work.
        longest: Number of single waits to return, the longest first.
        place: Only calls through these places. None: all calls.
        calls: Profile of the run. None: it is computed.

    Raises:
        TracelibError: A place was named, but the run does not know where calls come from.

    Source: Geimer et al. 2010, section 3; names as in Scalasca.
    """
    known = calls or profile(trace, team)
    wait_states = analyze_waits(trace, team, known, longest=longest, place=place)
    had = cpus(trace, team)
    lacks = lacking(trace, unrecorded(trace, team)) if trace.has_call_times else ""
    return WaitsResult(str(trace.path), wait_states, known, had, lacks)
