"""The threads of a run by what they compute, and their names in sentences."""

from __future__ import annotations

import numpy as np

from analyzer.report.look.summary import Summary
from analyzer.report.words.units import percent


class Threads:
    """The useful time (ns) of each thread that could be read; the only thread of a rank is called by its rank."""

    def __init__(self, summary: Summary) -> None:
        chosen = np.isin(summary.useful.rank, summary.present)
        self.time_ns, self.rank = summary.useful.time_ns[chosen], summary.useful.rank[chosen]
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
