"""The smallest representative part of a run: one period of a metric, its place, and how well it represents the run.

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
"""Lengths that are compared with the representative part, in % of its length (section 5.3.1.2)."""
_LEVELS = 4
_SHORTEST = 2
_MOST = 0.5
_FEWEST = 2
"""Least number of iterations in a run for which one iteration may represent the run."""


@dataclass(frozen=True)
class RepresentativeSteps:
    """The representative part: the steps [start, start + length).

    Attributes:
        levels: Lengths of nested periods in steps, from the outermost one to the chosen one.
    """

    start: int
    length: int
    period: Period  # period of the outermost level
    levels: tuple[int, ...]
    initialisation: int  # number of steps before the periods begin
    by_calls: bool = False  # the values have no period; the part is an iteration from the calls

    @property
    def part(self) -> slice:
        """Slice of the steps, [start, start + length)."""
        return slice(self.start, self.start + self.length)


def representative(values: np.ndarray) -> RepresentativeSteps | None:
    """Find the shortest period of a metric, as the representative part of a run.

    The first period is searched in the steady stretch of the values. Then shorter periods are searched within one
    period.

    Args:
        values: The metric in each step, shape (steps,).

    Returns:
        The representative part. None: the values have no period.
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
    """Choose a typical iteration of the run's calls, for values that have no period of their own.

    Args:
        edges: Begin of each iteration and end of the last one, in steps; float64 of shape (iterations + 1,).
        steps: Number of steps of the series.

    Returns:
        The iteration with the length nearest to the median, but not the first iteration. None: there are fewer than two
        iterations, or the iteration is shorter than a step.
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
    """Return [begin, end) of the longest stretch of steps in which each period resembles the next one.

    Steps before it are the initialisation (section 5.3.1.3). If the stretch has less than half of the steps (`_MOST`),
    it is all steps.
    """
    stretches = [one.signal for one in periodic_stretches(RunSignal("", 0, 1, values))]
    longest = max(stretches, key=lambda one: len(one.values), default=None)
    if longest is None or len(longest.values) < _MOST * len(values):
        return 0, len(values)
    return longest.begin_ns, longest.begin_ns + len(longest.values)


def _best(values: np.ndarray, period: float) -> tuple[int, int]:
    """Find the period that correlates best with a sine of this length (equation 3.4), within the values.

    Returns:
        First step, and number of steps.
    """
    length = max(round(period), 1)
    sine = np.sin(2 * np.pi * np.arange(length) / period)
    size = next_fast_len(len(values) + length, real=True)
    flat = values - values.mean()
    correlated = irfft(np.conj(rfft(sine, size)) * rfft(flat, size), size)[: len(values) - length + 1]
    return int(np.argmax(correlated)), length


def error(metric: StepMetric, part: slice) -> float:
    """Return the relative error |X_rep - X_global| / X_global of a metric in a part of the series."""
    whole = metric.over(slice(None))
    found = abs(metric.over(part) - whole)
    return found / whole if whole else found


@dataclass(frozen=True)
class SubsetLength:
    """A part that begins where the representative part begins, but has another length.

    Attributes:
        share: Length in % of the representative part's length.
        steps: Length in steps.
        errors: Relative error of each metric. None: the part does not fit into the series.
    """

    share: int
    steps: int
    errors: tuple[float | None, ...]

    @property
    def sum(self) -> float:
        """Sum of the errors of all metrics, by which lengths are ranked (section 5.3.1.2); infinite if one is None."""
        return float("inf") if None in self.errors else sum(e for e in self.errors if e is not None)


def lengths(
    subset: RepresentativeSteps, metrics: tuple[StepMetric, ...], shares: tuple[int, ...] = SHARES
) -> list[SubsetLength]:
    """Compute the errors of parts of other lengths that begin where the representative part begins.

    Args:
        subset: The representative part.
        metrics: Metrics whose errors are computed.
        shares: Lengths in % of the representative part's length.

    Returns:
        The lengths, in the order of `shares`.
    """
    found = []
    for share in shares:
        steps = max(round(subset.length * share / 100), 1)
        part = slice(subset.start, subset.start + steps)
        fits = part.stop <= len(metrics[0].above)
        found.append(SubsetLength(share, steps, tuple(error(metric, part) if fits else None for metric in metrics)))
    return found
