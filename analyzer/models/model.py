"""A model: a formula of the parameters, the weighted models behind it, and predictions with intervals."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import stdtrit

from analyzer.errors import TracelibError
from analyzer.models.averaging import WeightedModel, central, consensus, interval
from analyzer.models.choose.shapes import rounded, rounding_error
from analyzer.models.terms.product import Product, plain
from analyzer.models.terms.writing import in_python

CONFIDENCE = 0.95
CHOSEN = "evidence"
"""Name of the criterion of models whose terms were chosen from the data."""


_LARGEST = 1e150
"""Largest value of a term: squares of larger values overflow."""
_CACHED = ("_formula", "_values", "_table", "_all_terms", "_rounded")


@dataclass(frozen=True)
class ModelPrediction:
    """A predicted value.

    Attributes:
        value: Value on which the weighted models agree best, see `averaging.consensus`.
        interval: Interval that contains the expected value with 95 % probability.
    """

    value: float
    interval: tuple[float, float]


@dataclass(frozen=True)
class Model:
    """A model of an observable: several weighted models, of which the first is selected.

    Attributes:
        members: The weighted models, the selected one first.
        criterion: Name of the criterion, and the selected model's score.
        relative: Errors are shares of the value.
        ranges: Least and largest value of each parameter in the data.
        cross_validation_error: Root mean square of the relative errors of settings that were left out. NaN: not known.
        notes: Notes for reports.
        whole: Model of all described terms. Its intervals do not depend on the choice of terms. None: there is none.
    """

    observable: str
    parameters: tuple[str, ...]
    members: tuple[WeightedModel, ...]
    criterion: tuple[str, float]
    relative: bool
    ranges: Mapping[str, tuple[float, float]]
    cross_validation_error: float = float("nan")
    notes: tuple[str, ...] = field(default=())
    whole: WeightedModel | None = None

    @property
    def selected(self) -> WeightedModel:
        """The selected model, the first of `members`."""
        return self.members[0]

    @property
    def terms(self) -> list[str]:
        """Terms of the selected model as texts."""
        return [str(term) for term in self.selected.terms]

    def __str__(self) -> str:
        """Return the selected model's formula."""
        return formula_text(self.selected)

    def __call__(self, **values: float) -> float:
        """Evaluate only the selected model's formula, within about a microsecond."""
        return self._formula(**values)

    def predict(self, **values: float) -> float:
        """Predict the observable by all weighted models together.

        Raises:
            TracelibError: The names are not the names of the parameters, or the model has no value there.
        """
        said, _ = self._at(values)
        return consensus(said, self._table[1])

    def central(self, **values: float) -> WeightedModel:
        """Return the weighted model whose value `predict` gives at a point."""
        return self.members[central(self._at(values)[0], self._table[1])]

    def prediction(self, **values: float) -> ModelPrediction:
        """Predict the observable with its 95 % interval.

        The interval does not go below 0 if errors are relative and the value is above 0.
        """
        said, terms = self._at(values)
        value = consensus(said, self._table[1])
        low, high = self._interval(said, terms, values) if self.whole is None else self._of_whole(self.whole, values)
        if self.relative:
            low = min(max(low, 0.0), value) if value > 0 else low
        return ModelPrediction(value, (min(low, value), max(high, value)))

    def _of_whole(self, whole: WeightedModel, values: Mapping[str, float]) -> tuple[float, float]:
        terms = np.array([float(term.value(values)) for term in whole.terms])
        value, error = whole.coefficients @ terms, whole.sigma * np.linalg.norm(whole.spread @ terms)
        if not np.isfinite(value) or not np.isfinite(error):  # a term that was not selected has no value there
            return -math.inf, math.inf
        reach = float(stdtrit(whole.freedom, (1 + CONFIDENCE) / 2) * error)
        return float(value) - reach, float(value) + reach

    def _interval(self, said: np.ndarray, terms: np.ndarray, values: Mapping[str, float]) -> tuple[float, float]:
        _, weights, freedom, sigma, spread = self._table
        errors = sigma * np.sqrt(((spread @ terms) ** 2).sum(1))
        if self.criterion[0] == CHOSEN:
            errors = np.hypot(errors, rounding_error(self._rounded, values, self.ranges) * said)
        return interval(said, errors, freedom, weights, CONFIDENCE)

    def beyond(self, **values: float) -> list[str]:
        """Return sentences about values that lie outside of the measured ranges."""
        return [
            f"{name} = {value:g} lies outside of the measured {low:g} to {high:g}"
            for name, value in values.items()
            for low, high in [self.ranges[name]]
            if not low <= value <= high
        ]

    def __getstate__(self) -> dict[str, Any]:
        """Return the state without compiled formulas, which cannot be pickled."""
        return {k: v for k, v in self.__dict__.items() if k not in _CACHED}

    @cached_property
    def _rounded(self) -> tuple[frozenset[str], ...]:
        return tuple(rounded(member) for member in self.members)

    @cached_property
    def _all_terms(self) -> tuple[Product, ...]:
        return tuple(dict.fromkeys(term for member in self.members for term in member.terms))

    @cached_property
    def _table(self) -> tuple[np.ndarray, ...]:
        """Numbers of all members: coefficients, weights, freedom, sigma and spread.

        Coefficients have shape (members, all terms), spread has shape (members, q, all terms).
        """
        place = {term: k for k, term in enumerate(self._all_terms)}
        widest = max(len(member.spread) for member in self.members)
        coefficients = np.zeros((len(self.members), len(place)))
        spread = np.zeros((len(self.members), widest, len(place)))
        for m, member in enumerate(self.members):
            at = [place[term] for term in member.terms]
            coefficients[m, at] = member.coefficients
            spread[m, : len(member.spread), at] = member.spread.T
        columns = (np.array([getattr(m, name) for m in self.members], float) for name in ("weight", "freedom", "sigma"))
        return (coefficients, *columns, spread)

    @cached_property
    def _values(self) -> Callable[..., tuple[float, ...]]:
        return _compiled(self.parameters, "(" + "".join(f"{in_python(term)}, " for term in self._all_terms) + ")")

    @cached_property
    def _formula(self) -> Callable[..., float]:
        return _compiled(self.parameters, formula_code(self.selected))

    def _at(self, values: Mapping[str, float]) -> tuple[np.ndarray, np.ndarray]:
        """Evaluate each member, and all terms, at a point. Raises TracelibError if the model has no value there."""
        try:
            terms = np.array(self._values(**values), float)
            if not np.abs(terms).max() < _LARGEST:
                raise OverflowError
        except TypeError as error:
            raise TracelibError(f"the model is of {', '.join(self.parameters)}", "give each of them once") from error
        except (ValueError, ZeroDivisionError, OverflowError) as error:
            said = ", ".join(f"{name}={value:g}" for name, value in values.items())
            raise TracelibError(
                f"the model has no value at {said}", "predict where all its terms are defined"
            ) from error
        return self._table[0] @ terms, terms


def _compiled(parameters: Sequence[str], expression: str) -> Callable[..., Any]:
    """Compile a function of the parameters. The expression is made of products, whose names are identifiers."""
    return eval(f"lambda {', '.join(parameters)}: {expression}", {"math": math, "pow": pow, "__builtins__": _BUILTINS})


_BUILTINS = {"float": float, "min": min, "max": max}


def formula_code(member: WeightedModel) -> str:
    """Return a weighted model's formula as an expression of Python."""
    return " + ".join(
        f"{float(c)!r} * {in_python(term)}" for c, term in zip(member.coefficients, member.terms, strict=True)
    )


def formula_text(member: WeightedModel) -> str:
    """Return a weighted model's formula as text, with coefficients of five digits."""
    text = ""
    for c, term in zip(member.coefficients, member.terms, strict=True):
        sign = (" - " if c < 0 else " + ") if text else ("-" if c < 0 else "")
        written = plain(term)
        product = f"{abs(c):.5g}" if term.constant else _with_factor(f"{abs(c):.5g}", written)
        text += sign + product
    return text


def _with_factor(factor: str, term: str) -> str:
    return factor + term[1:] if term.startswith("1/") else f"{factor}*{term}"
