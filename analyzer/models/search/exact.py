"""Exhaustive search over all subsets of up to 30 terms (TIA, 3.4 and 3.5), in C and in bounded memory."""

from __future__ import annotations

from typing import Any

import numpy as np

from analyzer._kernels import ffi, lib
from analyzer.c_arrays import pointer
from analyzer.errors import TracelibError
from analyzer.models.fitting.criteria import SelectionCriterion
from analyzer.models.search.selection import CONFIDENCE, ModelSelection, in_order, within
from analyzer.models.search.space import TermSpace, none_can_be_fitted

MOST_TERMS = 30
KEPT = 10_000
_NEGLIGIBLE = 1e-6
"""Share of the sum of all weights that may be neglected."""
_BINS = 4096
_DEPENDENT = 1e-12


def search_all(
    space: TermSpace,
    criterion: SelectionCriterion,
    keep: int = KEPT,
    most_error: float | None = None,
    positive: np.ndarray | None = None,
) -> ModelSelection:
    """Find the best of all 2^N - 1 models of N terms by a criterion.

    Args:
        space: The candidate terms on the data, at most 30.
        criterion: Criterion that scores models.
        keep: Largest number of models to return.
        most_error: Largest relative error; models with a larger one are excluded (TIA, L1516). None: no limit.
        positive: Mask of terms whose coefficients must not be negative, shape (terms,). Models whose least squares need
            a negative one are excluded, since another model is their non-negative fit. None: no condition.

    Raises:
        TracelibError: There are more than 30 terms, or no model is left.
    """
    terms = len(space.terms)
    if terms > MOST_TERMS:
        raise TracelibError(
            f"{terms} terms are too many to try all models", f"at most {MOST_TERMS}: search genetically"
        )
    problem, alive = _problem(space, criterion, most_error, positive)
    masks, scores = np.zeros(keep, np.uint32), np.zeros(keep)
    of_size, rss_of_size = np.zeros(terms + 1, np.uint32), np.zeros(terms + 1)
    number = lib.subsets_best(problem, keep, _u32(masks), _f64(scores), _u32(of_size), _f64(rss_of_size))
    if not number:
        raise _none_left(space, most_error)
    models = _bits(masks[:number], terms)
    rss = space.rss(models)
    scores = criterion.score(models.sum(1), rss)
    order = in_order(scores, models)
    models, rss, scores = models[order], rss[order], scores[order]
    total, importance, importance_90 = _weigh(problem, terms, models, scores)
    del alive
    sizes = np.flatnonzero(of_size)
    per_size = _bits(of_size[sizes], terms)
    rss_per_size = space.rss(per_size)
    best_of = zip(per_size, criterion.score(sizes, rss_per_size).tolist(), rss_per_size.tolist(), strict=True)
    weights = np.exp(-(scores - scores[0]) / 2) / total
    return ModelSelection(
        space, criterion, models, scores, rss, weights, importance, importance_90, tuple(best_of), 2**terms - 1
    )


def _problem(
    space: TermSpace, criterion: SelectionCriterion, most_error: float | None, positive: np.ndarray | None
) -> tuple[Any, list[np.ndarray]]:
    """Return the problem as a C structure, and the arrays that must live as long as it."""
    terms = len(space.terms)
    sizes = np.arange(terms + 1)
    penalty = np.ascontiguousarray(criterion.penalty(sizes), float)
    cap = np.full(terms + 1, np.inf)
    if most_error is not None:
        cap = np.maximum(space.rows - sizes, 0) * most_error**2 * (1 + 1e-12)
    r = np.ascontiguousarray(space.triangle[:terms])
    problem = ffi.new("struct subset_problem *")
    problem.r, problem.penalty, problem.cap = _f64(r), _f64(penalty), _f64(cap)
    problem.tail = float(space.triangle[terms, -1] ** 2)
    problem.rows, problem.least_rss, problem.dependent = space.rows, space.least_rss, _DEPENDENT
    problem.columns = terms
    problem.positive = 0 if positive is None else int((1 << np.flatnonzero(positive).astype(object)).sum())
    return problem, [r, penalty, cap]


def _weigh(problem: Any, terms: int, models: np.ndarray, scores: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
    """Return the sum of all weights relative to the best model's weight, and two importances of each term.

    The first importance is over all models, the second over the 90 % set.
    """
    best = float(scores[0])
    cut = 2 * (terms * np.log(2) - np.log(_NEGLIGIBLE))
    total, importance, weights, _ = _sums(problem, terms, best, cut)
    kept = np.exp(-(scores - best) / 2) / total
    if kept.sum() > CONFIDENCE:
        return total, importance / total, within(models, kept)
    edge = int(np.searchsorted(np.cumsum(weights) / total, CONFIDENCE)) + 1
    _, importance_90, _, _ = _sums(problem, terms, best, cut * edge / _BINS)
    return total, importance / total, importance_90 / total


def _sums(problem: Any, terms: int, best: float, cut: float) -> tuple[float, np.ndarray, np.ndarray, np.ndarray]:
    importance, weights, numbers = np.zeros(terms), np.zeros(_BINS), np.zeros(_BINS, np.int64)
    total = lib.subsets_weigh(problem, best, cut, _f64(importance), _f64(weights), pointer(numbers, "int64_t *"), _BINS)
    return total, importance, weights, numbers


def _none_left(space: TermSpace, most_error: float | None) -> TracelibError:
    if most_error is not None:
        return TracelibError(f"no model has an error of at most {most_error:g}", "allow a larger one, or add terms")
    return none_can_be_fitted(space)


def _bits(masks: np.ndarray, terms: int) -> np.ndarray:
    return (masks[:, None] >> np.arange(terms, dtype=np.uint32) & 1).astype(bool)


def _u32(array: np.ndarray) -> Any:
    return pointer(array, "uint32_t *")


def _f64(array: np.ndarray) -> Any:
    return pointer(array, "double *")
