"""Genetic searches for a model, as text and for JSON: evolution, frequency of terms, and configurations.

The figures of "model selection with a genetic algorithm in TIA": 2 to 4 (evolution), 5 (configurations), 6 (terms).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from rich.console import Console
from rich.text import Text

from analyzer.models.search.genetic import GeneticResult, best_of
from analyzer.report.words.table import plain_table

_BAR = 40
_TERMS = 40
_SAME = 1e-6


def print_search(every: Sequence[GeneticResult], console: Console) -> None:
    """Print the configurations, if there are several, the evolution of the best one, and the terms that were found."""
    best = best_of(every)
    least = float(best.selection.scores[0])
    if len(every) > 1:
        _print_configurations(every, least, console)
    hits = int((best.scores < least + _SAME).sum())
    console.print(
        f"\nGenetic search: {len(best.scores)} populations of {best.how.population}, at most {best.how.mutations} "
        f"mutations, {best.generations.sum()} generations, {best.evaluated} models; {hits} of the populations found "
        "the best one"
    )
    _print_evolution(best, console)
    _print_terms(every, console)


def _print_configurations(every: Sequence[GeneticResult], least: float, console: Console) -> None:
    table = plain_table("Population", "mutations", "generations", "mean score above best", "found best", "models")
    for found in every:
        above = found.scores - least
        table.add_row(
            str(found.how.population), str(found.how.mutations), str(int(found.generations.sum())),
            f"{above.mean():.2f} +- {above.std():.2f}", f"{int((above < _SAME).sum())} of {len(above)}",
            str(found.evaluated),
        )  # fmt: skip
    console.print()
    console.print(table)


def at_generation(found: GeneticResult, generation: int) -> np.ndarray:
    """Return the score of each population's best model after a number of generations, or at its end if that is earlier.

    The result has shape (populations,).
    """
    return np.array([scores[min(generation, len(scores) - 1)] for scores in found.evolution])


def _print_evolution(found: GeneticResult, console: Console) -> None:
    last = int(found.generations.max())
    shown = [0, *(1 << k for k in range(last.bit_length()) if 1 << k < last), last]
    table = plain_table("Generation", "best score", "mean", "worst")
    for generation in dict.fromkeys(shown):
        scores = at_generation(found, generation)
        table.add_row(str(generation), *(f"{x:.2f}" for x in (scores.min(), scores.mean(), scores.max())))
    console.print()
    console.print(table)


def shares(every: Sequence[GeneticResult]) -> np.ndarray:
    """Return how often each term is in the best model of a population, as a fraction; shape (terms,)."""
    return np.concatenate([found.best for found in every]).mean(0)


def _print_terms(every: Sequence[GeneticResult], console: Console) -> None:
    share, selection = shares(every), best_of(every).selection
    runs = sum(len(found.scores) for found in every)
    names = [
        str(term) + ("*" if there else "") for term, there in zip(selection.space.terms, selection.best, strict=True)
    ]
    order = sorted(range(len(share)), key=lambda k: -share[k])
    wide = max(len(names[k]) for k in order[:_TERMS])
    console.print(f"\nHow often each term is in the best models of {runs} populations (*: in the best of all):")
    for k in order[:_TERMS]:
        console.print(Text(f"{names[k]:<{wide}} {'#' * round(_BAR * share[k])} {round(runs * share[k])}"))
    if rare := [names[k] for k in order if share[k] == 0]:
        console.print(Text(f"\nTerms in none, to be dropped before all models are tried: {', '.join(rare[:12])}"))


def search_json(every: Sequence[GeneticResult]) -> dict[str, Any]:
    """Return the searches for JSON."""
    best = best_of(every)
    share = dict(zip(map(str, best.selection.space.terms), shares(every).tolist(), strict=True))
    return {
        "search": _configuration(best) | {"share_of_searches": share},
        "configurations": [_configuration(found) for found in every],
    }


def _configuration(found: GeneticResult) -> dict[str, Any]:
    return {
        "population": found.how.population,
        "mutations": found.how.mutations,
        "scores": found.scores.tolist(),
        "generations": found.generations.tolist(),
        "evaluated": found.evaluated,
        "evolution": [scores.tolist() for scores in found.evolution],
    }
