"""Sparse truths to be found again: one to four of 16 terms in p and n, 3 % noise; stepwise selection and LASSO."""

from dataclasses import dataclass
from itertools import product

import numpy as np

from analyzer.models.fitting.criteria import criterion_of
from analyzer.models.fitting.least_squares import fit_columns, relative_weights
from analyzer.models.search.exact import search_all
from analyzer.models.search.space import make_space
from analyzer.models.terms.language import candidates

TERMS = "{n,n^2,sqrt(n)},{p,1/p,log2(p)}"
BEYOND = 4
NOISE = 0.03
LEAST_SHARE = 0.1
"""Each term is at least this part of the time somewhere: nobody could find a smaller one."""


@dataclass(frozen=True)
class Planted:
    """terms of the language; values of the design; times; the numbers of the true terms, and the truth beyond."""

    terms: list
    values: dict
    times: np.ndarray
    true: frozenset
    beyond: float

    def columns(self, chosen=None):
        chosen = range(len(self.terms)) if chosen is None else chosen
        rows = self.times.shape
        return np.column_stack([np.broadcast_to(self.terms[k].value(self.values), rows) for k in chosen])

    def searched(self, criterion):
        """The numbers of the terms that the exact search selects."""
        weight = relative_weights(self.times)
        space = make_space(self.terms, self.values, self.times, weight)
        found = search_all(space, criterion_of(criterion, weight, len(space.terms)), keep=10)
        return frozenset(self.terms.index(term) for term in found.terms_of(found.best))


def planted(seed):
    """Seven values of p, five of n, four repetitions."""
    random = np.random.default_rng(seed)
    terms = candidates(TERMS)
    p, n = np.array([*product(2.0 ** np.arange(1, 8), 100 * 2.0 ** np.arange(5))]).repeat(4, 0).T
    values = {"p": p, "n": n}
    at = {"p": BEYOND * p.max(), "n": BEYOND * n.max()}
    while True:
        true = random.choice(len(terms), random.integers(1, 5), replace=False)
        columns = np.column_stack([np.broadcast_to(terms[k].value(values), p.shape) for k in true])
        coefficients = random.uniform(0.3, 3, len(true)) / columns.max(0)
        shares = columns * coefficients / (columns @ coefficients)[:, None]
        if shares.max(0).min() > LEAST_SHARE and np.linalg.cond(columns / np.linalg.norm(columns, axis=0)) < 30:
            break
    times = columns @ coefficients * (1 + NOISE * random.standard_normal(len(p)))
    beyond = sum(c * float(terms[k].value(at)) for c, k in zip(coefficients, true, strict=True))
    return Planted(terms, values, times, frozenset(true.tolist()), beyond)


def error_of(problem, chosen):
    """Return the error of the prediction beyond the design, with these terms."""
    chosen = sorted(chosen)
    found = fit_columns(problem.columns(chosen), problem.times, relative_weights(problem.times))
    at = {name: BEYOND * float(x.max()) for name, x in problem.values.items()}
    value = sum(c * float(problem.terms[k].value(at)) for c, k in zip(found.coefficients, chosen, strict=True))
    return abs(value / problem.beyond - 1)


def stepwise(problem):
    """Forward and backward by AIC, as R's step."""
    weight = relative_weights(problem.times)
    criterion = criterion_of("aic", weight)

    def score(chosen):
        if not chosen:
            return np.inf
        rss = fit_columns(problem.columns(sorted(chosen)), problem.times, weight).rss
        return float(criterion.score(len(chosen), rss))

    chosen, now = frozenset(), np.inf
    while True:
        around = [chosen ^ {k} for k in range(len(problem.terms))]
        scores = [score(other) for other in around]
        if min(scores) >= now:
            return chosen
        now, chosen = min(scores), around[int(np.argmin(scores))]


def lasso(problem, penalties=30, rounds=60):
    """Coordinate descent over columns of length 1 from the largest penalty down; the terms of least BIC."""
    y = np.ones(len(problem.times))
    columns = problem.columns() / problem.times[:, None]
    columns /= np.linalg.norm(columns, axis=0)
    gram, along = columns.T @ columns, columns.T @ y
    criterion, c, best = criterion_of("bic", y), np.zeros(columns.shape[1]), (np.inf, frozenset())
    for penalty in np.geomspace(np.abs(along).max() * 0.99, np.abs(along).max() * 1e-6, penalties):
        for _ in range(rounds):
            before = c.copy()
            for k in range(len(c)):
                free = along[k] - gram[k] @ c + c[k]
                c[k] = np.sign(free) * max(abs(free) - penalty, 0)
            if np.abs(c - before).max() < 1e-7 * np.abs(c).max():
                break
        chosen = frozenset(np.flatnonzero(c).tolist())
        rss = float(np.sum((y - columns @ c) ** 2))
        best = min(best, (float(criterion.score(len(chosen), rss)), chosen), key=lambda pair: pair[0])
    return best[1]
