"""Pictures of genetic searches: evolution of the best model, how often each term was found, configurations."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.gridspec import SubplotSpec

from analyzer.models.search.genetic import Found, best_of
from analyzer.report.genetic import shares
from analyzer.report.pictures.files import BLUE, GREY, ORANGE

_TERMS = 30
_LEAST = 1e-2
"""Scores nearer to the best one are drawn in proportion."""


def draw_search(every: Sequence[Found], figure: Figure, place: SubplotSpec) -> None:
    """Draw side by side the evolution, the terms, and, of several configurations, what each reached."""
    several = len(every) > 1
    grid = place.subgridspec(1, 3 if several else 2, width_ratios=[1, 1.4, 1] if several else [1, 1.6], wspace=0.28)
    _draw_evolution(every, figure.add_subplot(grid[0]))
    _draw_terms(every, figure.add_subplot(grid[1]))
    if several:
        _draw_configurations(every, figure.add_subplot(grid[2]))


def _draw_evolution(every: Sequence[Found], axes: Axes) -> None:
    """Figures 2 to 4 of the paper: of each population the score of its best model, above the best of all."""
    least = float(best_of(every).selection.scores[0])
    longest = max(int(found.generations.max()) for found in every)
    alpha = max(0.15, 1 / np.sqrt(sum(len(found.scores) for found in every)))
    for scores in (scores for found in every for scores in found.evolution):
        axes.step(range(len(scores)), scores - least, color=BLUE, alpha=alpha, linewidth=1, where="post")
        axes.plot(len(scores) - 1, scores[-1] - least, ".", color=ORANGE, markersize=4)
    axes.set_yscale("symlog", linthresh=_LEAST)
    axes.set(xlabel="generation", ylabel="score above the best", xlim=(0, 1.02 * longest), ylim=(-0.1 * _LEAST, None))
    axes.set_title("each population's best model; dots: the end", fontsize=9)


def _draw_terms(every: Sequence[Found], axes: Axes) -> None:
    """Figure 6: how often each term is in the best models."""
    share, selection = shares(every), best_of(every).selection
    order = np.argsort(-share, kind="stable")[:_TERMS]
    axes.bar(range(len(order)), share[order], color=[BLUE if selection.best[k] else GREY for k in order])
    names = [str(selection.space.terms[k]) for k in order]
    axes.set_xticks(range(len(order)), names, rotation=60, ha="right", fontsize=7)
    axes.set(ylim=(0, 1.02), ylabel="share of the populations")
    axes.set_title("how often each term was found; blue: in the best model", fontsize=9)


def _draw_configurations(every: Sequence[Found], axes: Axes) -> None:
    """Figure 5: what each configuration reached."""
    least = float(best_of(every).selection.scores[0])
    for place, found in enumerate(every):
        above = found.scores - least
        axes.plot(np.full(len(above), place), above, "o", color=BLUE, alpha=0.4, markersize=3)
        axes.plot(place, above.mean(), "_", color=ORANGE, markersize=14, markeredgewidth=2)
    names = [f"{found.how.population}, {found.how.mutations}" for found in every]
    axes.set_xticks(range(len(every)), names, rotation=60, ha="right", fontsize=7)
    axes.set_yscale("symlog", linthresh=_LEAST)
    most = max(float(found.scores.max()) for found in every) - least
    axes.set(ylabel="score above the best", ylim=(-0.1 * _LEAST, 2 * max(most, _LEAST)))
    axes.set_title("population, mutations; lines: means", fontsize=9)
