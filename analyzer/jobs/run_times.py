"""How the run times of a workload are distributed over the numbers of nodes that its jobs ask for.

Source: "TIA specification", section 4.8 (figure 5.20, with jobs of the application and all others).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from analyzer.jobs.workload import Workload

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
