"""Fit of a model to a table, with described terms or with terms chosen from the data, and advice on the result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from analyzer.in_notebook import InNotebook
from analyzer.models.averaging import WeightedModel
from analyzer.models.choose.likely_models import choose_models
from analyzer.models.described_terms import (
    DEFAULTS,
    FitOptions,
    described_terms,
    everything,
    members_of,
    selected,
    weights,
)
from analyzer.models.fitting.cross_validation import cross_validation_error, largest, settings_of
from analyzer.models.fitting.least_squares import fit_columns, relative_weights
from analyzer.models.guidance import guidance
from analyzer.models.measurements import Measurements, measurements_of
from analyzer.models.model import CHOSEN, Model
from analyzer.models.search.genetic import GeneticResult
from analyzer.models.search.selection import ModelSelection
from analyzer.models.terms.formula import Formula
from analyzer.models.terms.names import identifiers, with_identifiers
from analyzer.models.terms.product import Product

if TYPE_CHECKING:
    import pandas

_SAME = 1e-12
"""Singular values below this share of the largest one count as rounding errors."""
_NONE = 1e-6


@dataclass(frozen=True)
class Coefficient:
    """A coefficient of a formula that the user stated.

    Attributes:
        term: Product by which the formula multiplies the coefficient.
        value: Fitted value. None: the data cannot tell the term from others.
        standard_error: Its standard error. None: as `value`.
    """

    name: str
    term: Product
    value: float | None
    standard_error: float | None


def coefficients_of(
    formula: Formula, member: WeightedModel, values: Mapping[str, np.ndarray]
) -> tuple[Coefficient, ...]:
    """Return the coefficients of a stated formula from a fitted model of its terms.

    Args:
        formula: The formula.
        member: Fitted model of the formula's terms, or of those that the data can tell apart.
        values: Measured values of each parameter by name, shape (rows,).

    Returns:
        The formula's coefficients, in its order.
    """
    errors = dict(zip(member.terms, member.standard_errors.tolist(), strict=True))
    fitted = dict(zip(member.terms, member.coefficients.tolist(), strict=True))
    found = []
    for (name, term), known in zip(formula.terms.items(), _told_apart(formula, values), strict=True):
        plain, factor = term.term, term.factor
        if not known or plain not in fitted:
            found.append(Coefficient(name, term, None, None))
        else:
            found.append(Coefficient(name, term, fitted[plain] / factor, errors[plain] / abs(factor)))
    return tuple(found)


def _told_apart(formula: Formula, values: Mapping[str, np.ndarray]) -> np.ndarray:
    """Return a mask of the terms whose coefficient the data determine: no other terms can compensate a change."""
    rows = next(iter(values.values())).shape
    columns = np.column_stack(
        [np.broadcast_to(np.asarray(term.value(values), float), rows) for term in formula.terms.values()]
    )
    length = np.linalg.norm(np.where(np.isfinite(columns), columns, 0.0), axis=0)
    usable = np.isfinite(columns).all(0) & (length > 0)
    scaled = columns[:, usable] / length[usable]
    _, singular, turned = np.linalg.svd(scaled, full_matrices=True)
    rank = int((singular > _SAME * singular[0]).sum()) if len(singular) else 0
    known = np.zeros(len(usable), bool)
    known[usable] = np.linalg.norm(turned[rank:], axis=0) < _NONE
    return known


@dataclass(frozen=True)
class ModelStudy(InNotebook):
    """A fitted model with the measurements, the search and advice.

    Attributes:
        selection: The best models of described terms. None: terms were chosen from the data.
        found: Results of genetic searches, one for each configuration.
        hold_out_error: Root mean square of the relative errors of the largest settings, predicted from the smaller
            ones. NaN: there are too few settings.
        guidance: Sentences of advice.
        coefficients: Coefficients of the formula that was stated; () without a formula.
    """

    measurements: Measurements
    model: Model
    selection: ModelSelection | None
    found: tuple[GeneticResult, ...]
    hold_out_error: float
    guidance: tuple[str, ...]
    coefficients: tuple[Coefficient, ...] = ()

    @property
    def weights(self) -> list[float]:
        """Akaike weights of the model's members, as shares of all models that were tried."""
        members = self.model.members
        scale = float(self.selection.weights[0]) / members[0].weight if self.selection else 1.0
        return [member.weight * scale for member in members]


@dataclass(frozen=True)
class _Fitted:
    data: Measurements
    weight: np.ndarray
    model: Model
    selection: ModelSelection | None
    found: tuple[GeneticResult, ...]


