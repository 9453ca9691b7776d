"""The policies of batch schedulers.

Source: "TIA specification", section 3.7 (5). What the source leaves open: a promise is the earliest start of a job
given the running jobs' estimates and all promises before it in the queue. When a job ends before its estimate,
*first fit* moves the jobs, in order, to the earliest place beside the promises of all others, so that nobody's start
becomes later; *predictive* plans the whole queue anew, each job beside those before it only.
"""

from __future__ import annotations

from enum import StrEnum

from analyzer._kernels import lib


class Policy(StrEnum):
    """Which jobs of the queue start, when nodes are free."""

    FCFS = "fcfs"  # in order of submission only
    FIRST_FIT = "first-fit"  # the first that fits, in order; big jobs can wait for ever
    BACKFILL_PREDICTIVE = "backfill-predictive"  # jobs go ahead of others if that delays nobody's best start
    BACKFILL_FIRST_FIT = "backfill-first-fit"  # the same, and no promise is ever broken
    EASY = "easy"  # jobs go ahead of others if that does not delay the first

    @property
    def number(self) -> int:
        """In csrc/kernels/jobs/cluster.h."""
        return int(getattr(lib, f"CLUSTER_{self.name}"))

    @property
    def needs_estimates(self) -> bool:
        """Whether it asks how long jobs will take."""
        return self not in (Policy.FCFS, Policy.FIRST_FIT)

    @property
    def label(self) -> str:
        return _TITLES[self]


_TITLES = {
    Policy.FCFS: "FCFS",
    Policy.FIRST_FIT: "First Fit",
    Policy.BACKFILL_PREDICTIVE: "B. predictive",
    Policy.BACKFILL_FIRST_FIT: "B. first fit",
    Policy.EASY: "EASYBackfilling",
}
