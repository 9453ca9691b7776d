"""Figures of both sides with what is known of their differences."""

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
"""The run time, its parts and factors, the others, and ranks are corrected apart, each for its part of ALPHA."""
_MOST_APART = 0.5
"""If a run's difference is by more than this share not what its iterations say, they do not speak for it."""
_MOST_INTERVALS = 256
"""Columns; of more the bootstrap is not worth its time."""
SMALL = f"it is less than {BETWEEN_RUNS:.0%}, by which two runs of the same often differ"
LOOSE = "it is not beyond what single batches of iterations vary by"
OUTSIDE = "most of it lies outside the iterations"


@dataclass(frozen=True)
class DifferenceRow:
    """A figure on both sides: means of the runs; None: not known.

    p is corrected for the number of comparisons; low, high: 95 % interval of the difference. None: not tested. why: a
    difference that is more than noise within the runs cannot be told from one between runs; or is one without a test.
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
        """After less before; 0 where one is not known."""
        return self.after - self.before if self.after is not None and self.before is not None else 0.0

    @property
    def relative(self) -> float | None:
        """The difference as a share of before; None: there was nothing, or it is not known."""
        return self.difference / self.before if self.before and self.after is not None else None


@dataclass(frozen=True)
class FigureSamples:
    """Samples of some rows on both sides, float64 (samples, rows).

    iterations: number of iterations of each side's run, where samples are means of one iteration. The times of a run
    are that many times as long.
    """

    before: np.ndarray
    after: np.ndarray
    basis: SampleOrigin
    iterations: tuple[int, int] = (1, 1)

    def tested(self) -> ColumnTests:
        """Test each row, not corrected."""
        if self.basis is SampleOrigin.REPETITIONS:
            return compare_repetitions(self.before, self.after)
        return compare_iterations(self.before, self.after, intervals=self.before.shape[1] <= _MOST_INTERVALS)


def judged(rows: Sequence[DifferenceRow], samples: FigureSamples) -> list[DifferenceRow]:
    """Return the rows with their verdicts, corrected for each other and for the other groups."""
    if not rows:
        return []
    found = samples.tested()
    p = np.minimum(corrected(found.p) * GROUPS, 1.0)
    columns = zip(rows, p.tolist(), found.low.tolist(), found.high.tolist(), strict=True)
    return [
        _judged(replace(row, p=p), low, high, samples, number) for number, (row, p, low, high) in enumerate(columns)
    ]


def untested(row: DifferenceRow, *, exact: bool) -> DifferenceRow:
    """Return a row without samples. exact: its figure does not depend on time."""
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
    """Return a row of runs with alike iterations, but different numbers of them: effects of the number are no noise."""
    inside = second * iterations[1] - first * iterations[0]
    is_large = row.before is not None and abs(row.difference) >= BETWEEN_RUNS * abs(row.before)
    if is_large and abs(inside - row.difference) <= _MOST_APART * abs(row.difference):
        why = f"{iterations[1]} iterations instead of {iterations[0]}"
        return replace(row, verdict=DifferenceVerdict.MORE, p=None, low=None, high=None, why=why)
    return replace(row, verdict=DifferenceVerdict.WITHIN, low=None, high=None)


def _scale(figure: Figure, iterations: tuple[int, int]) -> float | None:
    """Return the factor from a difference of one iteration to a difference of the run.

    None: the runs have different numbers of iterations, so there is no such factor.
    """
    if figure.unit is not FigureUnit.NS or figure.family is FigureFamily.ITERATION:
        return 1.0
    return float(iterations[0]) if iterations[0] == iterations[1] else None
