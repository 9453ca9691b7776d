"""The minimal representative subset: one period of a metric, where it lies, and how well it stands for the whole.

Source: M. Casas, "Spectral analysis of executions" (2009), sections 3.6.2, 5.3 and 5.3.1.2, equation 3.4.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.fft import irfft, next_fast_len, rfft

from analyzer.representative.series import StepMetric
from analyzer.structure.levels.periodic_stretches import periodic_stretches
from analyzer.structure.period import Period, period_of
from analyzer.structure.signals import RunSignal

SHARES = tuple(range(20, 201, 20))
"""Lengths that are compared with the period, in % of it (section 5.3.1.2)."""
_LEVELS = 4
_SHORTEST = 2
_MOST = 0.5
_FEWEST = 2
"""Iterations that a run has at least, where one of them stands for it."""


@dataclass(frozen=True)
class RepresentativeSteps:
    """Steps [start, start + length) and the levels that led there: the length of each, the outermost first."""

    start: int
    length: int
    period: Period  # of the outermost level
    levels: tuple[int, ...]
    initialisation: int  # steps before the periods begin
    by_calls: bool = False  # the values have no period: it is that of the calls

    @property
    def part(self) -> slice:
        return slice(self.start, self.start + self.length)


def representative(values: np.ndarray) -> RepresentativeSteps | None:
    """Return the shortest period of the values (steps,): of their steady stretch, then of one period while there is
    one.

    None: they have no period.
    """
    first, last = _steady(values)
    found = period_of(values[first:last])
    if found is None:
        return None
    start, length = _best(values[first:last], found.samples)
    start += first
    levels = [length]
    while len(levels) < _LEVELS:
        inner = period_of(values[start : start + length])
        if inner is None or round(inner.samples) < _SHORTEST or round(inner.samples) > length // 2:
            break
        offset, length = _best(values[start : start + length], inner.samples)
        start += offset
        levels.append(length)
    return RepresentativeSteps(start, length, found, tuple(levels), first)


def typical_iteration(edges: np.ndarray, steps: int) -> RepresentativeSteps | None:
    """Return one iteration as the calls of a run show them, if the values have no period of their own.

    Args:
        edges: Where each iteration begins, and the last one ends, in steps; float64 (iterations + 1,).
        steps: Number of steps of the series.

    Returns:
        The iteration whose length is nearest to the median, but not the first one. None: there are fewer than two, or
        they are shorter than a step.
    """
    lasting = np.diff(edges)
    if len(lasting) < _FEWEST:
        return None
    middle = float(np.median(lasting))
    chosen = 1 + int(np.abs(lasting[1:] - middle).argmin())
    start, length = round(float(edges[chosen])), round(float(lasting[chosen]))
    if length < 1 or start + length > steps:
        return None
    period = Period(middle, 0.0, len(lasting), confirmed=False, coarsened=1)
    return RepresentativeSteps(start, length, period, (length,), max(round(float(edges[0])), 0), by_calls=True)


def _steady(values: np.ndarray) -> tuple[int, int]:
    """Return first and behind the last step of the longest stretch in which each period is like the next one.

    Steps before it are the initialisation (section 5.3.1.3). All steps, if it is not most of them.
    """
    stretches = [one.signal for one in periodic_stretches(RunSignal("", 0, 1, values))]
    longest = max(stretches, key=lambda one: len(one.values), default=None)
    if longest is None or len(longest.values) < _MOST * len(values):
        return 0, len(values)
    return longest.begin_ns, longest.begin_ns + len(longest.values)


def _best(values: np.ndarray, period: float) -> tuple[int, int]:
    """Find the period that correlates best with a sine of this length (equation 3.4), wholly inside the values."""
    length = max(round(period), 1)
    sine = np.sin(2 * np.pi * np.arange(length) / period)
    size = next_fast_len(len(values) + length, real=True)
    flat = values - values.mean()
    correlated = irfft(np.conj(rfft(sine, size)) * rfft(flat, size), size)[: len(values) - length + 1]
    return int(np.argmax(correlated)), length


def error(metric: StepMetric, part: slice) -> float:
    """Return |X_rep - X_global| / X_global."""
    whole = metric.over(slice(None))
    found = abs(metric.over(part) - whole)
    return found / whole if whole else found


@dataclass(frozen=True)
class SubsetLength:
    """A segment that begins where the representative one does: its length in % of that, and the error of each metric;
    errors are None where it does not fit into the series."""

    share: int
    steps: int
    errors: tuple[float | None, ...]

    @property
    def sum(self) -> float:
        """Sum of the errors, by which lengths are ranked (section 5.3.1.2)."""
        return float("inf") if None in self.errors else sum(e for e in self.errors if e is not None)


def lengths(
    subset: RepresentativeSteps, metrics: tuple[StepMetric, ...], shares: tuple[int, ...] = SHARES
) -> list[SubsetLength]:
    """Return all lengths, in order."""
    found = []
    for share in shares:
        steps = max(round(subset.length * share / 100), 1)
        part = slice(subset.start, subset.start + steps)
        fits = part.stop <= len(metrics[0].above)
        found.append(SubsetLength(share, steps, tuple(error(metric, part) if fits else None for metric in metrics)))
    return found
