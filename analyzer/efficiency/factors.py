"""The POP efficiencies of a run: parallel efficiency, and the factors of which it is the product or sum."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analyzer.efficiency.ideal import UNKNOWN_IDEAL, IdealReplay
from analyzer.metrics.overhead import Flushes
from analyzer.metrics.unrecorded import UnrecordedTime
from analyzer.metrics.useful import UsefulTime
from analyzer.trace import Losses, Trace

_LONG_NS = 10**9
"""Times of at least this length (ns) are rounded to 10 ns, which changes no digit that is shown."""


def as_published(ns: float) -> float:
    """Round a time (ns) to 10 ns, as other tools do, which take it from paramedir in us with two digits.

    Times shorter than 1 s are not rounded.
    """
    return float(f"{ns / 1000:.2f}") * 1000 if ns >= _LONG_NS else ns


@dataclass(frozen=True)
class Efficiency:
    """Efficiencies of a run, from 0 to 1. None: nothing was measured, or nothing could be replayed.

    In the multiplicative form, parallel = load balance x communication, and communication = serialization x transfer.
    Casas's speedup model divides communication otherwise: micro load balance x real communication.

    Attributes:
        useful_mean_ns: Mean useful time of the ranks or threads.
        useful_max_ns: Largest useful time of a rank or thread.
        runtime_ns: Time that the efficiencies relate to.
        ideal: The run on an ideal network.
        published: True: times are rounded as in the published figures of other tools, which have more digits than their
            times.

    Sources: POP metrics, Performance Optimisation and Productivity centre of excellence, as basicanalysis computes
    them; M. Casas, "Spectral analysis of executions" (2009), equation 4.12.
    """

    useful_mean_ns: float
    useful_max_ns: float
    runtime_ns: int  # the time that the efficiencies are relative to
    ideal: IdealReplay = UNKNOWN_IDEAL
    published: bool = False

    @property
    def parallel_efficiency(self) -> float | None:
        return self.quotient(self.useful_mean_ns, self.runtime_ns)

    @property
    def load_balance(self) -> float | None:
        return self.quotient(self.useful_mean_ns, self.useful_max_ns)

    @property
    def communication_efficiency(self) -> float | None:
        return self.quotient(self.useful_max_ns, self.runtime_ns)

    @property
    def serialization_efficiency(self) -> float | None:
        """Return the largest computing time of a rank / runtime, both in the ideal replay."""
        return self.quotient(self.ideal.useful_ns, self.ideal.runtime_ns)

    @property
    def transfer_efficiency(self) -> float | None:
        """Return communication efficiency / serialization efficiency.

        It is nearly, but not quite, ideal runtime / runtime.
        """
        communication, serialization = self.communication_efficiency, self.serialization_efficiency
        return communication / serialization if communication and serialization else None

    @property
    def micro_load_balance(self) -> float | None:
        """Return the largest useful time of a thread in the run / ideal runtime."""
        return self.quotient(self.useful_max_ns, self.ideal.runtime_ns)

    @property
    def real_communication_efficiency(self) -> float | None:
        """Return ideal runtime / runtime."""
        return self.quotient(self.ideal.runtime_ns, self.runtime_ns)

    def quotient(self, part: float | None, whole: float | None) -> float | None:
        """Return part / whole of two times of the run (ns).

        None: one of them is unknown or 0, or nothing was computed.
        """
        if not part or not whole or self.runtime_ns <= 0 or self.useful_max_ns <= 0:
            return None
        return as_published(part) / as_published(whole) if self.published else part / whole


@dataclass(frozen=True)
class AdditiveEfficiency:
    """Additive form of the efficiencies, in which losses add up.

    1 - parallel = (1 - load balance) + (1 - communication), and 1 - communication = (1 - serialization) + (1 -
    transfer).

    Source: the additive metrics of PyPOP.
    """

    of: Efficiency

    @property
    def parallel_efficiency(self) -> float | None:
        return self.of.parallel_efficiency

    @property
    def load_balance(self) -> float | None:
        """Return 1 - (largest - mean useful time) / runtime."""
        return _less(self.of.parallel_efficiency, self.of.communication_efficiency)

    @property
    def communication_efficiency(self) -> float | None:
        return self.of.communication_efficiency

    @property
    def serialization_efficiency(self) -> float | None:
        """Return 1 - (ideal runtime - largest useful time) / runtime."""
        return _less(self.of.communication_efficiency, self.of.real_communication_efficiency)

    @property
    def transfer_efficiency(self) -> float | None:
        """Return 1 - (runtime - ideal runtime) / runtime."""
        return self.of.real_communication_efficiency


def _less(part: float | None, whole: float | None) -> float | None:
    """Return 1 - (whole - part)."""
    return None if part is None or whole is None else 1 - (whole - part)


def efficiency(
    trace: Trace, useful: UsefulTime, flushes: Flushes, missed: UnrecordedTime, ideal: IdealReplay = UNKNOWN_IDEAL
) -> Efficiency:
    """Compute the efficiencies of a run.

    Parallel efficiency is mean(useful) / runtime, load balance mean / max, communication efficiency max / runtime. Mean
    and max go over the ranks that could be read, each with the mean of its threads (`UsefulTime.of_ranks`). In traces
    of other tools they go over all threads, as in their published figures.

    Runtime is the end of the trace. In measured runs, where the tracer's time is not part of the computation, the time
    that *every* thread lost to the tracer (the minimum over threads) is subtracted from it. That part certainly was not
    the program's; so max(useful) <= runtime. If ranks waited for one that flushed, this is not distinguished from other
    waiting: see the share of flushes. The time in which no rank recorded is subtracted likewise: the efficiencies
    describe the recorded time.

    Args:
        trace: The trace.
        useful: Useful time of its threads.
        flushes: Time of the tracer.
        missed: Time in which nothing was recorded.
        ideal: The run on an ideal network.
    """
    runtime = trace.duration_ns
    if trace.origin.tracer_times:
        lost = flushes.shared_ns + missed.shared_ns + useful.least_tracer_by_rank()
        runtime -= int(np.delete(lost, trace.extra(Losses).missing).min(initial=runtime))
    if not trace.origin.tracer_times:
        present = useful.time_ns[~np.isin(useful.rank, trace.extra(Losses).missing)]
        return factors(present, runtime, ideal, published=True)
    return factors(np.delete(useful.of_ranks(runtime), trace.extra(Losses).missing), runtime, ideal)


def factors(
    useful_ns: np.ndarray, runtime: int, ideal: IdealReplay = UNKNOWN_IDEAL, *, published: bool = False
) -> Efficiency:
    """Compute the efficiencies from the useful time of each thread or rank, in ns.

    Args:
        useful_ns: Useful time of each thread or rank.
        runtime: Time that the efficiencies relate to, ns.
        ideal: The run on an ideal network.
        published: True: round times as in the published figures of other tools.
    """
    longest = float(useful_ns.max(initial=0))  # not rounded: the mean would be above it where all are alike
    mean = min(float(useful_ns.mean()), longest) if longest else 0.0
    return Efficiency(mean, longest, runtime, ideal, published)