def study(
    frame: pandas.DataFrame,
    observable: str,
    parameters: Sequence[str],
    terms: str | Formula | None = None,
    options: FitOptions = DEFAULTS,
) -> ModelStudy:
    """Fit an observable by a sum of terms of the parameters, with errors and advice.

    Args:
        frame: A table with a row for each measurement.
        observable: Column of the observable.
        parameters: Columns of the parameters. One such as `v[1]` has an identifier in formulas, `v_1`.
        terms: Candidate terms, as `candidates` reads them, or a formula whose coefficients are wanted. None: terms are
            chosen from the data.
        options: Options for described terms.

    Raises:
        TracelibError: A column is missing or not valid, or no model can be fitted.
    """
    of = _fitted(frame, observable, parameters, terms, options)
    held_out = _hold_out_error(of.data, of.model, terms is None, of.weight)
    said = guidance(of.data, of.model, of.selection)
    stated = coefficients_of(terms, of.model.selected, of.data.values) if isinstance(terms, Formula) else ()
    return ModelStudy(
        of.data, of.model, of.selection, of.found, held_out, (*_of_names(parameters, frame), *said), stated
    )


def _of_names(parameters: Sequence[str], frame: pandas.DataFrame) -> list[str]:
    renamed = identifiers(frame.columns)
    return [f"In formulas {name} is {renamed[name]}." for name in dict.fromkeys(parameters) if name in renamed]


def fit(
    frame: pandas.DataFrame,
    observable: str,
    parameters: Sequence[str],
    terms: str | Formula | None = None,
    options: FitOptions = DEFAULTS,
) -> Model:
    """Fit only the model of `study`, in a fraction of the time. Arguments and errors are as in `study`.

    >>> model = analyzer.fit(frame, "time", ["p", "n"])
    >>> model.predict(p=512, n=160)
    """
    return _fitted(frame, observable, parameters, terms, options).model


def _fitted(
    frame: pandas.DataFrame,
    observable: str,
    parameters: Sequence[str],
    terms: str | Formula | None,
    options: FitOptions,
) -> _Fitted:
    renamed = identifiers(frame.columns)
    frame = frame.rename(columns={name: new for name, new in renamed.items() if name != observable})
    data = measurements_of(frame, observable, [renamed.get(name, name) for name in parameters])
    data = data.put_together(options.repetitions)
    if isinstance(terms, str):
        terms = with_identifiers(terms, renamed)
    elif terms is not None:
        options = replace(options, search="none")
    if terms is None:
        relative = bool((data.observed > 0).all())
        members = choose_models(data.values, data.observed)
        weight = relative_weights(data.observed) if relative else np.ones(len(data.observed))
        return _Fitted(data, weight, _model(data, members, (CHOSEN, members[0].weight), relative, weight), None, ())
    described = described_terms(data, terms, options)
    weight = weights(data, described, options)
    selection, found = selected(data, described, weight, options)
    members, score = members_of(selection, data, weight, options)
    model = _model(data, members, (options.criterion, score), options.relative, weight)
    model = replace(model, whole=everything(selection, data, weight))
    return _Fitted(data, weight, model, selection, found)


def _model(
    data: Measurements,
    members: Sequence[WeightedModel],
    criterion: tuple[str, float],
    relative: bool,
    weight: np.ndarray,
) -> Model:
    ranges = {name: (float(x.min()), float(x.max())) for name, x in data.values.items()}
    columns = columns_of(members[0], data)
    error = cross_validation_error(columns, data.observed, weight, settings_of(data.values))
    return Model(data.observable, tuple(data.values), tuple(members), criterion, relative, ranges, error)


def columns_of(member: WeightedModel, data: Measurements) -> np.ndarray:
    """Return the values of a member's terms at the measurements, shape (rows, terms)."""
    return np.column_stack([np.broadcast_to(t.value(data.values), data.observed.shape) for t in member.terms])


def _hold_out_error(data: Measurements, model: Model, choosing: bool, weight: np.ndarray) -> float:
    """Predict the largest settings from the others. Return the root mean square of the relative errors.

    Terms that were chosen from the data are chosen again. Described terms only get new coefficients. NaN: too few
    settings.
    """
    out = largest(data.values)
    if len(np.unique(settings_of(data.rows(~out).values))) < 3 if (~out).any() else True:
        return float("nan")
    rest, held = data.rows(~out), data.rows(out)
    if choosing:
        members = tuple(choose_models(rest.values, rest.observed))
    else:
        columns = columns_of(model.selected, rest)
        if (
            len(columns) < columns.shape[1]
            or np.linalg.matrix_rank(columns / np.abs(columns).max(0)) < columns.shape[1]
        ):
            return float("nan")
        coefficients = fit_columns(columns, rest.observed, weight[~out]).coefficients
        members = (replace(model.selected, coefficients=coefficients),)
    smaller = replace(model, members=members)
    setting = settings_of(held.values)
    first = np.unique(setting, return_index=True)[1]
    points = [{name: float(column[row]) for name, column in held.values.items()} for row in first]
    with np.errstate(all="ignore"):
        errors = np.array([smaller.predict(**at) for at in points])[setting] / held.observed - 1
    return float(np.sqrt(np.mean(errors**2)))
