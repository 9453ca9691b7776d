"""Curves through a few points that go on to larger rank counts, with how sure they are.

Source: M. Casas, "Spectral analysis of executions" (2009), section 4.5, figure 4.8: least squares, log-linear in P. The
thesis does not say which log-linear form: all three are here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np


class FittedCurve(Protocol):
    """A fitted curve y(P)."""

    def value(self, p: float) -> float:
        """Return y at a rank count."""

    def drawn(self, p: float, number: int, rng: np.random.Generator) -> np.ndarray | None:
        """Draw values that a new measurement at p could give, shape (number,). None: too few points to say."""

    def text(self) -> str:
        """Write the curve's formula."""


Selector = Callable[[np.ndarray, np.ndarray], FittedCurve]
"""Fits a curve to the values at some rank counts, both float64 of shape (runs,); may choose among several."""


def _same(x: np.ndarray) -> np.ndarray:
    return x


@dataclass(frozen=True)
class CurveForm:
    """link(y) = a + b of(P)."""

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
"""Forms by name: y = a + b ln P; ln y = a + b ln P; ln y = a + b P."""
LINEAR = CurveForm("linear", "{a:.4g} {b} P", _same)


@dataclass(frozen=True)
class FittedLine:
    """A least-squares line in a form, y > 0 where its link is the logarithm."""

    form: CurveForm
    intercept: float
    slope: float
    points: int
    mean: float  # of of(P)
    spread: float  # sum of (of(P) - mean)^2
    residual: float  # sum of squared residuals of link(y)

    def value(self, p: float) -> float:
        return float(self.form.inverse(np.asarray(self._linked(p))))

    def drawn(self, p: float, number: int, rng: np.random.Generator) -> np.ndarray | None:
        """Draw from Student's t around the line, as wide as the prediction interval of one new point."""
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
    """1 / y of another curve: so an amount that falls stays above 0."""

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
    """Return the selector that always takes this form. It needs two different rank counts."""

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
    """Make a selector whose curves stay above 0 where they are asked for.

    Args:
        least: What a curve must not fall below.
        selector: Its curve is taken, unless it falls below `least` at one of `at`.
        at: Rank counts.

    Returns:
        A selector that takes ln y = a + b ln P then, which has no value below 0.
    """

    def select(p: np.ndarray, y: np.ndarray) -> FittedCurve:
        curve = selector(p, y)
        return curve if min(curve.value(x) for x in at) >= least else fitted(FORMS["power"])(p, y)

    return select


def baselines(p: np.ndarray, speedup: np.ndarray, at: float) -> dict[str, float | None]:
    """Extrapolate the speedup itself to one rank count, as the thesis does for comparison (section 4.5.1).

    Three ways: a line, a parabola (None with fewer than three rank counts), and log-linearly.
    """
    parabola = None
    if len(np.unique(p)) >= 3:
        parabola = float(np.polynomial.Polynomial.fit(p, speedup, 2)(at))
    return {
        "linear": fitted(LINEAR)(p, speedup).value(at),
        "quadratic": parabola,
        "log-linear": fitted(FORMS["log"])(p, speedup).value(at),
    }
