"""Picture of clusters of bursts: the sample by duration and the first counter, or by duration alone."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter

from analyzer.burst_clusters.clustering import FoundClusters
from analyzer.report.pictures.files import GREY, new_figure, save
from analyzer.report.words import units

Colour = str | tuple[float, float, float, float]
_BARS = 80
_COLOURS = (0, 1, 2, 3, 4, 5, 6, 8, 9)
"""Numbers of matplotlib's ten colours, without grey, which stands for noise."""
_NAMED = 12
"""Largest number of clusters in the legend. Further clusters repeat the colours."""


def draw_clusters(found: FoundClusters, path: Path) -> None:
    """Draw the bursts of the sample by duration and first counter, in the colours of their clusters.

    Without counters, draw the number of bursts by duration.

    Raises:
        TracelibError: The file cannot be written.
    """
    figure = new_figure(9, 5.5)
    axes = figure.subplots()
    values = found.sample
    labels = found.clusters.label(values)
    for label in [-1, *range(1, found.clusters.count + 1)]:
        chosen = values[labels == label]
        if len(chosen):
            name = "noise" if label < 0 else f"cluster {label}"
            _one(axes, chosen, GREY if label < 0 else _colour(label), name if label <= _NAMED else "", values[:, 0])
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter(FuncFormatter(lambda ns, _: units.time(ns)))
    axes.set_xlabel("duration of a burst")
    axes.set_ylabel(found.clusters.counters[0] if found.clusters.counters else "bursts of the sample")
    axes.set_title(f"{units.plural(len(values), 'burst')} of the sample, {found.clusters.method}")
    if len(values):
        axes.legend(frameon=False, fontsize=9)
    save(figure, path)


def _one(axes: Axes, chosen: np.ndarray, colour: Colour, name: str, durations: np.ndarray) -> None:
    if chosen.shape[1] > 1:
        axes.scatter(chosen[:, 0], chosen[:, 1], s=9, color=colour, label=name or None, linewidths=0, alpha=0.7)
        axes.set_yscale("symlog")
        return
    low, high = float(durations.min()), float(durations.max())
    edges = np.geomspace(low * 0.99, high * 1.01, _BARS).tolist()
    axes.hist(chosen[:, 0], edges, color=colour, label=name or None, alpha=0.8)
    axes.set_yscale("log")


def _colour(label: int) -> Colour:
    return colormaps["tab10"](_COLOURS[(label - 1) % len(_COLOURS)])
