"""Simulation of a cluster's batch scheduler: when each job starts, and which jobs are cancelled.

Source: "TIA specification", section 3.7 (4 to 7): jobs come into a queue, a policy hands them to nodes, and a job that
runs longer than its estimate is cancelled.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from analyzer._kernels import ffi, lib
from analyzer.c_arrays import pointer
from analyzer.errors import TracelibError
from analyzer.jobs.workload import Workload


class QueuePolicy(StrEnum):
    """Rule by which a batch system starts jobs of the queue when nodes are free."""

    FCFS = "fcfs"  # in order of submission only
    FIRST_FIT = "first-fit"  # the first that fits, in order; big jobs can wait for ever
    BACKFILL_PREDICTIVE = "backfill-predictive"  # jobs go ahead of others if that delays nobody's best start
    BACKFILL_FIRST_FIT = "backfill-first-fit"  # the same, and no promise is ever broken
    EASY = "easy"  # jobs go ahead of others if that does not delay the first

    @property
    def number(self) -> int:
        """Number of the policy in csrc/kernels/jobs/cluster.h."""
        return int(getattr(lib, f"CLUSTER_{self.name}"))

    @property
    def needs_estimates(self) -> bool:
        """True if the policy uses estimates of the jobs' run times."""
        return self not in (QueuePolicy.FCFS, QueuePolicy.FIRST_FIT)

    @property
    def label(self) -> str:
        """Name of the policy in texts."""
        return _TITLES[self]


_TITLES = {
    QueuePolicy.FCFS: "FCFS",
    QueuePolicy.FIRST_FIT: "First Fit",
    QueuePolicy.BACKFILL_PREDICTIVE: "B. predictive",
    QueuePolicy.BACKFILL_FIRST_FIT: "B. first fit",
    QueuePolicy.EASY: "EASYBackfilling",
}


TICKS = 1_000_000
"""Number of ticks of the simulation in one second."""
_INSTANTS = 2000  # between two looks at signals
_MOST_TICKS = 2**62


@dataclass(frozen=True)
class Schedule:
    """Result of a simulated workload. Arrays have the shape (jobs,).

    Attributes:
        workload: The jobs.
        nodes: Number of nodes of the cluster.
        start_s: Start of each job, s.
        used_s: Time that each job held its nodes, s.
        cancelled: Whether each job was cancelled, bool.
    """

    workload: Workload
    nodes: int  # of the cluster
    start_s: np.ndarray
    used_s: np.ndarray  # how long each job held its nodes
    cancelled: np.ndarray  # bool

    @property
    def end_s(self) -> np.ndarray:
        """End of each job, s."""
        return self.start_s + self.used_s

    @property
    def wait_s(self) -> np.ndarray:
        """Time of each job in the queue, s."""
        return self.start_s - self.workload.submit_s

    @property
    def length_s(self) -> float:
        """Simulated time from the first submission to the last end, T_sim, s."""
        return float(self.end_s.max() - self.workload.submit_s[0]) if len(self.workload) else 0.0

    def _node_share(self, chosen: np.ndarray) -> float:
        worked = float((self.used_s * self.workload.nodes)[chosen].sum())
        return worked / (self.nodes * self.length_s) if self.length_s else 0.0

    @property
    def finished_share(self) -> float:
        """Share of the cluster's node time (nodes x T_sim) that went to jobs that finished (C_finish)."""
        return self._node_share(~self.cancelled)

    @property
    def cancelled_share(self) -> float:
        """Share of the cluster's node time that went to jobs that were cancelled (C_cancel)."""
        return self._node_share(self.cancelled)

    @property
    def idle_share(self) -> float:
        """Share of the cluster's node time that was idle (C_idle)."""
        return 1 - self.finished_share - self.cancelled_share


def schedule(workload: Workload, nodes: int, policy: QueuePolicy, estimate_s: np.ndarray | None = None) -> Schedule:
    """Simulate the jobs of a workload on a cluster.

    Args:
        workload: The jobs.
        nodes: Number of nodes of the cluster.
        policy: Rule by which jobs start.
        estimate_s: Estimated run time of each job, s, shape (jobs,). Longer jobs are cancelled. None: the true run
            times,
            so that no job is cancelled.

    Raises:
        TracelibError: A job needs more nodes than the cluster has.
    """
    widest = int(workload.nodes.max(initial=0))
    if widest > nodes:
        raise TracelibError(f"a job needs {widest} nodes, and the cluster has {nodes}", "give it more (--nodes)")
    origin = workload.submit_s[0] if len(workload) else 0.0
    submit = _ticks(workload.submit_s - origin)
    run = _ticks(workload.run_s)
    estimate = np.maximum(run if estimate_s is None else _ticks(estimate_s), 1)
    _check_range(submit, run, estimate)
    start = np.zeros(len(workload), np.int64)
    width = np.ascontiguousarray(workload.nodes, np.int64)
    _simulate(policy, nodes, submit, width, run, estimate, start)
    return Schedule(
        workload, nodes, start / TICKS + origin, np.minimum(run, estimate) / TICKS, np.asarray(run > estimate)
    )


def _ticks(seconds: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(np.rint(np.asarray(seconds, float) * TICKS), np.int64)


def _check_range(submit: np.ndarray, run: np.ndarray, estimate: np.ndarray) -> None:
    longest = float(submit.max(initial=0)) + float(np.maximum(run, estimate).astype(float).sum())
    if longest > _MOST_TICKS:
        raise TracelibError("the jobs together take longer than can be simulated", "times are in s")


def _simulate(policy: QueuePolicy, nodes: int, *columns: np.ndarray) -> None:
    pointers = [pointer(column, "int64_t *") if len(column) else ffi.NULL for column in columns]
    cluster = lib.cluster_new(len(columns[0]), policy.number, nodes, *pointers)
    if cluster == ffi.NULL:
        raise MemoryError
    try:
        while lib.cluster_advance(cluster, _INSTANTS):
            pass
    finally:
        lib.cluster_free(cluster)
