"""The computation of a run compared with that of a smaller run: work, instructions, and their speed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log

import numpy as np

from analyzer.efficiency.factors import Efficiency, as_published
from analyzer.metrics.counters import UsefulCounts
from analyzer.metrics.useful import UsefulTime
from analyzer.trace import Losses, Trace

STRONG, WEAK = "strong", "weak"


@dataclass(frozen=True)
class ComputingWork:
    """The computation of a run."""

    threads: int  # number of threads that could be read
    runtime_ns: float
    useful_ns: float  # of all threads
    parallel_efficiency: float | None
    ipc: float | None
    frequency_ghz: float | None
    instructions: float | None  # of all threads

    @property
    def amount(self) -> float:
        """Return the amount of work: instructions, else useful time in ns."""
        return self.instructions if self.instructions is not None else self.useful_ns


def work(trace: Trace, useful: UsefulTime, efficiency: Efficiency, counts: UsefulCounts) -> ComputingWork:
    """Sum the computation of a run.

    In imported traces what was counted is all there is, as in the published figures of other tools. In measured runs
    some bursts are not counted (those before MPI_Init at least): they are taken to be like the others.
    """
    present = ~np.isin(useful.rank, trace.extra(Losses).missing)
    total = int(useful.time_ns[present].sum())
    imported = not trace.origin.tracer_times
    ipc, instructions, frequency = counts.ipc, None, None
    time_ns = total if imported else counts.time_ns
    if ipc is not None and time_ns:
        instructions = counts.instructions * total / time_ns
        frequency = counts.cycles / (as_published(time_ns) if imported else time_ns)
    rounded = as_published if imported else float
    times = rounded(efficiency.runtime_ns), rounded(total)
    return ComputingWork(int(present.sum()), *times, efficiency.parallel_efficiency, ipc, frequency, instructions)


def work_of_region(threads: int, efficiency: Efficiency) -> ComputingWork:
    """Return the work of a region or a visit on `threads` threads; its counters are not known."""
    useful = round(efficiency.useful_mean_ns * threads)
    return ComputingWork(threads, efficiency.runtime_ns, useful, efficiency.parallel_efficiency, None, None, None)


@dataclass(frozen=True)
class Scaling:
    """A run relative to the smallest; None where counters or useful time are missing on either side.

    computation = IPC x instruction x frequency scalability, global = parallel efficiency x computation scalability.
    With weak scaling the work is to grow with the threads, so work and speedup are relative to their number.
    """

    computation_scalability: float | None
    ipc_scalability: float | None
    instruction_scalability: float | None
    frequency_scalability: float | None
    global_efficiency: float | None
    speedup: float | None


NO_SCALING = Scaling(None, None, None, None, None, None)
"""The scaling of a run that is compared with none."""


def reference_of(runs: Sequence[ComputingWork]) -> int:
    """Return the index of the run that the others are compared with: the first of the smallest."""
    return min(range(len(runs)), key=lambda k: runs[k].threads)


def kind_of_scaling(runs: Sequence[ComputingWork]) -> str:
    """Return WEAK if the work of the largest run grew with the threads rather than stayed the same, else STRONG."""
    small, large = min(runs, key=lambda run: run.threads), max(runs, key=lambda run: run.threads)
    both = [run.instructions is not None for run in (small, large)]
    before, after = (small.amount, large.amount) if all(both) else (small.useful_ns, large.useful_ns)
    if small.threads == large.threads or before <= 0 or after <= 0:
        return STRONG
    return WEAK if log(after / before) > 0.5 * log(large.threads / small.threads) else STRONG


def scaling(run: ComputingWork, reference: ComputingWork, kind: str) -> Scaling:
    """Compare a run with another one."""
    grown = run.threads / reference.threads if kind == WEAK else 1.0
    computation = _quotient(reference.useful_ns * grown, run.useful_ns)
    efficiency = run.parallel_efficiency
    return Scaling(
        computation_scalability=computation,
        ipc_scalability=_quotient(run.ipc, reference.ipc),
        instruction_scalability=_quotient(_times(reference.instructions, grown), run.instructions),
        frequency_scalability=_quotient(run.frequency_ghz, reference.frequency_ghz),
        global_efficiency=_times(efficiency, computation),
        speedup=_quotient(reference.runtime_ns * grown, run.runtime_ns),
    )


def _quotient(a: float | None, b: float | None) -> float | None:
    return a / b if a and b else None


def _times(a: float | None, b: float | None) -> float | None:
    return None if a is None or b is None else a * b
