"""Result of `analyze profile`: how many threads compute at each instant of a run, or of its replay."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from rich.console import Console

from analyzer.machine.read_cfg import MachineConfiguration
from analyzer.metrics.parallelism import Parallelism, at_places, parallelism
from analyzer.operations.bursts import is_any_measured
from analyzer.operations.program import program_of
from analyzer.parallel import Team
from analyzer.replay.parallelism import replayed_parallelism
from analyzer.report.profile import ProfileReport, print_profile, profile_json
from analyzer.report.words.left_out import not_replayed
from analyzer.results.machine_choice import lacking_at_once, replaying
from analyzer.results.result import Result
from analyzer.trace import Trace
from analyzer.trace.at_places import PlaceChoice
from analyzer.what_if.modules import with_modules

BINS = 1000


@dataclass(frozen=True, repr=False)
class ProfileResult(Result):
    """Number of threads that compute over time."""

    _main: ClassVar[tuple[str, ...]] = ("bins",)

    _profiled: ProfileReport

    def to_dict(self) -> dict[str, Any]:
        return profile_json(self._profiled)

    def _rows(self) -> dict[str, list[dict[str, Any]]]:
        rows = super()._rows()
        (summary,) = rows["summary"]
        series = {name: values for name, values in summary.items() if name.startswith("series.")}
        threads = {name.removeprefix("series."): values for name, values in series.items()}
        width_s = summary["bin_s"]
        bins = [
            {"begin_s": width_s * place} | dict(zip(threads, row, strict=True))
            for place, row in enumerate(zip(*threads.values(), strict=True))
        ]
        return rows | {"bins": bins, "summary": [{k: v for k, v in summary.items() if k not in series}]}

    def print(self, console: Console) -> None:
        print_profile(self._profiled, console)


def compute(
    trace: Trace, team: Team, *, bins: int = BINS, by: str | None = None, place: PlaceChoice | None = None,
    configuration: MachineConfiguration | None = None,
) -> ProfileResult:  # fmt: skip
    """Count the threads that compute in each interval of time. Collective over the team.

    Args:
        trace: An opened run.
        team: Processes that share the work.
        bins: Number of intervals.
        by: "place": threads in calls are counted by place, too.
        place: Only calls through these places. None: all calls.
        configuration: Machine that the run is replayed on. None: the run as it was measured.
    """
    with replaying(trace, team):
        chosen = (place or PlaceChoice.parse("")).paths(trace) if by or place else None
        found, lacking = _threads(trace, configuration, bins, team)
        if chosen is not None:
            found = at_places(found, trace, team, chosen)
    return ProfileResult(
        ProfileReport(
            file=str(trace.path),
            found=found,
            replayed=configuration is not None or not trace.has_call_times,
            cpu_time=is_any_measured(trace) if trace.has_call_times else None,
            lacking=lacking,
        )
    )


def _threads(
    trace: Trace, configuration: MachineConfiguration | None, bins: int, team: Team
) -> tuple[Parallelism, str]:
    """Count the threads; say what of the run is missing in it."""
    if configuration is None:
        return parallelism(trace, team, bins), lacking_at_once(trace)
    machine = configuration.machine
    program = with_modules(program_of(trace, team, buffered=machine.eager_limit is None), configuration.modules)
    return replayed_parallelism(program, machine, bins), not_replayed(lacking_at_once(trace), [program], machine)
