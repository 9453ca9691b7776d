"""The genetic search: it finds what the exact search finds, for a small part of its price (search-and-balance, 1)."""

import numpy as np
import pytest
from hpl_design import TERMS, measured

from analyzer.errors import TracelibError
from analyzer.models.fitting.criteria import criterion_of
from analyzer.models.fitting.least_squares import relative_weights
from analyzer.models.search.exact import search_all
from analyzer.models.search.genetic import Genetics, search_genetically
from analyzer.models.search.space import make_space
from analyzer.models.terms.language import candidates
from analyzer.models.terms.parsing import parse


@pytest.fixture(scope="module")
def hpl():
    values, y = measured(80)
    weight = relative_weights(y)
    return make_space(candidates(TERMS), values, y, weight), criterion_of("aicc", weight)


def test_half_of_the_runs_at_patience_30_find_the_optimum_for_less_than_a_hundredth(hpl):
    """The paper's 12 configurations, each from eight populations."""
    space, criterion = hpl
    optimum = search_all(space, criterion).scores[0]
    found = [
        search_genetically(space, criterion, Genetics(population, mutations, 30, seed=1))
        for population in (16, 32, 64, 128)
        for mutations in (1, 2, 4)
    ]
    assert sum(bool(run.selection.scores[0] < optimum + 1e-6) for run in found) >= 6
    assert all(run.selection.scores[0] > optimum - 1e-6 for run in found)
    assert all(run.evaluated < 0.01 * 2**24 for run in found)


def test_more_patience_never_ends_worse_and_runs_are_repeatable(hpl):
    few, many = (search_genetically(*hpl, Genetics(64, 2, patience, 3, 1, False)) for patience in (5, 40))
    assert many.scores[0] <= few.scores[0]
    again = search_genetically(*hpl, Genetics(patience=40, seed=3, runs=1, neighbours=False))
    assert (again.best == many.best).all() and again.evaluated == many.evaluated


def test_several_runs_say_how_often_each_term_appears(hpl):
    found = search_genetically(*hpl, Genetics(runs=4))
    assert found.best.shape == (4, 24)
    assert found.share_of_runs == pytest.approx(found.best.mean(0))
    assert found.selection.scores[0] == pytest.approx(found.scores.min())
    assert found.selection.weights.sum() == pytest.approx(1)
    assert found.selection.scores[0] == pytest.approx(hpl[1].score(found.selection.best.sum(), found.selection.rss[0]))


def test_a_planted_model_of_60_terms_is_found():
    """More terms than rows of a word have bits, and than half the rows: most random models cannot be fitted."""
    random = np.random.default_rng(1)
    columns = random.standard_normal((50, 60))
    y = columns[:, 7] * 3 + columns[:, 41] * 2 + columns[:, 59] + 0.05 * random.standard_normal(50)
    values = {f"x{k}": columns[:, k] for k in range(60)}
    space = make_space([parse(name) for name in values], values, y, np.ones(50))
    found = search_genetically(space, criterion_of("bic", np.ones(50)), Genetics(128, 2, 60, seed=2, runs=1))
    assert {"x7", "x41", "x59"} <= {str(term) for term in found.selection.terms_of(found.selection.best)}


def test_what_cannot_be_fitted_is_refused():
    values = {"x": np.array([1.0, 2.0])}
    space = make_space([parse("x")], values, np.array([1.0, 2.0]), np.ones(2))
    with pytest.raises(TracelibError, match="2 rows"):
        search_genetically(space, criterion_of("aicc", np.ones(2)), Genetics())
