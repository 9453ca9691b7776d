"""Sparse truths with 3 % noise are found again by their exact terms."""

import numpy as np
from planted_models import error_of, lasso, planted, stepwise


def test_exact_terms_in_at_least_80_percent_more_than_stepwise_and_lasso():
    problems = [planted(seed) for seed in range(200)]
    exact = [problem.searched("ebic") for problem in problems]
    assert np.mean([found == problem.true for found, problem in zip(exact, problems, strict=True)]) >= 0.8
    few, found = problems[:8], exact[:8]
    errors = {"exact": [error_of(problem, chosen) for problem, chosen in zip(few, found, strict=True)]}
    hits = {"exact": sum(chosen == problem.true for problem, chosen in zip(few, found, strict=True))}
    for name, select in (("stepwise", stepwise), ("lasso", lasso)):
        chosen = [select(problem) for problem in few]
        hits[name] = sum(terms == problem.true for problem, terms in zip(few, chosen, strict=True))
        errors[name] = [error_of(problem, terms) for problem, terms in zip(few, chosen, strict=True)]
    assert hits["exact"] > max(hits["stepwise"], hits["lasso"])
    assert np.median(errors["exact"]) <= np.median(errors["stepwise"])
    assert np.median(errors["exact"]) <= np.median(errors["lasso"])
