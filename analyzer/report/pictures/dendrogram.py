"""A picture of how rows of a network measurement were joined to clusters (Rodriguez 2011, figure 3.13)."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from scipy.cluster.hierarchy import dendrogram

from analyzer.network_measurement.intervals.clustering import Clusters
from analyzer.report.pictures.files import BLUE, GREY, ORANGE, new_figure, save
from analyzer.report.words import units

_LEAVES = 30
"""Where there are more rows, the last clusters that were joined stand for them."""


def draw(of: Clusters, title: str, path: Path) -> None:
    """Write the tree as PNG, with the line that cuts it into clusters; whole or not at all. Raises TracelibError."""
    figure = new_figure(11, 6)
    figure.suptitle(title)
    draw_tree(of, figure.subplots())
    save(figure, path)


def draw_tree(of: Clusters, axes: Axes) -> None:
    """The tree alone."""
    sizes = _sizes(of)
    dendrogram(
        of.tree, _LEAVES, "lastp", ax=axes, leaf_label_func=lambda node: _label(*sizes[node]), leaf_rotation=90,
        link_color_func=lambda _: BLUE,
    )  # fmt: skip
    number = int(of.labels.max()) + 1
    if number > 1:
        height = float(of.tree[-number, 2] + of.tree[1 - number, 2]) / 2 if number <= len(of.tree) else 0.0
        axes.axhline(height, color=ORANGE, linestyle="--", linewidth=1.2)
        axes.annotate(units.plural(number, "cluster"), (1, height), (-4, 3), ("axes fraction", "data"),
                      textcoords="offset points", ha="right", color=ORANGE)  # fmt: skip
    axes.set_ylabel("distance at which clusters were joined")
    axes.set_xlabel("bytes from-to (rows)")
    axes.tick_params(axis="x", labelsize=8)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="y", color=GREY, alpha=0.25)


def _sizes(of: Clusters) -> list[tuple[int, int, int]]:
    """Of each node of the tree, rows first: smallest and largest size in bytes, and number of rows."""
    found = [(int(size), int(size), 1) for size in of.size]
    for left, right in of.tree[:, :2].astype(np.int64).tolist():
        a, b = found[left], found[right]
        found.append((min(a[0], b[0]), max(a[1], b[1]), a[2] + b[2]))
    return found


def _label(least: int, most: int, rows: int) -> str:
    return f"{least} ({rows})" if least == most else f"{least}-{most} ({rows})"
