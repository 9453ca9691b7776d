"""What the nodes of a cluster did under a batch scheduler: finished and cancelled jobs, and nothing.

Source: "TIA specification", formula F30 (section 5.2.3 of the thesis): all node time is their sum.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pandas as pd
from rich.table import Table

from analyzer.jobs.cluster import Policy, Schedule
from analyzer.jobs.study import Mean
from analyzer.report.words.table import plain_table

NAMES = ("finished", "cancelled", "idle")


@dataclass(frozen=True)
class NodeTime:
    """Shares of all node time, 0 to 1, under one policy with one kind of estimates."""

    policy: str
    estimates: str  # "": the policy needs none
    finished: Mean
    cancelled: Mean
    idle: Mean

    @property
    def label(self) -> str:
        """The policy and its estimates."""
        return f"{self.policy}, {self.estimates}" if self.estimates else self.policy

    @classmethod
    def of(cls, policy: Policy, estimates: str, outcome: Schedule) -> NodeTime:
        """That of one simulation."""
        return cls(policy.label, estimates, *(Mean(getattr(outcome, f"{name}_share"), None) for name in NAMES))


def of_runs(runs: pd.DataFrame) -> Iterator[NodeTime]:
    """Means over the workloads of a study, its fair runs left out: by policy, model and k."""
    for (policy, model, k), rows in runs[~runs.fair].groupby(["policy", "model", "k"], sort=False):
        estimates = f"{model} {k:g} sigma" if model else ""
        yield NodeTime(Policy(policy).label, estimates, *(Mean.of(rows[f"{name}_share"]) for name in NAMES))


def node_time_table(rows: Sequence[NodeTime]) -> Table:
    """A line for each, in percent."""
    table = plain_table("policy", "estimates", *NAMES)
    for row in rows:
        table.add_row(row.policy, row.estimates or "-", *(_percent(getattr(row, name)) for name in NAMES))
    return table


def _percent(share: Mean) -> str:
    within = "" if share.half is None else f" ±{100 * share.half:.2f}"
    return f"{100 * share.value:.2f}{within} %"
