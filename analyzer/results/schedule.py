"""Results of `analyze schedule`: what predictions of run times gain with a batch scheduler."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
from rich.console import Console

from analyzer.jobs.study import WorkloadStudy
from analyzer.jobs.swf import JobLog
from analyzer.report.job_times import TimesByNodes, distribution_json
from analyzer.report.jobs import SimulatedLog, print_simulated, print_study, simulated_json, study_json
from analyzer.results.result import Result, print_lines


@dataclass(frozen=True, repr=False)
class ScheduleResult(Result):
    """Generated workloads, simulated with several policies."""

    _study: WorkloadStudy
    _runs: pd.DataFrame
    _pairs: pd.DataFrame
    _distributions: list[TimesByNodes]

    def to_dict(self) -> dict[str, Any]:
        return study_json(self._study, self._runs, self._pairs, self._distributions)

    def print(self, console: Console) -> None:
        print_study(self._study, self._runs, self._pairs, self._distributions, console)


@dataclass(frozen=True, repr=False)
class LogResult(Result):
    """Jobs of a log, simulated with several policies.

    Attributes:
        file: Path of the log.
        nodes: Number of processors.
        jobs: Number of jobs that can be simulated.
        asked: Number of these jobs whose users requested a time.
    """

    file: str
    _log: JobLog
    nodes: int
    jobs: int
    asked: int
    _distribution: TimesByNodes
    _simulated: list[SimulatedLog]

    def to_dict(self) -> dict[str, Any]:
        bad: Sequence[tuple[int, str]] = self._log.bad
        left_out = {"bad_lines": len(bad), "bad": [number for number, _ in bad]}
        numbers = {"file": self.file, "nodes": self.nodes, "jobs": self.jobs, "asked": self.asked, **left_out}
        simulated = [simulated_json(one) for one in self._simulated]
        return {**numbers, "run_times": distribution_json(self._distribution), "simulated": simulated}

    def print(self, console: Console) -> None:
        print_lines(console, [f"{self.jobs} jobs on {self.nodes} processors; {self.asked} asked for a time"])
        print_simulated(self._simulated, self._distribution, console)
