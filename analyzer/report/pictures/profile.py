"""Picture of parallelism over time: what threads do, stacked, and the number of waiting messages."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter

from analyzer.metrics.parallelism import COLLECTIVES, COMPUTING, MESSAGES, QUEUE, Parallelism
from analyzer.report.pictures.files import BLUE, GREY, ORANGE, new_figure, save
from analyzer.report.profile import ProfileReport
from analyzer.report.words import units

_COLOURS = {COMPUTING: BLUE, COLLECTIVES: ORANGE, MESSAGES: "#f0c808"}
_MOST = 4000
"""Largest number of bins in a picture. With more, the mean of several bins is drawn."""


def draw(profiled: ProfileReport, path: Path) -> None:
    """Draw the parallelism of a run over time. The file appears complete or not at all.

    Raises:
        TracelibError: The file cannot be written.
    """
    found = profiled.found
    waits = QUEUE in found.series and bool(found.series[QUEUE].any())
    figure = new_figure(9, 5 if waits else 4)
    drawn = figure.subplots(1 + waits, 1, sharex=True, squeeze=False, height_ratios=[3, 1][: 1 + waits]).flatten()
    _stack(found, drawn[0])
    if waits:
        edges, values = _drawable(found, QUEUE)
        drawn[1].stairs(values, edges, color=GREY, fill=True)
        drawn[1].set_ylabel("messages waiting")
        drawn[1].set_ylim(bottom=0)
    drawn[-1].xaxis.set_major_formatter(FuncFormatter(lambda s, _: units.time(s * 1e9) if s else "0"))
    drawn[-1].set_xlim(0, found.end_ns / 1e9 or 1)
    kind = "predicted" if profiled.replayed else "as measured"
    figure.suptitle(f"{Path(profiled.file).name} {kind}: {found.mean():.2f} of {found.threads} threads compute")
    save(figure, path)


def _stack(found: Parallelism, axes: Axes) -> None:
    below: np.ndarray | float = 0.0
    for name, colour in _COLOURS.items():
        edges, values = _drawable(found, name)
        axes.stairs(below + values, edges, baseline=below, color=colour, fill=True, label=name)
        below = below + values
    axes.axhline(found.mean(), color="black", linewidth=0.8, linestyle="--", label="computing, mean")
    axes.set_ylim(0, max(found.threads, float(np.max(below))) * 1.02)
    axes.set_ylabel("threads")
    axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=4, fontsize=8, frameon=False)


def _drawable(found: Parallelism, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the edges (s) and values of a series, reduced to at most _MOST bins."""
    values, edges = found.series[name], found.edges
    together = -(-len(values) // _MOST)
    firsts = np.arange(0, len(values), together)
    widths = np.diff(edges)
    means = np.add.reduceat(values * widths, firsts) / np.maximum(np.add.reduceat(widths, firsts), 1)
    return np.append(edges[:-1][firsts], edges[-1]) / 1e9, means
