"""Result of `analyze look`: the first look at a run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rich.console import Console

from analyzer.parallel import Team
from analyzer.report.look.as_json import summary_json
from analyzer.report.look.first_look import print_look
from analyzer.report.look.summary import Step, Summary, no_step, summarize
from analyzer.results.result import Result
from analyzer.trace import Trace
from analyzer.trace.at_places import PlaceChoice


@dataclass(frozen=True, repr=False)
class SummaryResult(Result):
    """The first look: where time goes, efficiency, messages, calls, what is remarkable."""

    _summary: Summary

    def to_dict(self) -> dict[str, Any]:
        return summary_json(self._summary)

    def print(self, console: Console) -> None:
        print_look(self._summary, console)


def compute(trace: Trace, team: Team, *, place: PlaceChoice | None = None, step: Step = no_step) -> SummaryResult:
    """Compute all metrics of the first look. Collective over the team.

    Args:
        trace: An opened run.
        team: Processes that share the work.
        place: Only calls through these places. None: all calls.
        step: Is entered around each metric, to show progress.
    """
    return SummaryResult(summarize(trace, team, step, place))
