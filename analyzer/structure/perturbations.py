"""Times in which a run is perturbed by flushes, by preemption, or by a clogged network.

Each cause has a signal, a filter and a threshold.

Source: Casas 2009, section 3.5. Where the thesis gives no number, the parameters of `PerturbationRules` are ours.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

import numpy as np

from analyzer.errors import TracelibError
from analyzer.parallel import Team
from analyzer.structure.signals.counters import CYCLES, StepBins, counted, counter_named, in_steps
from analyzer.structure.wavelets import closing, opening, runs
from analyzer.trace import State, Trace, TracerTime


class PerturbationCause(Enum):
    """Cause of a perturbation: flushes of buffers, preemption of the CPU, or a clogged network."""

    FLUSHING = "flushing"
    PREEMPTION = "preemption"
    CLOGGED = "clogged network"


@dataclass(frozen=True)
class PerturbedTime:
    """Stretch of time [begin_ns, end_ns) in which the run is perturbed."""

    cause: PerturbationCause
    begin_ns: int
    end_ns: int


@dataclass(frozen=True)
class PerturbationRules:
    """Thresholds by which perturbed times are found.

    Attributes:
        width: Shortest time of interest, as a share of the run.
        tolerance: A rate of the CPU below 1 - tolerance of the usual rate is preemption.
        clogged: Multiple of the usual (messages in flight / bandwidth) above which the network is clogged.
    """

    width: float = 0.01  # the shortest time that is of use, as a share of the run
    tolerance: float = 0.2  # of the CPU's rate: less than 1 - tolerance of it is preemption
    clogged: float = 6.0  # so many times the usual ratio of messages in flight to bandwidth


SAMPLES = 1 << 12
"""Number of bins of a signal of perturbations. A bin is much shorter than the shortest time of interest."""


@dataclass(frozen=True)
class PerturbingSignal:
    """Signal of the whole run that shows one cause of perturbation.

    Attributes:
        cause: The cause.
        width_ns: Width of a sample.
        values: The signal (see `marked`), shape (samples,).
        filtered: The signal without stretches that are too short. Beyond the cause's limit, the run is perturbed.
        marked: Mask of the perturbed samples, bool.
    """

    cause: PerturbationCause
    width_ns: int
    values: np.ndarray  # (samples,): processes flushing, a share of the CPU's rate, or a multiple of what is usual
    filtered: np.ndarray  # what is left of them: beyond the limit of `cause` the run is perturbed
    marked: np.ndarray  # bool


def perturbed(trace: Trace, team: Team, rules: PerturbationRules = PerturbationRules()) -> list[PerturbedTime]:
    """Find all perturbed times, sorted by begin. Collective over the team.

    Preemption is found only with a counter of cycles or of CPU time, a clogged network only with messages.
    """
    return times_of(disturbing(trace, team, rules), trace.duration_ns)


def disturbing(trace: Trace, team: Team, rules: PerturbationRules = PerturbationRules()) -> list[PerturbingSignal]:
    """Compute the signals of perturbation that the trace has data for. Collective over the team."""
    width_ns = StepBins(0, trace.duration_ns, SAMPLES).width_ns
    known = {
        PerturbationCause.FLUSHING: flushing(trace, team),
        PerturbationCause.PREEMPTION: computing_rate(trace, team),
        PerturbationCause.CLOGGED: clog(trace, team),
    }
    return [
        PerturbingSignal(cause, width_ns, signal, filtered(cause, signal, rules), marked(cause, signal, rules))
        for cause, signal in known.items()
        if signal is not None
    ]


def times_of(every: Iterable[PerturbingSignal], duration_ns: int) -> list[PerturbedTime]:
    """Return the perturbed times of signals, sorted by begin. Times end at `duration_ns` at the latest."""
    found = [
        PerturbedTime(one.cause, first * one.width_ns, min(last * one.width_ns, duration_ns))
        for one in every
        for first, last in runs(one.marked).tolist()
    ]
    return sorted(found, key=lambda one: one.begin_ns)


def marked(cause: PerturbationCause, signal: np.ndarray, rules: PerturbationRules) -> np.ndarray:
    """Return a mask of the perturbed samples.

    Args:
        cause: Cause to look for.
        signal: Signal of this cause, shape (samples,). Flushing: number of processes that flush. Preemption: CPU
            rate of
            the bursts relative to the usual rate, NaN where no rank computes. Clogged: messages in flight per
            bandwidth,
            relative to the usual.
        rules: Thresholds.
    """
    found = filtered(cause, signal, rules)
    if cause is PerturbationCause.PREEMPTION:
        return found < 1 - rules.tolerance
    return found > (rules.clogged if cause is PerturbationCause.CLOGGED else 0)


def filtered(cause: PerturbationCause, signal: np.ndarray, rules: PerturbationRules) -> np.ndarray:
    """Return the signal without stretches that are too short to be of interest.

    Where no rank computes, the CPU rate is taken from the next burst.
    """
    k = max(round(rules.width * len(signal) / 2), 1)
    if cause is PerturbationCause.CLOGGED:
        return opening(signal, k)
    if cause is PerturbationCause.FLUSHING:
        return closing(signal, k)
    at = np.flatnonzero(np.isfinite(signal))
    nearest = at[np.clip(np.searchsorted(at, np.arange(len(signal))), 0, len(at) - 1)]
    return closing(signal[nearest], k)


def flushing(trace: Trace, team: Team) -> np.ndarray | None:
    """Return the number of processes that flush in each of SAMPLES bins. None: there are no flushes.

    The flush that closes a rank's file is left out.
    """
    bins = StepBins(0, trace.duration_ns, SAMPLES)
    for rank in trace.share(team):
        rows = trace.extra(TracerTime).flushes(rank)
        rows = rows[(rows["state"] == State.IO) & (rows["end"] < trace.span(rank)[1])]
        bins.add(rows["begin"], rows["end"])
    values = bins.means(team.total(bins.packed()))
    values[values < 1e-9] = 0
    return values if values.any() else None


def computing_rate(trace: Trace, team: Team) -> np.ndarray | None:
    """Compute cycles (or CPU time) per time over the bursts of all ranks, relative to the 90th percentile, by bin.

    Returns:
        float64 of shape (SAMPLES,), NaN where no rank computes. None: neither cycles nor CPU time are counted.
    """
    name = _of_rate(trace)
    if name is None:
        return None
    rated, lasted = StepBins(0, trace.duration_ns, SAMPLES), StepBins(0, trace.duration_ns, SAMPLES)
    for begin, end, values in counted(trace, team, (name,)):
        value, length = values[:, 0], end - begin
        known = (value >= 0) & (length > 0)
        rated.add(begin[known], end[known], in_steps(value[known] / length[known]))
        lasted.add(begin[known], end[known])
    rate, there = (bins.means(team.total(bins.packed())) for bins in (rated, lasted))
    enough = there > 1e-3
    if not enough.any():
        return None
    share = np.full(len(rate), np.nan)
    share[enough] = rate[enough] / there[enough]
    usual = np.quantile(share[enough], 0.9)
    return share / usual if usual > 0 else None


def _of_rate(trace: Trace) -> str | None:
    for name in (CYCLES, "CPU_NS"):
        try:
            return counter_named(trace, name)
        except TracelibError:
            continue
    return None


def clog(trace: Trace, team: Team) -> np.ndarray | None:
    """Compute messages in flight / their bandwidth by bin, relative to the usual ratio.

    The usual ratio is the largest ratio among the bins with the smallest ratios that carry half of all bytes.
    Weighting by
    bytes matters, because slow messages take long and may fill most of the time. A message's bytes are spread over its
    flight. The bandwidth is that of all messages together.

    Returns:
        float64 of shape (SAMPLES,), 0 where nothing is in flight. None: there are no messages.
    """
    flying, bytes_ = StepBins(0, trace.duration_ns, SAMPLES), StepBins(0, trace.duration_ns, SAMPLES)
    trace.match()
    windows = trace.windows()
    for number in range(team.rank, len(windows) - 1, team.size):
        rows = trace.messages(*windows[number : number + 2].tolist())
        rows = rows[rows["size"] > 0]
        begin, end = rows["physical_send"], rows["physical_receive"]
        begin = np.maximum(begin, rows["logical_receive"])  # a receive that comes late is no matter of the network
        begin = np.where(begin < end, begin, end - 1)
        flying.add(begin, end)
        bytes_.add(begin, end, rows["size"] / (end - begin))
    there, rate = (bins.means(team.total(bins.packed())) for bins in (flying, bytes_))
    if not (there > 1e-9).any():
        return None
    ratio = np.where((there > 1e-9) & (rate > 0), there * there / np.maximum(rate, 1e-30), 0)
    order = np.argsort(ratio)
    bytes_until = np.cumsum(np.where(ratio > 0, rate, 0)[order])
    usual = ratio[order][np.searchsorted(bytes_until, bytes_until[-1] / 2)]
    return ratio / usual if usual > 0 else ratio
