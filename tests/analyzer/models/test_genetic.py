"""The genetic search: it finds what the exact search finds, for a small part of its price (search-and-balance, 1)."""

import json

import numpy as np
import pandas as pd
import pytest
from hpl_design import TERMS, measured

from analyzer.cli import main
from analyzer.errors import TracelibError
from analyzer.models.fitting.criteria import criterion_of
from analyzer.models.fitting.least_squares import relative_weights
from analyzer.models.search.exact import search_all
from analyzer.models.search.genetic import GeneticOptions, search_genetically
from analyzer.models.search.space import make_space
from analyzer.models.terms.language import candidates
from analyzer.models.terms.parsing import parse
from analyzer.report.genetic import at_generation


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
        search_genetically(space, criterion, GeneticOptions(population, mutations, 30, seed=1))
        for population in (16, 32, 64, 128)
        for mutations in (1, 2, 4)
    ]
    assert sum(bool(run.selection.scores[0] < optimum + 1e-6) for run in found) >= 6
    assert all(run.selection.scores[0] > optimum - 1e-6 for run in found)
    assert all(run.evaluated < 0.01 * 2**24 for run in found)


def test_more_patience_never_ends_worse_and_runs_are_repeatable(hpl):
    few, many = (search_genetically(*hpl, GeneticOptions(64, 2, patience, 3, 1, False)) for patience in (5, 40))
    assert many.scores[0] <= few.scores[0]
    again = search_genetically(*hpl, GeneticOptions(patience=40, seed=3, runs=1, neighbours=False))
    assert (again.best == many.best).all() and again.evaluated == many.evaluated


def test_several_runs_say_how_often_each_term_appears(hpl):
    found = search_genetically(*hpl, GeneticOptions(runs=4))
    assert found.best.shape == (4, 24)
    assert found.share_of_runs == pytest.approx(found.best.mean(0))
    assert found.selection.scores[0] == pytest.approx(found.scores.min())
    assert found.selection.weights.sum() == pytest.approx(1)
    assert found.selection.scores[0] == pytest.approx(hpl[1].score(found.selection.best.sum(), found.selection.rss[0]))


def test_the_evolution_is_that_of_the_best_of_each_generation(hpl):
    """It never rises, ends at the run's score, and ends after `patience` generations without a change."""
    how = GeneticOptions(16, 2, 12, seed=4, runs=5, neighbours=False)
    found = search_genetically(*hpl, how)
    for scores, score, generations in zip(found.evolution, found.scores, found.generations, strict=True):
        assert len(scores) == generations + 1 and scores[-1] == score
        assert (np.diff(scores) <= 0).all()
        assert (scores[-how.patience - 1 :] == score).all() and (scores[: -how.patience - 1] > score).all()
    assert at_generation(found, 0).tolist() == [scores[0] for scores in found.evolution]
    assert at_generation(found, 10**6) == pytest.approx(found.scores)


def test_several_configurations_are_compared(hpl, tmp_path, capsys):
    """The best of all counts; shares are over all populations; text, JSON and picture have all of them."""
    values, y = measured(80)
    pd.DataFrame({**values, "time": y}).to_csv(tmp_path / "hpl.csv", index=False)
    words = ["fit", str(tmp_path / "hpl.csv"), "--terms", TERMS, "--search", "genetic", "--searches", "3"]
    words += ["--weighting", "measured", "--population", "16,32", "--mutations", "1,4", "--patience", "10"]
    assert main([*words, "--json", "-o", str(tmp_path / "m")]) == 0
    found = json.loads(capsys.readouterr().out)
    settings = [(one["population"], one["mutations"]) for one in found["configurations"]]
    assert settings == [(16, 1), (16, 4), (32, 1), (32, 4)]
    alone = [search_genetically(*hpl, GeneticOptions(mu, nu, 10, 1, 3)) for mu, nu in settings]
    for one, expected in zip(found["configurations"], alone, strict=True):
        assert one["scores"] == pytest.approx(expected.scores) and one["evaluated"] == expected.evaluated
    assert found["criterion"]["value"] == pytest.approx(min(one.scores.min() for one in alone))
    share = np.mean([one.best.mean(0) for one in alone], 0)
    assert list(found["search"]["share_of_searches"].values()) == pytest.approx(share)
    assert (tmp_path / "m.png").read_bytes()[:4] == b"\x89PNG"
    assert main(words) == 0
    said = capsys.readouterr().out
    assert "How often each term is in the best models of 12 populations" in said and "Generation" in said


@pytest.mark.parametrize("text", ["", "16,", "1,16", "16,x", "16 32"])
def test_populations_that_are_none(text, tmp_path, capsys):
    (tmp_path / "t.csv").write_text("n,time\n1,2\n2,3\n3,4\n4,5\n5,6\n")
    assert main(["fit", str(tmp_path / "t.csv"), "--terms", "{n}", "--search", "genetic", "--population", text]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_a_planted_model_of_60_terms_is_found():
    """More terms than rows of a word have bits, and than half the rows: most random models cannot be fitted."""
    random = np.random.default_rng(1)
    columns = random.standard_normal((50, 60))
    y = columns[:, 7] * 3 + columns[:, 41] * 2 + columns[:, 59] + 0.05 * random.standard_normal(50)
    values = {f"x{k}": columns[:, k] for k in range(60)}
    space = make_space([parse(name) for name in values], values, y, np.ones(50))
    found = search_genetically(space, criterion_of("bic", np.ones(50)), GeneticOptions(128, 2, 60, seed=2, runs=1))
    assert {"x7", "x41", "x59"} <= {str(term) for term in found.selection.terms_of(found.selection.best)}


def test_what_cannot_be_fitted_is_refused():
    values = {"x": np.array([1.0, 2.0])}
    space = make_space([parse("x")], values, np.array([1.0, 2.0]), np.ones(2))
    with pytest.raises(TracelibError, match="2 rows"):
        search_genetically(space, criterion_of("aicc", np.ones(2)), GeneticOptions())
