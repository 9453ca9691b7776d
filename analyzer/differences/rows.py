"""Rows of a comparison: a figure of both sides, its difference, and the verdict of the test."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import isclose

import numpy as np

from analyzer.differences.figures import Figure, FigureFamily, FigureUnit
from analyzer.differences.noise import (
    ALPHA,
    BETWEEN_RUNS,
    OWN_VARIATION,
    ColumnTests,
    DifferenceVerdict,
    SampleOrigin,
    compare_iterations,
    compare_repetitions,
    corrected,
    spread,
)

GROUPS = 4
"""Number of groups of figures that are corrected separately, each with an equal share of ALPHA.

The groups: the run time; its parts and factors; the other figures; ranks.
"""
_MOST_APART = 0.5
"""Largest relative distance between a difference of runs and the difference that their iterations add up to.

It is relative to the difference of the runs. If the distance is larger, the iterations do not explain the difference.
"""
_MOST_INTERVALS = 256
"""Largest number of columns for which intervals are computed. With more, the bootstrap takes too long."""
SMALL = f"it is less than {BETWEEN_RUNS:.0%}, by which two runs of the same often differ"
"""Reason for no verdict: the relative difference is below BETWEEN_RUNS."""
LOOSE = "it is not beyond what single batches of iterations vary by"
"""Reason for no verdict: the difference is below OWN_VARIATION standard deviations of the batches."""
OUTSIDE = "most of it lies outside the iterations"
"""Reason for no verdict: the iterations do not explain the difference, see `_MOST_APART`."""


@dataclass(frozen=True)
class DifferenceRow:
    """A figure on both sides, the verdict on its difference, and the test behind the verdict.

    before, after: mean over the runs of a side, in the unit of the figure. None: not known.
    p: corrected for the number of comparisons. None: not tested.
    low, high: 95 % interval of the difference. None: not tested.
    why: why a significant difference has no verdict (SMALL, LOOSE, OUTSIDE), or why an untested difference is real.
    """

    figure: Figure
    before: float | None
    after: float | None
    verdict: DifferenceVerdict = DifferenceVerdict.UNKNOWN
    p: float | None = None
    low: float | None = None
    high: float | None = None
    why: str = ""

    @property
    def difference(self) -> float:
        """After minus before, in the unit of the figure; 0 where one of them is not known."""
        return self.after - self.before if self.after is not None and self.before is not None else 0.0

    @property
    def relative(self) -> float | None:
        """Difference divided by before. None: before is 0, or one side is not known."""
        return self.difference / self.before if self.before and self.after is not None else None


@dataclass(frozen=True)
class FigureSamples:
    """Samples of some rows on both sides, each float64 of shape (samples, rows).

    basis: whether samples are repeated runs or batches of iterations.
    iterations: number of iterations of each side's run. If samples are means of one iteration, a time of the run is
    that many times as long.
    """

    before: np.ndarray
    after: np.ndarray
    basis: SampleOrigin
    iterations: tuple[int, int] = (1, 1)

    def tested(self) -> ColumnTests:
        """Test each row. The p values are not corrected for multiple comparisons."""
        if self.basis is SampleOrigin.REPETITIONS:
            return compare_repetitions(self.before, self.after)
        return compare_iterations(self.before, self.after, intervals=self.before.shape[1] <= _MOST_INTERVALS)


def judged(rows: Sequence[DifferenceRow], samples: FigureSamples) -> list[DifferenceRow]:
    """Return the rows with their verdicts.

    The p values are corrected for the number of these rows, and for the number of groups (GROUPS).
    """
    if not rows:
        return []
    found = samples.tested()
    p = np.minimum(corrected(found.p) * GROUPS, 1.0)
    columns = zip(rows, p.tolist(), found.low.tolist(), found.high.tolist(), strict=True)
    return [
        _judged(replace(row, p=p), low, high, samples, number) for number, (row, p, low, high) in enumerate(columns)
    ]


def untested(row: DifferenceRow, *, exact: bool) -> DifferenceRow:
    """Return a row without samples with its verdict: SAME, EXACT or UNKNOWN.

    Args:
        row: The row.
        exact: The figure is a count, which does not depend on time.
    """
    if row.before is not None and row.after is not None and isclose(row.before, row.after, rel_tol=1e-9, abs_tol=1e-9):
        return replace(row, verdict=DifferenceVerdict.SAME)
    return replace(row, verdict=DifferenceVerdict.EXACT if exact else DifferenceVerdict.UNKNOWN)


def _judged(row: DifferenceRow, low: float, high: float, samples: FigureSamples, number: int) -> DifferenceRow:
    assert row.p is not None, "it was tested"
    sure = row.p <= ALPHA
    if samples.basis is SampleOrigin.REPETITIONS:
        return replace(row, verdict=DifferenceVerdict.MORE if sure else DifferenceVerdict.WITHIN, low=low, high=high)
    scale = _scale(row.figure, samples.iterations)
    if scale is not None:
        row = replace(row, low=low * scale, high=high * scale)
    first, second = float(samples.before[:, number].mean()), float(samples.after[:, number].mean())
    own = OWN_VARIATION * max(spread(samples.before[:, number]), spread(samples.after[:, number]))
    is_large = abs(second - first) >= max(BETWEEN_RUNS * abs(first), own)
    if scale is None and not (sure and is_large):
        return _by_number(row, first, second, samples.iterations)
    if not sure:
        return replace(row, verdict=DifferenceVerdict.WITHIN)
    if not is_large:
        why = LOOSE if abs(second - first) >= BETWEEN_RUNS * abs(first) else SMALL
        return replace(row, verdict=DifferenceVerdict.UNKNOWN, why=why)
    if scale is not None and abs((second - first) * scale - row.difference) > _MOST_APART * abs(row.difference):
        return replace(row, verdict=DifferenceVerdict.UNKNOWN, why=OUTSIDE)
    return replace(row, verdict=DifferenceVerdict.MORE)


def _by_number(row: DifferenceRow, first: float, second: float, iterations: tuple[int, int]) -> DifferenceRow:
    """Judge a row of runs whose iterations are alike, but whose numbers of iterations differ.

    A difference that the number of iterations explains is no noise.
    """
    inside = second * iterations[1] - first * iterations[0]
    is_large = row.before is not None and abs(row.difference) >= BETWEEN_RUNS * abs(row.before)
    if is_large and abs(inside - row.difference) <= _MOST_APART * abs(row.difference):
        why = f"{iterations[1]} iterations instead of {iterations[0]}"
        return replace(row, verdict=DifferenceVerdict.MORE, p=None, low=None, high=None, why=why)
    return replace(row, verdict=DifferenceVerdict.WITHIN, low=None, high=None)


def _scale(figure: Figure, iterations: tuple[int, int]) -> float | None:
    """Return the factor from the difference in one iteration to the difference in the run.

    1 for figures that do not grow with the number of iterations. None: the numbers of iterations differ, so no factor
    exists.
    """
    if figure.unit is not FigureUnit.NS or figure.family is FigureFamily.ITERATION:
        return 1.0
    return float(iterations[0]) if iterations[0] == iterations[1] else None
