"""Run times of jobs by their number of nodes, and the use of node time under a batch scheduler.

Run times are of one log, or means over generated workloads. Source: "TIA specification", section 4.8 (figure 5.20).

Node time is spent by jobs that finish, by jobs that are cancelled, or idle. Source: "TIA specification", formula F30
(section 5.2.3 of the thesis): their sum is the whole node time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from rich.table import Table

from analyzer.jobs.cluster import QueuePolicy, Schedule
from analyzer.jobs.generator import generate
from analyzer.jobs.study import WorkloadMean, WorkloadStudy
from analyzer.jobs.workload import NodeRange, RunTimes, Workload, node_ranges, run_times
from analyzer.report.words.table import plain_table

_HOUR, _MINUTE = 3600.0, 60.0


@dataclass(frozen=True)
class RunTimeRow:
    """Jobs that ask for a number of nodes in one range; each value is a mean over workloads.

    Attributes:
        total_h: Sum of run times in hours.
        application_h: Sum of run times of the predicted application in hours.
        share: Fraction of the run times of all jobs, 0 to 1.
    """

    nodes: NodeRange
    jobs: WorkloadMean
    total_h: WorkloadMean
    application_h: WorkloadMean
    median_min: WorkloadMean | None  # minutes; None: a workload has no such job
    share: WorkloadMean  # of the run times of all jobs, 0 to 1


@dataclass(frozen=True)
class TimesByNodes:
    """Run times of jobs by ranges of their number of nodes."""

    title: str
    application: str  # application whose jobs are predicted; "": none
    rows: list[RunTimeRow]

    @classmethod
    def from_workloads(cls, title: str, application: str, workloads: Sequence[Workload]) -> TimesByNodes:
        """Compute the distribution over several workloads of one kind."""
        ranges = node_ranges(workloads)
        found = [list(run_times(workload, ranges)) for workload in workloads]
        totals = [float(workload.run_s.sum()) for workload in workloads]
        return cls(
            title,
            application,
            [_row(nodes, of_all, totals) for nodes, of_all in zip(ranges, zip(*found, strict=True), strict=True)],
        )


def _row(nodes: NodeRange, found: Sequence[RunTimes], totals: Sequence[float]) -> RunTimeRow:
    def mean(value: Callable[[RunTimes], float]) -> WorkloadMean:
        return WorkloadMean.of([value(one) for one in found])

    median = mean(lambda one: float(np.median(one.run_s)) / _MINUTE) if all(len(one.run_s) for one in found) else None
    shares = [one.total_s / total if total else 0.0 for one, total in zip(found, totals, strict=True)]
    return RunTimeRow(
        nodes,
        mean(lambda one: len(one.run_s)),
        mean(lambda one: one.total_s / _HOUR),
        mean(lambda one: one.application_s / _HOUR),
        median,
        WorkloadMean.of(shares),
    )


def study_distributions(study: WorkloadStudy) -> Iterator[TimesByNodes]:
    """Yield the distribution of generated workloads, for each share of node time of the application."""
    name = study.design.application.name
    for share in study.shares:
        workloads = [generate(study.design, share, seed) for seed in study.seeds]
        yield TimesByNodes.from_workloads(f"{name} with {share:.1%} of the node time", name, workloads)


def run_time_table(found: TimesByNodes) -> Table:
    """Make a table with a line for each range of nodes."""
    own = [f"of {found.application}"] if found.application else []
    table = plain_table("nodes", "jobs", "run time (h)", *own, "part", "median (min)")
    for row in found.rows:
        application = [_text(row.application_h)] if own else []
        median = _text(row.median_min) if row.median_min else "-"
        table.add_row(
            str(row.nodes), _text(row.jobs), _text(row.total_h), *application, f"{100 * row.share.value:.1f} %", median
        )
    return table


def _text(mean: WorkloadMean) -> str:
    digits = 0 if mean.value == round(mean.value) and mean.half is None else 1 if mean.value >= 10 else 2
    return f"{mean.value:.{digits}f}" + (f" ±{mean.half:.{digits}f}" if mean.half is not None else "")


def distribution_json(found: TimesByNodes) -> list[dict[str, object]]:
    """Return the distribution for JSON, by range of nodes."""
    return [
        {
            "nodes": [row.nodes.fewest, row.nodes.most],
            "jobs": row.jobs.value,
            "run_time_h": row.total_h.value,
            "application_h": row.application_h.value,
            "median_min": row.median_min.value if row.median_min else None,
            "share": row.share.value,
        }
        for row in found.rows
    ]


NAMES = ("finished", "cancelled", "idle")


@dataclass(frozen=True)
class NodeTime:
    """Use of node time under one policy with one kind of run time estimates; shares from 0 to 1."""

    policy: str
    estimates: str  # "": the policy needs no estimates
    finished: WorkloadMean
    cancelled: WorkloadMean
    idle: WorkloadMean

    @property
    def label(self) -> str:
        """Name of the policy, with its estimates."""
        return f"{self.policy}, {self.estimates}" if self.estimates else self.policy

    @classmethod
    def from_schedule(cls, policy: QueuePolicy, estimates: str, outcome: Schedule) -> NodeTime:
        """Return the node time of one simulation, without confidence intervals."""
        return cls(policy.label, estimates, *(WorkloadMean(getattr(outcome, f"{name}_share"), None) for name in NAMES))


def node_times(runs: pd.DataFrame) -> Iterator[NodeTime]:
    """Yield the mean node time over the workloads of a study, by policy, model and k.

    Runs without cancellation are excluded.
    """
    for (policy, model, k), rows in runs[~runs.fair].groupby(["policy", "model", "k"], sort=False):
        estimates = f"{model} {k:g} sigma" if model else ""
        yield NodeTime(
            QueuePolicy(policy).label, estimates, *(WorkloadMean.of(rows[f"{name}_share"]) for name in NAMES)
        )


def node_time_table(rows: Sequence[NodeTime]) -> Table:
    """Make a table with a line for each policy and kind of estimates, in percent."""
    table = plain_table("policy", "estimates", *NAMES)
    for row in rows:
        table.add_row(row.policy, row.estimates or "-", *(_percent(getattr(row, name)) for name in NAMES))
    return table


def _percent(share: WorkloadMean) -> str:
    within = "" if share.half is None else f" ±{100 * share.half:.2f}"
    return f"{100 * share.value:.2f}{within} %"
