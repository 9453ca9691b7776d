"""Workload of a cluster of equal nodes: jobs that are submitted one after the other.

Source: "TIA specification", sections 1.12 and 3.7. A model predicts the run times of the jobs of one *application*. Of
all other jobs, the scheduler knows the run time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from analyzer.errors import TracelibError

LONGEST_S = 1e12
"""Largest time of a workload, s. The sum of all times stays exact in the simulation's microseconds."""


@dataclass(frozen=True)
class Workload:
    """Jobs of a cluster in order of submission. Arrays have the shape (jobs,).

    Attributes:
        submit_s: Time of submission, s.
        nodes: Number of nodes, int64, 1 or more.
        run_s: True run time, s.
        application: Whether a job belongs to the predicted application, bool. Empty: none does.
        predictions_s: Predicted run times by name of the model, s; for other jobs, the true run times.
    """

    submit_s: np.ndarray
    nodes: np.ndarray  # int64, 1 or more
    run_s: np.ndarray  # how long they really take
    application: np.ndarray = field(default_factory=lambda: np.zeros(0, bool))  # of the predicted application
    predictions_s: dict[str, np.ndarray] = field(default_factory=dict)  # by model; equal to run_s for other jobs

    def __post_init__(self) -> None:
        if not len(self.application):
            object.__setattr__(self, "application", np.zeros(len(self.submit_s), bool))
        times = (self.submit_s, self.run_s, *self.predictions_s.values())
        if any(len(column) != len(self.submit_s) for column in (*times, self.nodes, self.application)):
            raise ValueError("the columns of a workload have one row for each job")
        if any(not (np.abs(column) <= LONGEST_S).all() for column in times):
            raise TracelibError(f"a job has a time beyond {LONGEST_S:.0e} s", "times are in s, from the first job on")
        if (np.diff(self.submit_s) < 0).any() or (self.run_s < 0).any() or (self.nodes < 1).any():
            raise ValueError("jobs are in order of submission, and take 1 node or more for 0 s or more")

    def __len__(self) -> int:
        return len(self.submit_s)

    @property
    def span_s(self) -> float:
        """Time from the first submission to the last, s."""
        return float(self.submit_s[-1] - self.submit_s[0]) if len(self) else 0.0

    @property
    def work_s(self) -> np.ndarray:
        """Node time of each job, node-seconds: run time x number of nodes."""
        return self.run_s * self.nodes

    @property
    def share(self) -> float:
        """Share of the node time that belongs to the application, 0 to 1."""
        return float(self.work_s[self.application].sum() / max(self.work_s.sum(), np.finfo(float).tiny))


_MOST_BARS = 16
"""Largest number of different numbers of nodes. With more, numbers are put into ranges between powers of two."""


@dataclass(frozen=True)
class NodeRange:
    """Range of numbers of nodes. Both ends belong to the range."""

    fewest: int
    most: int

    def __str__(self) -> str:
        return str(self.fewest) if self.fewest == self.most else f"{self.fewest}-{self.most}"


@dataclass(frozen=True)
class RunTimes:
    """Run times of the jobs of one workload whose number of nodes is in one range.

    Attributes:
        run_s: Run time of each job, s.
        application: Whether each job belongs to the predicted application, bool.
    """

    run_s: np.ndarray
    application: np.ndarray  # bool: whether a job is one of the predicted application

    @property
    def total_s(self) -> float:
        """Sum of the run times of all jobs, s."""
        return float(self.run_s.sum())

    @property
    def application_s(self) -> float:
        """Sum of the run times of the application's jobs, s."""
        return float(self.run_s[self.application].sum())


def node_ranges(workloads: Sequence[Workload]) -> list[NodeRange]:
    """Return ranges that cover the numbers of nodes of all jobs.

    Each range is one number. If there are more than 16 different numbers, ranges lie between powers of two.
    """
    asked = np.unique(np.concatenate([workload.nodes for workload in workloads]))
    if len(asked) <= _MOST_BARS:
        return [NodeRange(count, count) for count in asked.tolist()]
    powers = np.unique(np.ceil(np.log2(asked)).astype(int)).tolist()
    return [NodeRange((1 << power >> 1) + 1 if power else 1, 1 << power) for power in powers]


def run_times(workload: Workload, ranges: Sequence[NodeRange]) -> Iterator[RunTimes]:
    """Yield the run times of the jobs in each range of numbers of nodes."""
    for one in ranges:
        chosen = (workload.nodes >= one.fewest) & (workload.nodes <= one.most)
        yield RunTimes(workload.run_s[chosen], workload.application[chosen])
