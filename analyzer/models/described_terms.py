"""Models of terms that the user described: search, fit and weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product as combinations

import numpy as np

from analyzer.errors import TracelibError
from analyzer.models.averaging import WeightedModel
from analyzer.models.fitting.criteria import akaike_weights, criterion_of
from analyzer.models.fitting.cross_validation import settings_of
from analyzer.models.fitting.least_squares import fit_columns, relative_weights
from analyzer.models.fitting.relative import expected_weights
from analyzer.models.measurements import Measurements
from analyzer.models.search.elimination import eliminate
from analyzer.models.search.exact import MOST_TERMS, search_all
from analyzer.models.search.genetic import GeneticOptions, GeneticResult, best_of, search_genetically
from analyzer.models.search.selection import ModelSelection, whole
from analyzer.models.search.space import make_space
from analyzer.models.terms.formula import Formula
from analyzer.models.terms.language import candidates
from analyzer.models.terms.product import Product, by_text

MOST_MEMBERS = 60
SEARCHES = ("auto", "exact", "genetic", "elimination", "none")
"""Searches by name.

"none" takes one model of all terms (PROBE of the library cll; TIA, 2.5). "elimination" drops terms one by one.
"""
WEIGHTINGS = ("relative", "measured", "ordinary")
"""Divisors of squared distances: squares of expected values, squares of measured values (TIA, F20), or 1."""
_FROM_ALL = ("elimination", "none")
"""Searches that begin with the model of all terms."""
_BEYOND = 4
"""Factor beyond the largest value of a parameter up to which values must not be negative."""
_LEVELS = 6
_MOST_POINTS = 20_000


@dataclass(frozen=True)
class FitOptions:
    """Options for fitting described terms.

    Attributes:
        degree: Largest number of groups in a term, see `candidates`.
        criterion: Name of the information criterion, one of CRITERIA.
        weighting: One of WEIGHTINGS.
        search: One of SEARCHES.
        genetics: Settings of genetic searches. Each is run; the best model of all counts.
        most_error: Largest relative error of a model. None: no limit.
        non_negative: Coefficients must not be negative.
        physical: Values must not be negative, in the range of the data and up to four times beyond.
        repetitions: How repeated measurements become one, a name in REPETITIONS. "all": each counts.
        coefficient_error: Largest relative error of a coefficient that "elimination" keeps.
    """

    degree: int | None = None
    criterion: str = "aicc"
    weighting: str = "relative"
    search: str = "auto"
    genetics: tuple[GeneticOptions, ...] = (GeneticOptions(),)
    most_error: float | None = None
    non_negative: bool = False
    physical: bool = False
    repetitions: str = "all"
    coefficient_error: float = 0.5

    @property
    def relative(self) -> bool:
        """True if errors are shares of the value."""
        return self.weighting != "ordinary"


DEFAULTS = FitOptions()


def described_terms(data: Measurements, terms: str | Formula, options: FitOptions) -> list[Product]:
    """Return the candidate terms of a description or of a formula.

    Raises:
        TracelibError: The description cannot be read, or a term has a name that is no parameter.
    """
    if isinstance(terms, Formula):
        described = list(dict.fromkeys(term.term for term in terms.terms.values()))
    else:
        described = candidates(terms, options.degree)
    strange = sorted(set().union(*(term.names() for term in described)) - set(data.values))
    if strange:
        raise TracelibError(f"the terms have {', '.join(strange)}, which is no parameter", "add it to --parameters", 2)
    return described


def weights(data: Measurements, described: Sequence[Product], options: FitOptions) -> np.ndarray:
    """Return the weight of each row by `options.weighting`, shape (rows,).

    Raises:
        TracelibError: A measured value is 0, and the weighting is relative.
    """
    if options.weighting == "ordinary":
        return np.ones(len(data.observed))
    if not data.observed.all():
        raise TracelibError(f"{data.observable} is 0 in some rows", "use --weighting ordinary")
    if options.weighting == "measured":
        return relative_weights(data.observed)
    columns = _columns(described, data.values)
    columns = columns[:, np.isfinite(columns).all(0)]
    if not columns.any():
        return relative_weights(data.observed)  # the search will say that no term is left
    criterion = None if options.search in _FROM_ALL else options.criterion
    return expected_weights(columns, data.observed, settings_of(data.values), criterion)


def selected(
    data: Measurements, described: Sequence[Product], weight: np.ndarray, options: FitOptions
) -> tuple[ModelSelection, tuple[GeneticResult, ...]]:
    """Select the best models of described terms.

    They come from the search of `options`: all models, models that genetic searches met, the model that is left after
    terms were dropped, or the model of all terms.

    Args:
        data: The measurements.
        described: The candidate terms.
        weight: Weight of each row, shape (rows,).
        options: Options of the fit.

    Returns:
        The models, and the results of genetic searches.

    Raises:
        TracelibError: No model can be fitted, or the search cannot have such options.
    """
    space = make_space(described, data.values, data.observed, weight)
    criterion = criterion_of(options.criterion, weight, len(space.terms))
    if options.search == "none":
        return whole(space, criterion), ()
    if options.search == "elimination":
        return eliminate(space, criterion, options.coefficient_error), ()
    many = len(space.terms) > MOST_TERMS
    if options.search == "genetic" or (many and options.search == "auto"):
        if options.non_negative or options.most_error is not None:
            raise TracelibError("a genetic search has no such conditions", f"describe at most {MOST_TERMS} terms", 2)
        every = tuple(search_genetically(space, criterion, how) for how in options.genetics)
        return best_of(every).selection, every
    positive = np.ones(len(space.terms), bool) if options.non_negative else None
    return search_all(space, criterion, most_error=options.most_error, positive=positive), ()


def members_of(
    selection: ModelSelection, data: Measurements, weight: np.ndarray, options: FitOptions
) -> tuple[list[WeightedModel], float]:
    """Fit the models of largest weight. Return them by weight, and the best model's score.

    Args:
        selection: The selected models.
        data: The measurements.
        weight: Weight of each row, shape (rows,).
        options: Options of the fit.
    """
    points = _points(data) if options.physical else None
    members, scores = [], []
    for model in selection.models[:MOST_MEMBERS]:
        terms = by_text(selection.terms_of(model))
        conditions = None if points is None else _columns(terms, points)
        if options.non_negative and options.search in _FROM_ALL:
            conditions = np.eye(len(terms)) if conditions is None else np.vstack([conditions, np.eye(len(terms))])
        fitted = fit_columns(_columns(terms, data.values), data.observed, weight, conditions)
        score = float(selection.criterion.score(len(terms), max(fitted.rss, selection.space.least_rss)))
        members.append(WeightedModel(terms, fitted.coefficients, fitted.spread, fitted.sigma, fitted.freedom, 0.0))
        scores.append(score)
    weights = akaike_weights(np.array(scores))
    order = np.argsort(-weights, kind="stable")
    return [members[k].with_weight(float(weights[k])) for k in order], float(min(scores))


def everything(selection: ModelSelection, data: Measurements, weight: np.ndarray) -> WeightedModel | None:
    """Fit one model of all terms that the data can tell apart.

    The intervals of this model are valid whatever the choice of terms was. Intervals of models that were chosen from
    the same data are too narrow (Hjort and Claeskens 2003; Leeb and Poetscher 2005).

    Args:
        selection: The selected models.
        data: The measurements.
        weight: Weight of each row, shape (rows,).

    Returns:
        The model. None: there are too few rows.
    """
    terms = by_text(selection.space.independent)
    fitted = fit_columns(_columns(terms, data.values), data.observed, weight)
    if fitted.freedom < 1:
        return None
    return WeightedModel(terms, fitted.coefficients, fitted.spread, fitted.sigma, fitted.freedom, 0.0)


def fitted_as(selection: ModelSelection, model: np.ndarray) -> WeightedModel:
    """Return one of the selected models with coefficients and their errors.

    Args:
        selection: The selected models.
        model: Mask of the model's terms, shape (terms,).
    """
    space, terms = selection.space, by_text(selection.terms_of(model))
    places = [space.terms.index(term) for term in terms]
    fitted = fit_columns(space.triangle[:, places], space.triangle[:, -1], np.ones(len(space.triangle)))
    length, freedom = space.length[places], space.rows - len(terms)
    sigma = selection.relative_error(fitted.rss, len(terms))
    return WeightedModel(terms, fitted.coefficients / length, fitted.spread / length, sigma, freedom, 0.0)


def _columns(terms: Sequence[Product], values: dict[str, np.ndarray]) -> np.ndarray:
    rows = next(iter(values.values())).shape
    return np.column_stack([np.broadcast_to(np.asarray(term.value(values), float), rows) for term in terms])


def _points(data: Measurements) -> dict[str, np.ndarray]:
    """Return points at which values must not be negative: combinations of a few values of each parameter.

    The values lie in the range of the data, and one lies beyond it.
    """
    levels = []
    for column in data.values.values():
        distinct = np.unique(column)
        places = np.linspace(0, len(distinct) - 1, _LEVELS).round().astype(int)
        beyond = _BEYOND * distinct[-1] if distinct[-1] > 0 and len(distinct) > 1 else distinct[-1]
        levels.append(np.unique([*distinct[places], beyond]))
    if np.prod([len(level) for level in levels]) > _MOST_POINTS:
        return data.values
    together = np.array(list(combinations(*levels)))
    return {name: together[:, k] for k, name in enumerate(data.values)}
