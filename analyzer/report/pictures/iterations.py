"""Heat map of ranks over iterations, e.g. of computing times, waiting times or counters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, MaxNLocator

from analyzer.report.words import units

MOST_RANKS, MOST_ITERATIONS = 512, 2048
"""Largest number of ranks and of iterations in a picture. Of more, each cell shows the largest value of several."""


@dataclass(frozen=True)
class Heat:
    """Values of a heat map, of shape (ranks, iterations). unit: "time" (ns) or "count"."""

    title: str
    values: np.ndarray
    unit: str = "time"


def draw_heat(axes: Axes, heat: Heat, figure: Any) -> None:
    """Draw a heat map, with its colour scale beside it."""
    values = largest_of(heat.values, MOST_RANKS, MOST_ITERATIONS)
    top = float(np.percentile(values, 99.9)) or float(values.max(initial=0)) or 1.0
    ranks, iterations = heat.values.shape
    drawn = axes.imshow(
        values, aspect="auto", interpolation="nearest", cmap="cividis_r", vmin=0, vmax=top,
        extent=(0.5, iterations + 0.5, ranks - 0.5, -0.5),
    )  # fmt: skip
    axes.set_title(heat.title, fontsize=9, loc="left")
    axes.set_ylabel("rank")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.yaxis.set_major_locator(MaxNLocator(integer=True))
    text = units.time if heat.unit == "time" else units.count
    figure.colorbar(drawn, ax=axes, pad=0.01, format=FuncFormatter(lambda value, _: text(value)))


def draw_heats(figure: Any, heats: Sequence[Heat]) -> None:
    """Draw heat maps of the same iterations one above the other, into a figure or a subfigure."""
    every = figure.subplots(len(heats), 1, sharex=True, squeeze=False).flatten()
    for axes, heat in zip(every, heats, strict=True):
        draw_heat(axes, heat, figure)
    every[-1].set_xlabel("iteration")


def largest_of(values: np.ndarray, rows: int, columns: int) -> np.ndarray:
    """Reduce values to at most `rows` rows and `columns` columns: each cell is the largest of neighbouring values."""
    for axis, most in enumerate((rows, columns)):
        together = -(-values.shape[axis] // most)
        if together > 1:
            values = np.maximum.reduceat(values, np.arange(0, values.shape[axis], together), axis=axis)
    return values
