"""Pictures of samples: fitted machines, predicted times, and the results of a Monte Carlo study."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, MaxNLocator

from analyzer.montecarlo.distribution import LOG, VariedParameter
from analyzer.montecarlo.fit import FoundMachine
from analyzer.montecarlo.samples import MachineSamples
from analyzer.montecarlo.spread import spread
from analyzer.report.pictures.files import BLUE, GREY, ORANGE, new_figure, save
from analyzer.report.words import units
from analyzer.report.words.replays import value_text
from analyzer.shots.results import ShotResults

_MOST = 5
"""Largest number of parameters in a picture."""
_BARS = 30


def draw_fit(found: FoundMachine, path: Path) -> None:
    """Draw the machines of a fit over each pair of parameters: all, those near the runs, and the best.

    On the diagonal are histograms of each parameter.

    Raises:
        TracelibError: The file cannot be written.
    """
    varied = found.samples.varied[:_MOST]
    size = max(3.0 * len(varied), 6.0)
    figure = new_figure(size, size)
    grid = figure.subplots(len(varied), len(varied), squeeze=False)
    for row, of in enumerate(varied):
        for column, other in enumerate(varied):
            axes = grid[row][column]
            if column > row:
                axes.axis("off")
                continue
            if column == row:
                _histogram(found, row, axes)
            else:
                _pair(found, column, row, axes)
                _scale(axes, of, "y")
            _scale(axes, other, "x")
    grid[0][0].legend(loc="best", frameon=False, fontsize=8)
    figure.suptitle(f"machines within {100 * found.wanted.tolerance:g} % of what was measured")
    save(figure, path)


def _histogram(found: FoundMachine, k: int, axes: Axes) -> None:
    values, near = found.samples.values[:, k], found.near
    edges = _edges(found.samples.varied[k], values)
    axes.hist(values, edges, color=GREY, alpha=0.3, label="drawn")
    axes.hist(values[near], edges, color=BLUE, alpha=0.8, label="near")
    axes.axvline(found.best.values[k], color=ORANGE, linewidth=1.4, label="best fit")
    axes.set_ylabel("machines")


def _edges(of: VariedParameter, values: np.ndarray) -> list[float]:
    low, high = float(values.min()), float(values.max())
    if low == high:
        return [low - 0.5, high + 0.5]
    if of.whole and high - low < _BARS:
        return np.arange(low - 0.5, high + 1).tolist()
    space = np.geomspace if of.law == LOG else np.linspace
    return space(low, high, _BARS + 1).tolist()


def _pair(found: FoundMachine, x: int, y: int, axes: Axes) -> None:
    values, near = found.samples.values, found.near
    axes.plot(values[~near, x], values[~near, y], ".", color=GREY, alpha=0.3, markersize=4)
    axes.plot(values[near, x], values[near, y], ".", color=BLUE, alpha=0.8, markersize=5)
    axes.plot(found.best.values[x], found.best.values[y], "+", color=ORANGE, markersize=12, markeredgewidth=2)


def _scale(axes: Axes, of: VariedParameter, which: str) -> None:
    if of.law == LOG:
        axes.set(**{f"{which}scale": "log"})
    axes.set(**{f"{which}label": of.name})
    axis = axes.xaxis if which == "x" else axes.yaxis
    if of.law != LOG:
        axis.set_major_locator(MaxNLocator(4))
    axis.set_major_formatter(FuncFormatter(lambda value, _: value_text(of.parameter, value)))
    axes.tick_params(labelsize=7)


def draw_spread(samples: MachineSamples, run: int, title: str, path: Path) -> None:
    """Draw a histogram of the predicted times of a run, and its time over each parameter.

    Raises:
        TracelibError: The file cannot be written.
    """
    varied = samples.varied[:_MOST]
    figure = new_figure(max(3.0 * len(varied), 7.0), 7.0 if varied else 4.0)
    grid = figure.add_gridspec(2 if varied else 1, max(len(varied), 1), height_ratios=[3, 2][: 2 if varied else 1])
    axes = figure.add_subplot(grid[0, :])
    of = spread(samples, run)
    axes.hist(samples.times_ns[:, run], _BARS, color=BLUE, alpha=0.8)
    axes.axvline(of.mean, color=ORANGE, linewidth=1.4, label="mean")
    for k, value in enumerate((of.quantiles[0], of.quantiles[-1])):
        axes.axvline(value, color="black", linewidth=0.8, linestyle=":", label="" if k else "5 % and 95 %")
    _times(axes, "x")
    axes.set(xlabel="predicted time", ylabel="machines", title=title)
    axes.legend(frameon=False)
    for k, other in enumerate(varied):
        below = figure.add_subplot(grid[1, k])
        below.plot(samples.values[:, k], samples.times_ns[:, run], ".", color=BLUE, alpha=0.5, markersize=4)
        _scale(below, other, "x")
        _times(below, "y")
    save(figure, path)


def _times(axes: Axes, which: str) -> None:
    axis = axes.xaxis if which == "x" else axes.yaxis
    axis.set_major_formatter(FuncFormatter(lambda ns, _: units.time(ns)))
    axes.tick_params(labelsize=7)


_MOST_OUTPUTS = 5
"""Largest number of variables, and of outputs, in a picture."""
_OUTPUT_BARS = 30


def draw_results(found: ShotResults, path: Path) -> None:
    """Draw a row for each output of a study: its histogram, and its values over each variable.

    Raises:
        TracelibError: The file cannot be written.
    """
    varied, outputs = found.plan.varied[:_MOST_OUTPUTS], found.plan.outputs[:_MOST_OUTPUTS]
    figure = new_figure(3.0 * (len(varied) + 1), max(2.6 * len(outputs), 3.5))
    grid = figure.subplots(len(outputs), len(varied) + 1, squeeze=False)
    values, results, spreads = found.values, found.outputs, found.spreads()
    for row, output in enumerate(outputs):
        first, *others = grid[row]
        first.hist(results[:, row], _OUTPUT_BARS, color=BLUE, alpha=0.8)
        first.axvline(spreads[row].mean, color=ORANGE, linewidth=1.4, label="mean")
        for k, value in enumerate((spreads[row].quantiles[0], spreads[row].quantiles[-1])):
            first.axvline(value, color="black", linewidth=0.8, linestyle=":", label="" if k else "5 % and 95 %")
        first.set(xlabel=output.name, ylabel="shots")
        first.legend(frameon=False, fontsize=8)
        for k, axes in enumerate(others):
            axes.plot(values[:, k], results[:, row], ".", color=BLUE, alpha=0.5, markersize=4)
            axes.set(xlabel=varied[k].name, ylabel=output.name)
            if varied[k].law == LOG:
                axes.set_xscale("log")
        for axes in grid[row]:
            axes.tick_params(labelsize=7)
            axes.locator_params(axis="y", nbins=5)
    save(figure, path)
