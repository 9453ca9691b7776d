"""The POP efficiencies that need no replay: parallel efficiency and its two factors."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analyzer.metrics.flushes import Flushes
from analyzer.metrics.unrecorded import Unrecorded
from analyzer.metrics.useful import Useful
from analyzer.trace import Trace


@dataclass(frozen=True)
class Efficiency:
    """Fractions from 0 to 1; parallel = load balance x communication. None: nothing was measured."""

    parallel_efficiency: float | None
    load_balance: float | None
    communication_efficiency: float | None
    runtime_ns: int  # what the efficiencies are relative to


def efficiency(trace: Trace, useful: Useful, flushes: Flushes, missed: Unrecorded) -> Efficiency:
    """Parallel efficiency mean(useful) / runtime, load balance mean / max, communication efficiency max / runtime.

    Means and maxima go over all threads of the ranks that could be read. Runtime is the end of the trace;
    where flushes are taken out of the computation (measured runs), it is less the time that *every* thread
    lost to flushing, min over threads. That is the part that certainly was not the program's; it keeps
    max(useful) <= runtime. What ranks waited for one that flushed is not told apart from other waiting:
    see the share of flushes. The time in which no rank recorded is taken out likewise: the efficiencies are those
    of what was recorded.

    Source: POP metrics, Performance Optimisation and Productivity centre of excellence.
    """
    runtime = trace.duration_ns
    if trace.flush_mode == "subtract":
        lost = flushes.shared_ns + missed.shared_ns
        runtime -= int(np.delete(lost, trace.missing).min(initial=runtime))
    return factors(useful.time_ns[~np.isin(useful.rank, trace.missing)], runtime)


def factors(useful_ns: np.ndarray, runtime: int) -> Efficiency:
    """The factors from the useful time of each thread."""
    longest = float(useful_ns.max(initial=0))
    if runtime <= 0 or longest <= 0:
        return Efficiency(None, None, None, runtime)
    mean = float(useful_ns.mean())
    return Efficiency(mean / runtime, mean / longest, longest / runtime, runtime)
