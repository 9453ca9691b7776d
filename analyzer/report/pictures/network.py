"""A picture of a network's model: measured times, the lines of the model, and their differences."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, LogLocator

from analyzer.loggp.model import LoOgGP
from analyzer.network_measurement.estimate import Estimate
from analyzer.network_measurement.sample import Curve
from analyzer.report.network import PLACES
from analyzer.report.pictures.files import BLUE, GREY, ORANGE, new_figure, save
from analyzer.report.words import units

_COLOURS = {"gap": BLUE, "way": GREY, "overhead": ORANGE}
_LABELS = {"gap": "gap", "way": "way (half a ping-pong)", "overhead": "overhead"}
_POINTS = 400
_DEVIATION = 0.2
"""Larger deviations are drawn at the edge of the lower picture."""


def draw(of: Estimate, path: Path) -> None:
    """Write the picture as PNG; whole or not at all. Raises TracelibError."""
    figure = new_figure()
    upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=[3, 1])
    _times(of, upper)
    _deviations(of, lower)
    for axes in (upper, lower):
        for i in of.model.intervals[1:]:
            axes.axvline(_between(of.model, i.from_bytes), color="#bbbbbb", linewidth=0.8, linestyle=":", zorder=0)
    figure.suptitle(f"{PLACES[of.model.about['where']]}: {of.model.about.get('file', '')}")
    save(figure, path)


def _curves(of: Estimate) -> dict[str, Curve]:
    return {name: getattr(of.curves, name) for name in _COLOURS}


def _lines(model: LoOgGP, name: str, size: np.ndarray) -> np.ndarray:
    return {"gap": model.gap, "way": model.time, "overhead": model.overhead}[name](size)


def _times(of: Estimate, axes: Axes) -> None:
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


def _deviations(of: Estimate, axes: Axes) -> None:
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
    """Where the model changes from one interval to the one from `begin` on."""
    before = max(i.to_bytes for i in model.intervals if i.to_bytes < begin)
    return (before + begin) / 2
