"""Pictures of batch schedulers: what the nodes of a cluster did, as stacked bars.

Source: "TIA specification", section 4.8 (figures 5.21 and 5.22).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes

from analyzer.report.node_time import NodeTime
from analyzer.report.pictures.files import BLUE, GREY, ORANGE, new_figure, save

_LINE = 0.24
"""Inches of a bar."""
_EDGES = 1.3


def draw_node_time(parts: Sequence[tuple[str, Sequence[NodeTime]]], path: Path) -> None:
    """Draw finished, cancelled and idle node time, a bar for each policy and kind of estimates.

    parts: title and rows, each a picture below the one before. Raises TracelibError where the file cannot be written.
    """
    heights = [_LINE * len(rows) + 0.4 for _, rows in parts]
    figure = new_figure(9, sum(heights) + _EDGES)
    every = figure.subplots(len(parts), 1, squeeze=False, sharex=True, height_ratios=heights)[:, 0]
    for axes, (title, rows) in zip(every, parts, strict=True):
        _bars(axes, rows)
        axes.set_title(title, fontsize=10, loc="left")
    every[-1].set_xlabel("node time (%)")
    handles, labels = every[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper right", ncols=3, frameon=False)
    save(figure, path)


def _bars(axes: Axes, rows: Sequence[NodeTime]) -> None:
    at, left = np.arange(len(rows)), np.zeros(len(rows))
    for name, colour in (("finished", BLUE), ("cancelled", ORANGE), ("idle", GREY)):
        width = np.array([100 * getattr(row, name).value for row in rows])
        axes.barh(at, width, left=left, color=colour, alpha=0.85 if name != "idle" else 0.3, label=name)
        left += width
    axes.set_yticks(at, [row.label for row in rows], fontsize=7)
    axes.set(ylim=(len(rows) - 0.5, -0.5), xlim=(0, 100))
