"""Pictures of processes under a plan: measured and predicted times, and their relative distance.

Source: PEMPIs-Het, figures 4 and 5 (least and largest times by size) and 6 (distance from predicted times).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from analyzer.balance.process_times import ProcessTimes
from analyzer.report.pictures.files import BLUE, GREY, ORANGE, new_figure, save


def draw_process_times(every: Sequence[ProcessTimes], path: Path) -> None:
    """Draw times above and relative distances below. Times are by rank for one run, by problem size for several runs.

    Args:
        every: One or more runs under one plan.
        path: A .png or .svg file.

    Raises:
        TracelibError: The file cannot be written.
    """
    figure = new_figure(9, 7)
    above, below = figure.subplots(2, 1)
    if len(every) > 1:
        _by_size(above, every)
    else:
        _by_rank(above, every[0])
    for number, one in enumerate(every):
        colour = colormaps["viridis"](0.85 * number / max(len(every) - 1, 1))
        label = f"size {one.size:g}" if one.size else Path(one.file).name
        below.plot(100 * one.distances, "o-", color=colour, markersize=4, linewidth=0.8, label=label)
    if len(every) == 1:
        ends = 100 * (every[0].low - 1), 100 * (every[0].high - 1)
        below.axhspan(*ends, color=BLUE, alpha=0.15, linewidth=0, label="interval of the plan")
    below.axhline(0, color=GREY, linewidth=0.8)
    below.set(xlabel="rank", ylabel="distance from predicted time, %")
    below.xaxis.set_major_locator(MaxNLocator(integer=True))
    for axes in (above, below):
        axes.legend(frameon=False, fontsize=8)
    save(figure, path)


def _by_rank(axes: Axes, one: ProcessTimes) -> None:
    at = np.arange(len(one.predicted_s))
    axes.bar(at - 0.2, one.predicted_s, 0.4, color=BLUE, alpha=0.85, label="predicted")
    axes.bar(at + 0.2, one.measured_s, 0.4, color=ORANGE, alpha=0.85, label="measured")
    largest = max(float(one.predicted_s.max()), float(one.measured_s.max()))
    axes.set(xlabel="rank", ylabel="time for its share (s)", ylim=(0, 1.2 * largest))
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))


def _by_size(axes: Axes, every: Sequence[ProcessTimes]) -> None:
    """Draw the least and the largest time of a process by problem size, or by run if sizes are not distinct."""
    order = sorted(every, key=lambda one: one.size)
    has_sizes = len({one.size for one in every}) == len(every)
    x = [one.size for one in order] if has_sizes else list(range(1, len(order) + 1))
    for values, colour, name in (("predicted_s", BLUE, "predicted"), ("measured_s", ORANGE, "measured")):
        for of, marker, word in ((np.min, "v", "least"), (np.max, "^", "largest")):
            y = [float(of(getattr(one, values))) for one in order]
            line = "--" if word == "least" else "-"
            axes.plot(x, y, line + marker, color=colour, markersize=5, linewidth=1.2, label=f"{name}, {word}")
    axes.set(xlabel="size of the problem" if has_sizes else "run", ylabel="time for its share (s)")
    axes.set_ylim(bottom=0)
