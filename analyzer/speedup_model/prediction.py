"""Prediction of the speedup at more ranks.

Each factor of the model is extrapolated by itself. The speedup is their product, and the smallest factor is named.

Source: M. Casas, "Spectral analysis of executions" (2009), section 4.5.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import compress
from math import exp, log

import numpy as np

from analyzer.errors import TracelibError
from analyzer.in_notebook import InNotebook
from analyzer.speedup_model.extrapolation import (
    FORMS,
    LINEAR,
    FittedCurve,
    ReciprocalCurve,
    Selector,
    baselines,
    fitted,
    staying_above,
)
from analyzer.speedup_model.factor_model import NEAR, WEAK, Speedup, speedup
from analyzer.speedup_model.factors import SpeedupFactor
from analyzer.speedup_model.held_out import MODEL, HeldOutErrors, held_out
from analyzer.speedup_model.parameters import SpeedupParameters

CONFIDENCE = 0.9
"""Share of new measurements that a prediction interval should contain."""
LEAST = 0.001
"""Smallest value of a factor that a curve may predict.

A factor whose curve falls below it gets a curve that stays above 0. If that curve also falls below it, the factor is
set to this value: the curve has no meaning there.
"""
_DRAWS = 20_000
_SEED = 4093


@dataclass(frozen=True)
class PredictionInterval:
    """A predicted value and its prediction interval, in which a new measurement is expected.

    Attributes:
        low: Lower end of the interval. None: there are too few runs for an interval.
        high: Upper end of the interval. None: as `low`.
    """

    value: float
    low: float | None
    high: float | None


@dataclass(frozen=True)
class PredictedFactor:
    """A factor of the model at a larger rank count.

    Attributes:
        value: The factor's predicted value: its curve's value, for an amount relative to the reference run.
        quotient: Contribution to the speedup, relative to the reference run.
    """

    factor: SpeedupFactor
    value: PredictionInterval
    quotient: float
    floored: bool  # the curve fell below LEAST


@dataclass(frozen=True)
class PredictedRun:
    """Prediction for one rank count."""

    ranks: int
    linear: float  # linear speedup: number of threads / number of the reference's threads
    factors: tuple[PredictedFactor, ...]
    speedup: PredictionInterval  # speedup as the product of the factors
    method: str  # method of `expected`: MODEL, or a baseline that predicted held-out runs better
    expected: PredictionInterval  # speedup by `method`; at least as wide as its errors at held-out runs
    period_ns: PredictionInterval  # time of an iteration that follows from `expected`
    baselines: dict[str, float | None]  # speedup by baseline method; None: too few rank counts
    measured: float | None  # measured speedup of a run with this rank count; None: there is no such run
    observed_worst: str | None  # key of the factor with the smallest quotient in that run

    @property
    def worst(self) -> PredictedFactor | None:
        """The factor with the smallest quotient. None: no quotient is below 1 - `NEAR` (0.98)."""
        found = min(self.factors, key=lambda one: one.quotient)
        return found if found.quotient < 1 - NEAR else None

    def error(self, predicted: float | None) -> float | None:
        """Return the relative error |predicted / measured - 1| of a speedup. None: one of them is not known."""
        return None if predicted is None or not self.measured else abs(predicted / self.measured - 1)


@dataclass(frozen=True)
class SpeedupPrediction(InNotebook):
    """Predicted speedups and factors, and the runs to which the curves were fitted."""

    fitted: Speedup
    curves: tuple[tuple[SpeedupFactor, FittedCurve], ...]
    bounded: tuple[SpeedupFactor, ...]  # factors whose own curve would fall below 0; they have ln y = a + b ln P
    held_out: HeldOutErrors | None  # errors of the methods; None: there are too few rank counts
    predicted: tuple[PredictedRun, ...]


def predict(
    runs: Sequence[SpeedupParameters], ranks: Sequence[int], selector: Selector, kind: str | None = None
) -> SpeedupPrediction:
    """Predict the speedup at each of some rank counts by extrapolating the factors of the model.

    Runs at a predicted rank count are not fitted, but compared. Only the factors of equation 4.13 are extrapolated; the
    clock is taken as constant.

    Args:
        runs: Measured runs.
        ranks: Rank counts to predict.
        selector: Function that fits a curve to a factor.
        kind: Kind of scaling, STRONG or WEAK. None: as the runs show.

    Raises:
        TracelibError: Fewer than two rank counts are left to fit, or runs have different numbers of threads per rank.
    """
    kept = [run for run in runs if run.ranks not in ranks]
    if len({run.ranks for run in kept}) < 2:
        raise TracelibError(
            "a prediction needs runs at two rank counts at least, better three, beside those to predict",
            "name more runs",
        )
    per_rank = {run.threads / run.ranks for run in runs}
    if len(per_rank) > 1:
        raise TracelibError(
            "the runs have different numbers of threads per rank", "name runs that differ in ranks only"
        )
    model = speedup(runs, kind)
    model = Speedup(tuple(run for run in model.runs if run in kept), model.kind, model.factors, model.notes)
    factors = [factor for factor in model.factors if factor.in_model]
    p = np.array([run.ranks for run in model.runs], float)
    curves = tuple((factor, _curve(model, factor, p, selector, ranks)) for factor in factors)
    asked = [_curve(model, factor, p, selector, p.tolist()) for factor in factors]
    bounded = [factor for (factor, curve), of in zip(curves, asked, strict=True) if curve.text() != of.text()]
    held = {run.ranks: run for run in runs if run.ranks in ranks}
    width = next(iter(per_rank))
    shown = _held_out(model, factors, selector)
    linear = [number * width / model.reference.threads for number in ranks]
    found = [
        _at(model, curves, shown, number, of_number, held.get(number))
        for number, of_number in zip(ranks, linear, strict=True)
    ]
    return SpeedupPrediction(model, curves, tuple(bounded), shown, tuple(found))


def _held_out(model: Speedup, factors: Sequence[SpeedupFactor], selector: Selector) -> HeldOutErrors | None:
    """Predict each of the largest runs from the smaller ones by all methods."""
    p = np.array([run.ranks for run in model.runs], float)
    measured = np.array([model.measured(run) for run in model.runs])

    def by_method(i: int) -> dict[str, float | None]:
        known = p < p[i]
        fewer = Speedup(tuple(compress(model.runs, known)), model.kind, model.factors, model.notes)
        product = model.linear(model.runs[i])
        for factor in factors:
            value = _possible(factor, np.asarray(_curve(fewer, factor, p[known], selector, [p[i]]).value(p[i])))
            product *= float(_quotient(fewer, factor, value))
        return {MODEL: product} | baselines(p[known], measured[known], p[i])

    return held_out(p, measured, by_method)


def _curve(
    model: Speedup, factor: SpeedupFactor, p: np.ndarray, selector: Selector, at: Sequence[float]
) -> FittedCurve:
    """Fit the curve of a factor.

    Shares and rates are fitted as they are. Amounts are fitted relative to the reference (with weak scaling, per rank),
    or as the reciprocal of that if they fall. The curve stays above `LEAST` at the rank counts `at`.
    """
    selector = staying_above(LEAST, selector, at)
    if not factor.is_amount:
        return selector(p, np.array([factor.of(run) or 0.0 for run in model.runs]))
    quotients = np.array([model.moved_by(factor, run).quotient for run in model.runs])
    if quotients[p.argmax()] > quotients[p.argmin()]:
        return ReciprocalCurve(selector(p, quotients))
    return selector(p, 1 / quotients)


def _at(
    model: Speedup, curves: Sequence[tuple[SpeedupFactor, FittedCurve]], shown: HeldOutErrors | None,
    ranks: int, linear: float,
    run: SpeedupParameters | None,
) -> PredictedRun:  # fmt: skip
    rng = np.random.default_rng(_SEED)
    found, drawn, product = [], np.full(_DRAWS, linear), linear
    sure = True
    for factor, curve in curves:
        value = curve.value(ranks)
        draws = curve.drawn(ranks, _DRAWS, rng)
        kept = _possible(factor, np.asarray(value))
        quotient = float(_quotient(model, factor, kept))
        product *= quotient
        interval = PredictionInterval(float(kept), None, None)
        if draws is None:
            sure = False
        else:
            possible = _possible(factor, draws)
            drawn = drawn * _quotient(model, factor, possible)
            interval = _interval(float(kept), possible)
        found.append(PredictedFactor(factor, interval, quotient, floored=value < LEAST))
    s = _interval(product, drawn) if sure else PredictionInterval(product, None, None)
    p = np.array([r.ranks for r in model.runs], float)
    measured = np.array([model.measured(r) for r in model.runs])
    worst = model.undermining(run) if run else None
    others = baselines(p, measured, ranks)
    method = shown.chosen if shown else MODEL
    expected = s if method == MODEL else _by_baseline(method, p, measured, ranks, others, rng)
    if shown:
        expected = _widened(expected, shown.growth[method] * max(log(ranks / p.max()), 0.0))
    return PredictedRun(
        ranks,
        linear,
        tuple(found),
        s,
        method,
        expected,
        _times(model, linear, expected),
        others,
        model.measured(run) if run else None,
        worst.factor.key if worst else None,
    )


def _by_baseline(
    method: str, p: np.ndarray, measured: np.ndarray, ranks: int, values: dict[str, float | None],
    rng: np.random.Generator,
) -> PredictionInterval:  # fmt: skip
    """Return the speedup by a baseline method, at least `LEAST`. "quadratic" has no interval."""
    value = max(values[method] or 0.0, LEAST)
    lines = {"linear": LINEAR, "log-linear": FORMS["log"]}
    drawn = fitted(lines[method])(p, measured).drawn(ranks, _DRAWS, rng) if method in lines else None
    return PredictionInterval(value, None, None) if drawn is None else _interval(value, np.maximum(drawn, LEAST))


def _widened(interval: PredictionInterval, off: float) -> PredictionInterval:
    """Widen an interval so that it reaches at least from value * exp(-off) to value * exp(off)."""
    least, most = interval.value * exp(-off), interval.value * exp(off)
    return PredictionInterval(interval.value, min(interval.low or least, least), max(interval.high or most, most))


def _possible(factor: SpeedupFactor, values: np.ndarray) -> np.ndarray:
    """Return values within the possible range: at least `LEAST`, for shares at most 1."""
    return np.clip(values, LEAST, 1.0 if factor.is_share else None)


def _quotient(model: Speedup, factor: SpeedupFactor, value: np.ndarray) -> np.ndarray:
    return 1 / value if factor.is_amount else value / (factor.of(model.reference) or 1.0)


def _interval(value: float, drawn: np.ndarray) -> PredictionInterval:
    low, high = np.quantile(drawn, ((1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2))
    return PredictionInterval(value, float(min(low, value)), float(max(high, value)))


def _times(model: Speedup, linear: float, s: PredictionInterval) -> PredictionInterval:
    """Return the interval of the time T(P) = T_p0 / S. With weak scaling T_p0 is multiplied by P / P_0."""
    base = model.reference.period_ns * (linear if model.kind == WEAK else 1.0)
    low, high = (None if bound is None else base / bound for bound in (s.high, s.low))
    return PredictionInterval(base / s.value, low, high)
