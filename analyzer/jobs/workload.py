"""Jobs that come to a cluster of equal nodes, one after the other.

Source: "TIA specification", sections 1.12 and 3.7. Jobs of the *application* are those whose run times a model
predicts; of all others the scheduler knows the run time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from analyzer.errors import TracelibError

LONGEST_S = 1e12
"""No time of a workload is longer: the sum of all stays exact in the simulation's microseconds."""


@dataclass(frozen=True)
class Workload:
    """n jobs, in order of submission; arrays of shape (n,), times in s."""

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
        """Node-seconds of each job."""
        return self.run_s * self.nodes

    @property
    def share(self) -> float:
        """The application's part of all node time."""
        return float(self.work_s[self.application].sum() / max(self.work_s.sum(), np.finfo(float).tiny))


_MOST_BARS = 16
"""More different numbers of nodes than this become ranges between powers of two."""


@dataclass(frozen=True)
class NodeRange:
    """Numbers of nodes, both ends included."""

    fewest: int
    most: int

    def __str__(self) -> str:
        return str(self.fewest) if self.fewest == self.most else f"{self.fewest}-{self.most}"


@dataclass(frozen=True)
class RunTimes:
    """The jobs of one workload that ask for one range of nodes; times in s."""

    run_s: np.ndarray
    application: np.ndarray  # bool: whether a job is one of the predicted application

    @property
    def total_s(self) -> float:
        """Sum of all run times."""
        return float(self.run_s.sum())

    @property
    def application_s(self) -> float:
        """Sum of the application's run times."""
        return float(self.run_s[self.application].sum())


def node_ranges(workloads: Sequence[Workload]) -> list[NodeRange]:
    """Find ranges that hold the jobs of all workloads: one for each number of nodes, or between powers of two."""
    asked = np.unique(np.concatenate([workload.nodes for workload in workloads]))
    if len(asked) <= _MOST_BARS:
        return [NodeRange(count, count) for count in asked.tolist()]
    powers = np.unique(np.ceil(np.log2(asked)).astype(int)).tolist()
    return [NodeRange((1 << power >> 1) + 1 if power else 1, 1 << power) for power in powers]


def run_times(workload: Workload, ranges: Sequence[NodeRange]) -> Iterator[RunTimes]:
    """Yield the run times in each range."""
    for one in ranges:
        chosen = (workload.nodes >= one.fewest) & (workload.nodes <= one.most)
        yield RunTimes(workload.run_s[chosen], workload.application[chosen])
