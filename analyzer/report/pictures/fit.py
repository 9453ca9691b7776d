"""Pictures of a fitted model: data and model along each parameter, residuals, importance of terms.

Also pictures of genetic searches: evolution of the best model, frequency of terms, configurations.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import cycle
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.gridspec import SubplotSpec

from analyzer.models.applied_models import apply_to
from analyzer.models.guidance import residuals_of
from analyzer.models.model import Model
from analyzer.models.search.genetic import GeneticResult, best_of
from analyzer.models.search.selection import ModelSelection
from analyzer.models.study import ModelStudy
from analyzer.report.genetic import shares
from analyzer.report.pictures.files import BLUE, GREY, ORANGE, new_figure, save

_SEARCH_TERMS = 30
_LEAST = 1e-2
"""Difference of scores below which the axis is linear."""


def draw_search(every: Sequence[GeneticResult], figure: Figure, place: SubplotSpec) -> None:
    """Draw side by side the evolution of searches, the terms found, and the configurations if there are several."""
    several = len(every) > 1
    grid = place.subgridspec(1, 3 if several else 2, width_ratios=[1, 1.4, 1] if several else [1, 1.6], wspace=0.28)
    _draw_evolution(every, figure.add_subplot(grid[0]))
    _draw_terms(every, figure.add_subplot(grid[1]))
    if several:
        _draw_configurations(every, figure.add_subplot(grid[2]))


def _draw_evolution(every: Sequence[GeneticResult], axes: Axes) -> None:
    """Draw figures 2 to 4 of the paper: the score of each population's best model, above the best of all."""
    least = float(best_of(every).selection.scores[0])
    longest = max(int(found.generations.max()) for found in every)
    alpha = max(0.15, 1 / np.sqrt(sum(len(found.scores) for found in every)))
    for scores in (scores for found in every for scores in found.evolution):
        axes.step(range(len(scores)), scores - least, color=BLUE, alpha=alpha, linewidth=1, where="post")
        axes.plot(len(scores) - 1, scores[-1] - least, ".", color=ORANGE, markersize=4)
    axes.set_yscale("symlog", linthresh=_LEAST)
    axes.set(xlabel="generation", ylabel="score above the best", xlim=(0, 1.02 * longest), ylim=(-0.1 * _LEAST, None))
    axes.set_title("each population's best model; dots: the end", fontsize=9)


def _draw_terms(every: Sequence[GeneticResult], axes: Axes) -> None:
    """Draw figure 6 of the paper: how often each term is in the best models."""
    share, selection = shares(every), best_of(every).selection
    order = np.argsort(-share, kind="stable")[:_SEARCH_TERMS]
    axes.bar(range(len(order)), share[order], color=[BLUE if selection.best[k] else GREY for k in order])
    names = [str(selection.space.terms[k]) for k in order]
    axes.set_xticks(range(len(order)), names, rotation=60, ha="right", fontsize=7)
    axes.set(ylim=(0, 1.02), ylabel="share of the populations")
    axes.set_title("how often each term was found; blue: in the best model", fontsize=9)


def _draw_configurations(every: Sequence[GeneticResult], axes: Axes) -> None:
    """Draw figure 5 of the paper: the results of each configuration."""
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


_PARAMETERS = 3
_CURVES = 4
_POINTS = 60
_BEYOND = 4
_TERMS = 24
_BROKEN = ("--", ":", "-.")
_WIDE = 30.0
"""Ratio of the ends of a range above which its axis is logarithmic."""


def draw_fit(found: ModelStudy, compared: Mapping[str, Model], path: Path) -> None:
    """Draw a fitted model, with a column for each parameter.

    Above are the data, the model and its 95 % interval, up to _BEYOND times the largest measured value; below are the
    residuals. Compared models are broken lines.

    Args:
        found: The fitted model with its measurements.
        compared: Other models by name.
        path: A .png or .svg file.

    Raises:
        TracelibError: The file cannot be written.
    """
    names = [name for name, x in found.measurements.values.items() if np.ptp(x) > 0][:_PARAMETERS]
    names = names or list(found.measurements.values)[:1]
    selection = found.selection if found.selection and found.selection.is_of_several else None
    rows = 2 + bool(selection) + bool(found.found)
    figure = new_figure(max(4.2 * len(names), 6.0), 3.2 * rows)
    grid = figure.add_gridspec(rows, len(names))
    for column, name in enumerate(names):
        draw_model(found, compared, name, figure.add_subplot(grid[0, column]))
        _draw_residuals(found, name, figure.add_subplot(grid[1, column]))
    if selection:
        _draw_importance(selection, figure.add_subplot(grid[2, :]))
    if found.found:
        draw_search(found.found, figure, grid[rows - 1, :])
    figure.suptitle(f"{found.model.observable} = {found.model}", fontsize=9, wrap=True)
    save(figure, path)


