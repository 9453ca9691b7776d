"""The ranks of a run, or in traces of other tools their threads, by what they compute, and their names in sentences."""

from __future__ import annotations

import numpy as np

from analyzer.report.look.summary import Summary
from analyzer.report.words.units import percent


class Threads:
    """The useful time (ns) of all that the efficiencies are made of: of measured runs each rank that could be read,
    with the mean of its threads (`Useful.of_ranks`); of traces of other tools each thread. `rank` are their ranks."""

    def __init__(self, summary: Summary) -> None:
        useful = summary.useful
        self.time_ns, self.rank = useful.time_ns, useful.rank
        if summary.trace.origin.tracer_times:
            of_ranks = useful.of_ranks(summary.efficiency.runtime_ns)
            self.time_ns, self.rank = np.round(of_ranks).astype(np.int64), np.arange(len(of_ranks))
        chosen = np.isin(self.rank, summary.present)
        self.time_ns, self.rank = self.time_ns[chosen], self.rank[chosen]
        self.single = len(self.rank) == len(summary.present)
        self.kind = "rank" if self.single else "thread"

    def name(self, index: int) -> str:
        """ "rank 3", or "thread 1 of rank 3"."""
        rank = int(self.rank[index])
        if self.single:
            return f"rank {rank}"
        return f"thread {index - int(np.searchsorted(self.rank, rank))} of rank {rank}"

    def longest(self) -> str:
        """ "rank 1 computes 50.0 % longer than the mean", "rank 8 computes 3.5 times as long as the mean"."""
        index = int(self.time_ns.argmax())
        ratio = self.time_ns[index] / float(self.time_ns.mean())
        by = f"{ratio:.1f} times as long as" if ratio >= 1.5 else f"{percent(ratio - 1)} longer than"
        return f"{self.name(index)} computes {by} the mean"
