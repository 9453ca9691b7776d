"""The distribution of run times by nodes, of one log or as means over generated workloads.

Source: "TIA specification", section 4.8 (figure 5.20).

What the nodes of a cluster did under a batch scheduler: finished and cancelled jobs, and nothing.

Source: "TIA specification", formula F30 (section 5.2.3 of the thesis): all node time is their sum.
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
    """Jobs that ask for a range of nodes: means over the workloads, sums in h, medians in min."""

    nodes: NodeRange
    jobs: WorkloadMean
    total_h: WorkloadMean
    application_h: WorkloadMean
    median_min: WorkloadMean | None  # None: a workload has no such job
    share: WorkloadMean  # of the sum of all run times, 0 to 1


@dataclass(frozen=True)
class TimesByNodes:
    """Run times by nodes."""

    title: str
    application: str  # "": no job is predicted
    rows: list[RunTimeRow]

    @classmethod
    def from_workloads(cls, title: str, application: str, workloads: Sequence[Workload]) -> TimesByNodes:
        """Find it for some workloads of one kind."""
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
    """Yield the distribution of the generated workloads, for each share of the application."""
    name = study.design.application.name
    for share in study.shares:
        workloads = [generate(study.design, share, seed) for seed in study.seeds]
        yield TimesByNodes.from_workloads(f"{name} with {share:.1%} of the node time", name, workloads)


def run_time_table(found: TimesByNodes) -> Table:
    """Make a line for each number of nodes."""
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
    """Return the distribution as numbers."""
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
    """Shares of all node time, 0 to 1, under one policy with one kind of estimates."""

    policy: str
    estimates: str  # "": the policy needs none
    finished: WorkloadMean
    cancelled: WorkloadMean
    idle: WorkloadMean

    @property
    def label(self) -> str:
        """The policy and its estimates."""
        return f"{self.policy}, {self.estimates}" if self.estimates else self.policy

    @classmethod
    def from_schedule(cls, policy: QueuePolicy, estimates: str, outcome: Schedule) -> NodeTime:
        """Compute the node time of one simulation."""
        return cls(policy.label, estimates, *(WorkloadMean(getattr(outcome, f"{name}_share"), None) for name in NAMES))


def node_times(runs: pd.DataFrame) -> Iterator[NodeTime]:
    """Yield means over the workloads of a study, without its fair runs: by policy, model and k."""
    for (policy, model, k), rows in runs[~runs.fair].groupby(["policy", "model", "k"], sort=False):
        estimates = f"{model} {k:g} sigma" if model else ""
        yield NodeTime(
            QueuePolicy(policy).label, estimates, *(WorkloadMean.of(rows[f"{name}_share"]) for name in NAMES)
        )


def node_time_table(rows: Sequence[NodeTime]) -> Table:
    """Make a line for each, in percent."""
    table = plain_table("policy", "estimates", *NAMES)
    for row in rows:
        table.add_row(row.policy, row.estimates or "-", *(_percent(getattr(row, name)) for name in NAMES))
    return table


def _percent(share: WorkloadMean) -> str:
    within = "" if share.half is None else f" ±{100 * share.half:.2f}"
    return f"{100 * share.value:.2f}{within} %"
