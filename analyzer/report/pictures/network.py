"""Pictures of a network's model: measured times with the lines of the model, and their differences.

Also how rows of a measurement were joined to clusters (Rodriguez 2011, figure 3.13).
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, LogLocator
from scipy.cluster.hierarchy import dendrogram

from analyzer.loggp.model import LoOgGP
from analyzer.network_measurement.estimate import LinkEstimate
from analyzer.network_measurement.intervals.clustering import SizeClusters
from analyzer.network_measurement.sample import SizeCurve
from analyzer.report.network import PLACES
from analyzer.report.pictures.files import BLUE, GREY, ORANGE, new_figure, save
from analyzer.report.words import units

_COLOURS = {"gap": BLUE, "way": GREY, "overhead": ORANGE}
_LABELS = {"gap": "gap", "way": "way (half a ping-pong)", "overhead": "overhead"}
_POINTS = 400
_DEVIATION = 0.2
"""Deviations larger than this share are drawn at the edge of the lower picture."""


def draw_network(of: LinkEstimate, path: Path) -> None:
    """Draw the model of a link with the measured times. The file appears complete or not at all.

    Raises:
        TracelibError: The file cannot be written.
    """
    figure = new_figure()
    upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=[3, 1])
    _times(of, upper)
    _deviations(of, lower)
    for axes in (upper, lower):
        for i in of.model.intervals[1:]:
            axes.axvline(_between(of.model, i.from_bytes), color="#bbbbbb", linewidth=0.8, linestyle=":", zorder=0)
    figure.suptitle(f"{PLACES[of.model.about['where']]}: {of.model.about.get('file', '')}")
    save(figure, path)


def _curves(of: LinkEstimate) -> dict[str, SizeCurve]:
    return {name: getattr(of.curves, name) for name in _COLOURS}


def _lines(model: LoOgGP, name: str, size: np.ndarray) -> np.ndarray:
    return {"gap": model.gap, "way": model.time, "overhead": model.overhead}[name](size)


def _times(of: LinkEstimate, axes: Axes) -> None:
    first, last = int(of.curves.size[0]), int(of.curves.size[-1])
    size = np.unique(np.geomspace(first, last, _POINTS))
    for name, curve in _curves(of).items():
        seen = curve.time_s > 0
        axes.plot(of.curves.size[seen], curve.time_s[seen] * 1e6, ".", markersize=4, color=_COLOURS[name], alpha=0.5)
        values = _lines(of.model, name, size)
        above = np.where(values > 0, values, np.nan) * 1e6
        axes.plot(size, above, color=_COLOURS[name], linewidth=1.4, label=_LABELS[name])
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.yaxis.set_major_formatter(FuncFormatter(lambda us, _: units.time(us * 1e3)))
    axes.set_ylabel("time of a message")
    for i in of.model.intervals[:-1]:
        axes.annotate(f"{i.to_bytes}", (i.to_bytes, 0.01), xycoords=("data", "axes fraction"), rotation=90,
                      fontsize=8, color="#555555", ha="right", va="bottom")  # fmt: skip
    axes.legend(loc="upper left", frameon=False)


def _deviations(of: LinkEstimate, axes: Axes) -> None:
    for name, curve in _curves(of).items():
        with np.errstate(divide="ignore", invalid="ignore"):
            off = np.clip(curve.time_s / _lines(of.model, name, of.curves.size) - 1, -_DEVIATION, _DEVIATION)
        axes.plot(of.curves.size, 100 * off, ".", markersize=4, color=_COLOURS[name], alpha=0.6)
    axes.axhline(0, color="black", linewidth=0.6)
    axes.set_ylabel("measured - model, %")
    axes.set_xlabel("bytes")
    axes.xaxis.set_major_locator(LogLocator(base=2, numticks=14))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda size, _: units.size(size, "")))


def _between(model: LoOgGP, begin: int) -> float:
    """Return the size in bytes at which the model changes to the interval that begins at `begin`."""
    before = max(i.to_bytes for i in model.intervals if i.to_bytes < begin)
    return (before + begin) / 2


_LEAVES = 30
"""Largest number of leaves of a tree. With more rows, the last joined clusters are the leaves."""


def draw_dendrogram(of: SizeClusters, title: str, path: Path) -> None:
    """Draw the tree of clusters, with the line that cuts it. The file appears complete or not at all.

    Raises:
        TracelibError: The file cannot be written.
    """
    figure = new_figure(11, 6)
    figure.suptitle(title)
    draw_tree(of, figure.subplots())
    save(figure, path)


def draw_tree(of: SizeClusters, axes: Axes) -> None:
    """Draw the tree of clusters into axes."""
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


def _sizes(of: SizeClusters) -> list[tuple[int, int, int]]:
    """Return smallest and largest size in bytes and number of rows of each node of the tree, leaves first."""
    found = [(int(size), int(size), 1) for size in of.size]
    for left, right in of.tree[:, :2].astype(np.int64).tolist():
        a, b = found[left], found[right]
        found.append((min(a[0], b[0]), max(a[1], b[1]), a[2] + b[2]))
    return found


def _label(least: int, most: int, rows: int) -> str:
    return f"{least} ({rows})" if least == most else f"{least}-{most} ({rows})"
