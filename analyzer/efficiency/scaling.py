"""Scaling: the computation of a run (work, instructions and their speed) compared with that of a smaller run."""

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
"""Kinds of scaling. Strong: all runs have the same work. Weak: the work grows with the number of threads."""


@dataclass(frozen=True)
class ComputingWork:
    """Amount and speed of the computation of a run. None: not counted."""

    threads: int  # number of threads that could be read
    runtime_ns: float
    useful_ns: float  # of all threads
    parallel_efficiency: float | None
    ipc: float | None
    frequency_ghz: float | None
    instructions: float | None  # of all threads

    @property
    def amount(self) -> float:
        """Return the amount of work: the number of instructions or, if they were not counted, the useful time in ns."""
        return self.instructions if self.instructions is not None else self.useful_ns


def work(trace: Trace, useful: UsefulTime, efficiency: Efficiency, counts: UsefulCounts) -> ComputingWork:
    """Sum the computation of a run.

    In measured runs some bursts are not counted (at least those before MPI_Init); they are assumed to be like the
    others. In imported traces the sums are of the counted bursts only, as in the published figures of other tools.
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
    """Return the work of a region or a visit in which `threads` threads took part. Its counters are not known."""
    useful = round(efficiency.useful_mean_ns * threads)
    return ComputingWork(threads, efficiency.runtime_ns, useful, efficiency.parallel_efficiency, None, None, None)


@dataclass(frozen=True)
class Scaling:
    """Scaling of a run relative to the smallest run. None: counters or useful time are unknown for one of the two.

    computation = IPC x instruction x frequency scalability, global = parallel efficiency x computation scalability.
    With weak scaling the work should grow with the number of threads, so work and speedup are relative to that number.
    """

    computation_scalability: float | None
    ipc_scalability: float | None
    instruction_scalability: float | None
    frequency_scalability: float | None
    global_efficiency: float | None
    speedup: float | None


NO_SCALING = Scaling(None, None, None, None, None, None)
"""The Scaling of a run that is not compared with another."""


def reference_of(runs: Sequence[ComputingWork]) -> int:
    """Return the index of the run with which the others are compared: the first of those with the fewest threads."""
    return min(range(len(runs)), key=lambda k: runs[k].threads)


def kind_of_scaling(runs: Sequence[ComputingWork]) -> str:
    """Return WEAK if the work of the largest run grew with the number of threads, else STRONG.

    WEAK: log(ratio of work) > 0.5 log(ratio of threads), between the run with most and the run with fewest threads.
    """
    small, large = min(runs, key=lambda run: run.threads), max(runs, key=lambda run: run.threads)
    both = [run.instructions is not None for run in (small, large)]
    before, after = (small.amount, large.amount) if all(both) else (small.useful_ns, large.useful_ns)
    if small.threads == large.threads or before <= 0 or after <= 0:
        return STRONG
    return WEAK if log(after / before) > 0.5 * log(large.threads / small.threads) else STRONG


def scaling(run: ComputingWork, reference: ComputingWork, kind: str) -> Scaling:
    """Compare a run with a reference run. `kind`: STRONG or WEAK."""
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
