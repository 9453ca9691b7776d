"""What the counters of a run counted in computation and in MPI, and the instructions a cycle."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analyzer.metrics.useful_counts import useful_counts
from analyzer.parallel import Team
from analyzer.trace import UNKNOWN, Counter, Counters, Trace


@dataclass(frozen=True)
class Counted:
    """Sums over calls and the bursts before them; arrays of shape (ranks, counters).

    Of a counter that only some bursts were counted with (several sets take turns), the sums are those of these.
    """

    counters: tuple[Counter, ...]
    useful: np.ndarray  # in bursts
    inside: np.ndarray  # in MPI
    bursts: np.ndarray  # how many bursts were counted
    calls: np.ndarray  # (ranks,) how many there were
    instructions: np.ndarray  # (ranks,) in bursts in which cycles were counted, too (`useful_counts`)
    cycles: np.ndarray  # (ranks,)

    @property
    def ipc(self) -> float | None:
        """Instructions a cycle in computation over all ranks; None where they were not counted together."""
        return _ratio(self.instructions.sum(), self.cycles.sum())

    @property
    def ipc_by_rank(self) -> list[float | None]:
        """The same of each rank."""
        return [_ratio(i, c) for i, c in zip(self.instructions, self.cycles, strict=True)]

    def sums(self, name: str) -> tuple[int, int] | None:
        """What a counter counted in computation and in MPI; None where it is not among them."""
        found = [k for k, counter in enumerate(self.counters) if counter.name == name]
        return (int(self.useful[:, found[0]].sum()), int(self.inside[:, found[0]].sum())) if found else None


def _ratio(instructions: int, cycles: int) -> float | None:
    return float(instructions) / float(cycles) if cycles > 0 else None


def counted(trace: Trace, team: Team) -> Counted:
    """The sums of all ranks; without columns in a trace without counters. Collective over the team."""
    columns, rows = (trace.size, len(trace.extra(Counters).known)), (trace.size,)
    known, (useful, inside, bursts) = trace.extra(Counters).known, (np.zeros(columns, np.int64) for _ in range(3))
    calls = np.zeros(rows, np.int64)
    for rank in trace.share(team) if known else ():
        for block in trace.extra(Counters).counts(rank):
            for total, part in ((useful, block.burst), (inside, block.inside)):
                total[rank] += np.where(part == UNKNOWN, 0, part).sum(axis=0)
            bursts[rank] += (block.burst != UNKNOWN).sum(axis=0)
            calls[rank] += len(block.calls)
    totals = [np.sum(parts, axis=0) for parts in zip(*team.allgather([useful, inside, bursts, calls]), strict=True)]
    both = useful_counts(trace, team)
    sums = dict(zip(("useful", "inside", "bursts", "calls"), totals, strict=True))
    return Counted(known, instructions=both.instructions_by_rank, cycles=both.cycles_by_rank, **sums)