def draw_model(found: ModelStudy, compared: Mapping[str, Model], name: str, axes: Axes) -> None:
    """Draw data, model and compared models along one parameter, for up to _CURVES settings of the others."""
    data, model = found.measurements, found.model
    x = data.values[name]
    others = [other for other in data.values if other != name]
    together = np.column_stack([data.values[other] for other in others]) if others else np.zeros((len(x), 1))
    settings = np.unique(together, axis=0)
    chosen = settings[np.unique(np.linspace(0, len(settings) - 1, _CURVES).round().astype(int))]
    low, high = float(x.min()), float(x.max())
    space = np.geomspace if low > 0 else np.linspace
    at = space(low, _BEYOND * high if high > 0 else high, _POINTS)
    for number, setting in enumerate(chosen):
        fixed = dict(zip(others, setting.tolist(), strict=True)) if others else {}
        shade = 1 - 0.7 * number / max(len(chosen) - 1, 1)
        said = [model.prediction(**{**fixed, name: float(value)}) for value in at]
        axes.fill_between(at, *np.array([p.interval for p in said]).T, color=BLUE, alpha=0.15, linewidth=0)
        label = ", ".join(f"{k}={v:g}" for k, v in fixed.items())
        axes.plot(at, [p.value for p in said], color=BLUE, alpha=shade, linewidth=1.3, label=label or "model")
        here = (together == setting).all(1)
        axes.plot(x[here], data.observed[here], "o", color=ORANGE, alpha=shade, markersize=3)
        for (other, beside), style in zip(compared.items(), cycle(_BROKEN)):
            line = {**{key: np.full(len(at), value) for key, value in fixed.items()}, name: at}
            expected = apply_to(beside, line, None).expected
            label = "_" if number else other
            axes.plot(at, expected, color="black", linestyle=style, linewidth=1.1, alpha=shade, label=label)
    axes.axvline(high, color=GREY, linewidth=0.8, linestyle=":")
    _scales(axes, at, data.observed)
    axes.set(xlabel=name, ylabel=data.observable)
    axes.legend(frameon=False, fontsize=7)


def _scales(axes: Axes, x: np.ndarray, y: np.ndarray) -> None:
    if x.min() > 0 and x.max() > _WIDE * x.min():
        axes.set_xscale("log", base=2)
    if y.min() > 0 and y.max() > _WIDE * y.min():
        axes.set_yscale("log")


def _draw_residuals(found: ModelStudy, name: str, axes: Axes) -> None:
    x = found.measurements.values[name]
    axes.axhline(0, color=GREY, linewidth=0.8)
    axes.plot(x, 100 * residuals_of(found.measurements, found.model), "o", color=BLUE, alpha=0.5, markersize=3)
    if x.min() > 0 and x.max() > _WIDE * x.min():
        axes.set_xscale("log", base=2)
    axes.set(xlabel=name, ylabel="residuals, %")


def _draw_importance(selection: ModelSelection, axes: Axes) -> None:
    order = np.argsort(-selection.importance, kind="stable")[:_TERMS]
    colours = [BLUE if selection.best[k] else GREY for k in order]
    axes.bar(range(len(order)), selection.importance[order], color=colours)
    axes.set_xticks(
        range(len(order)), [str(selection.space.terms[k]) for k in order], rotation=60, ha="right", fontsize=7
    )
    axes.axhline(0.5, color=GREY, linewidth=0.8, linestyle=":")
    axes.set(ylim=(0, 1.02), ylabel="importance", title="in blue: terms of the best model")
