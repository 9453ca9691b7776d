"""How often threads lost their CPU: summed over all threads of a rank, and said where ranks wait for CPUs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from memory_trace import MemoryTrace

from analyzer.efficiency.cpu_use import CpuSharing, RankCpuUse, switches
from analyzer.parallel import Team
from analyzer.report.words.cpus import cpus_json, waiting_for_cpus
from analyzer.trace import TASK, UNKNOWN
from analyzer.trace import CpuUse as KernelsCpuUse

CALLS = [[("MPI_Barrier", 10, 20, {"comm": 0})]] * 3


@dataclass(frozen=True)
class Said(KernelsCpuUse):
    """voluntary and involuntary switches of the threads of each rank."""

    ranks: tuple = ()

    def tasks(self, rank):
        found = np.zeros(len(self.ranks[rank]), TASK)
        for row, (voluntary, involuntary) in zip(found, self.ranks[rank], strict=True):
            row["voluntary"], row["involuntary"], row["thread"] = voluntary, involuntary, -1
        return found


def of(*ranks):
    trace = MemoryTrace(CALLS)
    trace.put(Said(ranks))
    return switches(trace, Team())


def waiting(found):
    """The lines of ranks that wait for half of their computation."""
    ten = np.full(3, 10_000_000)
    use = RankCpuUse(ten, ten // 2, ten, ten, ten // 2, ten * 0)
    return waiting_for_cpus(CpuSharing(use=use, switches=found))


def test_threads_of_a_rank_are_summed():
    found = of([(1, 20), (300, 4000)], [(5, 6)], [(UNKNOWN, UNKNOWN)])
    assert found.voluntary.tolist() == [301, 5, 0]
    assert found.involuntary.tolist() == [4020, 6, 0]
    said = cpus_json(CpuSharing(switches=found))
    assert (said["cpu_given_up_by_threads"], said["cpu_taken_from_threads"]) == (306, 4026)
    assert waiting(found)[1] == (
        "The kernel took the CPU from their threads 4026 times, most often on rank 0 (4020), and gave it to others."
    )


def test_nothing_is_said_of_what_is_not_known():
    found = of([], [(UNKNOWN, UNKNOWN)], [])
    assert found is None and len(waiting(found)) == 1
    said = cpus_json(CpuSharing(switches=found))
    assert said["cpu_given_up_by_threads"] is said["cpu_taken_from_threads"] is None


def test_threads_that_kept_their_cpu():
    assert len(waiting(of([(3, 0)], [(3, 0)], [(3, 0)]))) == 1
    assert "times" not in waiting(of([(3, 1)], [(3, 0)], [(3, 0)]))[1]
