"""Curves that are fitted at a few rank counts and extrapolated to larger ones, with their uncertainty.

Source: M. Casas, "Spectral analysis of executions" (2009), section 4.5, figure 4.8: least squares, log-linear in P. The
thesis does not say which log-linear form, so that all three are here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np


class FittedCurve(Protocol):
    """A fitted curve y(P), where P is the number of ranks."""

    def value(self, p: float) -> float:
        """Return the curve's value at `p` ranks."""

    def drawn(self, p: float, number: int, rng: np.random.Generator) -> np.ndarray | None:
        """Draw values that a new measurement at `p` ranks could give.

        Args:
            p: Number of ranks.
            number: Number of values.
            rng: Source of random numbers.

        Returns:
            Values of shape (number,). None: the curve has too few points to know its uncertainty.
        """

    def text(self) -> str:
        """Return the curve's formula with its numbers."""


Selector = Callable[[np.ndarray, np.ndarray], FittedCurve]
"""Function that fits a curve to rank counts and values, both float64 of shape (runs,). It may choose among curves."""


def _same(x: np.ndarray) -> np.ndarray:
    return x


@dataclass(frozen=True)
class CurveForm:
    """A form of curves, link(y) = a + b of(P), in which a and b are fitted.

    Attributes:
        formula: Text with placeholders for a and b.
        inverse: Inverse function of `link`.
    """

    name: str
    formula: str
    of: Callable[[np.ndarray], np.ndarray]
    link: Callable[[np.ndarray], np.ndarray] = _same
    inverse: Callable[[np.ndarray], np.ndarray] = _same


FORMS = {
    form.name: form
    for form in (
        CurveForm("log", "{a:.4g} {b} ln P", np.log),
        CurveForm("power", "exp({a:.4g} {b} ln P)", np.log, np.log, np.exp),
        CurveForm("exponential", "exp({a:.4g} {b} P)", _same, np.log, np.exp),
    )
}
"""Log-linear forms by name. log: y = a + b ln P; power: ln y = a + b ln P; exponential: ln y = a + b P."""
LINEAR = CurveForm("linear", "{a:.4g} {b} P", _same)


@dataclass(frozen=True)
class FittedLine:
    """A line fitted by least squares in one of the forms. If the form takes ln y, all y must be above 0."""

    form: CurveForm
    intercept: float
    slope: float
    points: int  # number of fitted points
    mean: float  # mean of of(P) over the points
    spread: float  # sum of (of(P) - mean)^2 over the points
    residual: float  # sum of squared residuals of link(y)

    def value(self, p: float) -> float:
        return float(self.form.inverse(np.asarray(self._linked(p))))

    def drawn(self, p: float, number: int, rng: np.random.Generator) -> np.ndarray | None:
        """Draw from Student's t around the line, as wide as the prediction interval of one new point.

        Returns:
            Values of shape (number,). None: the line has fewer than three points.
        """
        free = self.points - 2
        if free < 1:
            return None
        away = (float(self.form.of(np.asarray(p))) - self.mean) ** 2 / self.spread
        width = np.sqrt(self.residual / free * (1 + 1 / self.points + away))
        with np.errstate(over="ignore"):
            return self.form.inverse(self._linked(p) + width * rng.standard_t(free, number))

    def text(self) -> str:
        sign = "-" if self.slope < 0 else "+"
        return self.form.formula.format(a=self.intercept, b=f"{sign} {abs(self.slope):.3g}")

    def _linked(self, p: float) -> float:
        return self.intercept + self.slope * float(self.form.of(np.asarray(p)))


@dataclass(frozen=True)
class ReciprocalCurve:
    """The reciprocal of another curve. A falling quantity that is fitted this way stays above 0."""

    of: FittedCurve

    def value(self, p: float) -> float:
        value = self.of.value(p)
        return 1 / value if value > 0 else float("inf")

    def drawn(self, p: float, number: int, rng: np.random.Generator) -> np.ndarray | None:
        drawn = self.of.drawn(p, number, rng)
        return None if drawn is None else 1 / np.maximum(drawn, np.finfo(float).tiny)

    def text(self) -> str:
        return f"1 / ({self.of.text()})"


def fitted(form: CurveForm) -> Selector:
    """Return the selector that always fits this form. Its fits need two different rank counts."""

    def fit(p: np.ndarray, y: np.ndarray) -> FittedLine:
        x, linked = form.of(np.asarray(p, float)), form.link(np.asarray(y, float))
        mean = float(x.mean())
        spread = float(((x - mean) ** 2).sum())
        slope = float(((x - mean) * (linked - linked.mean())).sum() / spread)
        intercept = float(linked.mean() - slope * mean)
        residual = float(((linked - intercept - slope * x) ** 2).sum())
        return FittedLine(form, intercept, slope, len(x), mean, spread, residual)

    return fit


def staying_above(least: float, selector: Selector, at: Sequence[float]) -> Selector:
    """Return a selector whose curves stay above 0 at the rank counts of a prediction.

    Args:
        least: Smallest allowed value of a curve.
        selector: Selector whose curve is used unless it falls below `least` at a rank count of `at`.
        at: Rank counts of the prediction.

    Returns:
        A selector that fits ln y = a + b ln P, which is never below 0, where the given selector's curve falls too low.
    """

    def select(p: np.ndarray, y: np.ndarray) -> FittedCurve:
        curve = selector(p, y)
        return curve if min(curve.value(x) for x in at) >= least else fitted(FORMS["power"])(p, y)

    return select


def baselines(p: np.ndarray, speedup: np.ndarray, at: float) -> dict[str, float | None]:
    """Extrapolate the speedup itself to `at` ranks, as the thesis does for comparison (section 4.5.1).

    Args:
        p: Rank counts, shape (runs,).
        speedup: Measured speedups, shape (runs,).
        at: Number of ranks to predict.

    Returns:
        Speedup by method: "linear", "quadratic" (None with fewer than three rank counts) and "log-linear".
    """
    parabola = None
    if len(np.unique(p)) >= 3:
        parabola = float(np.polynomial.Polynomial.fit(p, speedup, 2)(at))
    return {
        "linear": fitted(LINEAR)(p, speedup).value(at),
        "quadratic": parabola,
        "log-linear": fitted(FORMS["log"])(p, speedup).value(at),
    }
