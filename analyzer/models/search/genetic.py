"""Genetic search over subsets of terms, if there are too many to try all (search-and-balance.md, section 1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from analyzer.models.fitting.criteria import SelectionCriterion, akaike_weights
from analyzer.models.search.selection import ModelSelection, in_order, within
from analyzer.models.search.space import TermSpace, none_can_be_fitted

_PAIRS = 64
"""Largest number of terms for which neighbours that differ in two terms are tried."""


@dataclass(frozen=True)
class GeneticOptions:
    """Settings of the genetic search.

    Attributes:
        population: Number of individuals (mu).
        mutations: Largest number of bits that are negated in a generation (nu).
        patience: Generations without a better model after which the search ends (phi).
        neighbours: Before the end, try the models that differ from the best one in one or two terms, and go on from a
            better one (not in the paper's search).
        runs: Number of searches from new populations.
    """

    population: int = 64
    mutations: int = 2
    patience: int = 30
    seed: int = 1
    runs: int = 8
    neighbours: bool = True


@dataclass(frozen=True)
class GeneticResult:
    """Results of several genetic searches over the same terms.

    Attributes:
        how: Settings of the searches.
        selection: The best models that the searches met.
        best: Best model of each run, as masks of terms.
        scores: Score of each run's best model.
        generations: Number of generations of each run.
        evaluated: Number of models whose score was computed.
        evolution: Score of each run's best model at the beginning and after each generation.
    """

    how: GeneticOptions
    selection: ModelSelection
    best: np.ndarray  # (runs, terms) bool
    scores: np.ndarray  # (runs)
    generations: np.ndarray  # (runs)
    evaluated: int
    evolution: tuple[np.ndarray, ...]

    @property
    def share_of_runs(self) -> np.ndarray:
        """Share of the runs whose best model contains each term, shape (terms,)."""
        return self.best.mean(0)


class ModelScores:
    """Scores of models. Each model's score is computed once."""

    def __init__(self, space: TermSpace, criterion: SelectionCriterion) -> None:
        self.space, self.criterion = space, criterion
        self.known: dict[bytes, tuple[float, float]] = {}

    def of(self, models: np.ndarray) -> np.ndarray:
        """Return the scores of models, given as masks of shape (models, terms). Infinite: a model cannot be fitted."""
        keys = [key.tobytes() for key in models]
        new = {key: place for place, key in enumerate(keys) if key not in self.known}
        if new:
            fresh = models[list(new.values())]
            rss = np.full(len(fresh), np.inf)
            sizes = fresh.sum(1)
            able = np.isfinite(self.criterion.penalty(sizes))
            rss[able] = self.space.rss(fresh[able])
            scores = np.where(able, self.criterion.score(sizes, rss), np.inf)
            self.known.update(zip(new, zip(scores.tolist(), rss.tolist(), strict=True), strict=True))
        return np.array([self.known[key][0] for key in keys])


def search_genetically(
    space: TermSpace, criterion: SelectionCriterion, how: GeneticOptions, keep: int = 10_000
) -> GeneticResult:
    """Search the best models by several genetic searches. Weights and importance are over the models that were met.

    Args:
        space: The candidate terms on the data.
        criterion: Criterion that scores models.
        how: Settings of the searches.
        keep: Largest number of models in the selection.

    Raises:
        TracelibError: No model can be fitted.
    """
    if not np.isfinite(criterion.penalty(1)):
        raise none_can_be_fitted(space)
    scores = ModelScores(space, criterion)
    random = np.random.default_rng(how.seed)
    runs = [_run(scores, how, random) for _ in range(how.runs)]
    return GeneticResult(
        how,
        _selection(scores, keep),
        np.array([best for best, _ in runs]),
        np.array([evolution[-1] for _, evolution in runs]),
        np.array([len(evolution) - 1 for _, evolution in runs]),
        len(scores.known),
        tuple(np.array(evolution) for _, evolution in runs),
    )


def best_of(every: Sequence[GeneticResult]) -> GeneticResult:
    """Return the result with the best model. Of equally good ones, the first."""
    return min(every, key=lambda found: round(float(found.selection.scores[0]), 7))


def _run(scores: ModelScores, how: GeneticOptions, random: np.random.Generator) -> tuple[np.ndarray, list[float]]:
    """Run one search. Return the best model, and the best score at the beginning and after each generation."""
    terms = len(scores.space.terms)
    largest = int(np.isfinite(scores.criterion.penalty(np.arange(1, terms + 1))).sum())
    people = _drawn(random, how.population, terms, largest)
    fitness = scores.of(people)
    best, least, unchanged = people[fitness.argmin()].copy(), float(fitness.min()), 0
    evolution = [least]
    while True:
        if unchanged == how.patience:
            nearby = _neighbours(best) if how.neighbours else best[None]
            fitness = scores.of(nearby)
            if fitness.min() >= least:
                return best, evolution
            best, least, unchanged = nearby[fitness.argmin()].copy(), float(fitness.min()), 0
        people = _mutated(_children(people, fitness, random), how.mutations, random)
        empty = ~people.any(1)
        people[empty] = _drawn(random, int(empty.sum()), terms, largest)
        people[0] = best
        fitness = scores.of(people)
        unchanged += 1
        if fitness.min() < least:
            best, least, unchanged = people[fitness.argmin()].copy(), float(fitness.min()), 0
        evolution.append(least)


def _neighbours(model: np.ndarray) -> np.ndarray:
    """Return the models that differ in one term, or also in two if there are at most 64 terms. No model is empty."""
    flips = np.eye(len(model), dtype=bool)
    if len(model) > _PAIRS:
        return model ^ flips
    first, second = np.triu_indices(len(model), 1)
    found = model ^ np.vstack([flips, flips[first] ^ flips[second]])
    return found[found.any(1)]


def _drawn(random: np.random.Generator, number: int, terms: int, largest: int) -> np.ndarray:
    """Draw random individuals that can be fitted: none is empty or has more terms than the rows allow."""
    share = min(0.5, largest / (2 * terms))
    people = random.random((number, terms)) < share
    for individual in people:
        while not 0 < individual.sum() <= largest:
            individual[:] = random.random(terms) < share
    return people


def _children(people: np.ndarray, fitness: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """Draw children of parents that win a tournament of two.

    A child has the bits of one parent up to a random point, and the other parent's bits after it.
    """
    number, terms = people.shape
    rivals = random.integers(number, size=(2, 2, number))
    winners = np.where(fitness[rivals[0]] <= fitness[rivals[1]], rivals[0], rivals[1])
    point = random.integers(terms + 1, size=number)
    first = np.arange(terms) < point[:, None]
    return np.where(first, people[winners[0]], people[winners[1]])


def _mutated(people: np.ndarray, most: int, random: np.random.Generator) -> np.ndarray:
    number, terms = people.shape
    changes = np.asarray(random.integers(most + 1, size=number))
    for individual, bits in zip(people, changes.tolist(), strict=True):
        places = random.integers(terms, size=bits)
        individual[places] ^= True
    return people


def _selection(scores: ModelScores, keep: int) -> ModelSelection:
    terms = len(scores.space.terms)
    keys = [key for key, (score, _) in scores.known.items() if np.isfinite(score)]
    if not keys:
        raise none_can_be_fitted(scores.space)
    models = np.frombuffer(b"".join(keys), bool).reshape(len(keys), terms)
    score, rss = np.array([scores.known[key] for key in keys]).T
    order = in_order(score, models)
    models, score, rss = models[order], score[order], rss[order]
    weights = akaike_weights(score)
    sizes = models.sum(1)
    firsts = [int(np.flatnonzero(sizes == size)[rss[sizes == size].argmin()]) for size in np.unique(sizes)]
    per_size = tuple((models[i], float(score[i]), float(rss[i])) for i in firsts)
    return ModelSelection(
        scores.space, scores.criterion, models[:keep], score[:keep], rss[:keep], weights[:keep], weights @ models,
        within(models, weights), per_size, len(models),
    )  # fmt: skip
