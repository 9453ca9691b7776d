"""Picture of a composed model: the share of a quantity in the observable, along each parameter.

Source: "TIA specification", section 4.9 (figure 5.26).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes

from analyzer.models.composed_models import ComposedModel
from analyzer.report.composed import ComposedRow
from analyzer.report.pictures.files import GREY, new_figure, save

_PARAMETERS, _CURVES, _POINTS = 3, 9, 40
_WIDE = 30.0
"""Ratio of the ends of a range above which its axis is logarithmic."""


def draw_composed(both: ComposedModel, name: str, rows: Sequence[ComposedRow], path: Path) -> None:
    """Draw the share of one quantity along each parameter, with the 95 % interval of the first curve.

    Args:
        both: The composed model.
        name: The quantity.
        rows: The settings that were measured. Measured shares are drawn as dots.
        path: A .png file.

    Raises:
        TracelibError: The file cannot be written.
    """
    varied = [key for key in both.parameters if len({row.at[key] for row in rows}) > 1] or list(both.parameters)
    names = varied[:_PARAMETERS]
    figure = new_figure(max(4.6 * len(names), 6.0), 4.4)
    for column, parameter in enumerate(names):
        axes = figure.add_subplot(1, len(names), column + 1)
        _draw_share(both, name, parameter, rows, axes)
        axes.set(xlabel=parameter, ylabel=f"part of {name} in {both.observable}, %")
    save(figure, path)


def _draw_share(both: ComposedModel, name: str, parameter: str, rows: Sequence[ComposedRow], axes: Axes) -> None:
    at = [row.at[parameter] for row in rows]
    is_wide = 0 < _WIDE * min(at) < max(at)
    x = (np.geomspace if is_wide else np.linspace)(min(at), max(at), _POINTS)
    for number, (fixed, mine) in enumerate(_chosen(parameter, rows)):
        colour = colormaps["viridis"](0.9 * number / max(_CURVES - 1, 1))
        said = [both.share_prediction(name, **{**fixed, parameter: float(value)}) for value in x]
        axes.plot(x, [100 * one.value for one in said], color=colour, linewidth=1.3, label=_label(fixed))
        ends = 100 * np.array([one.interval for one in said])
        if number == 0 and np.isfinite(ends).all():
            axes.fill_between(x, *ends.T, color=colour, alpha=0.15, linewidth=0)
        dots = [(row.at[parameter], 100 * row.measured[name]) for row in mine if name in row.measured]
        if dots:
            axes.plot(*zip(*dots, strict=True), "o", color=colour, markersize=3)
    axes.axhline(0, color=GREY, linewidth=0.8)
    if any(len(row.at) > 1 for row in rows):
        axes.legend(frameon=False, fontsize=7, loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=3)
    if is_wide:
        axes.set_xscale("log")


def _chosen(parameter: str, rows: Sequence[ComposedRow]) -> Iterator[tuple[dict[str, float], list[ComposedRow]]]:
    """Yield at most _CURVES settings of all other parameters, each with its rows."""
    others: dict[tuple, list[ComposedRow]] = {}
    for row in rows:
        others.setdefault(tuple((k, v) for k, v in row.at.items() if k != parameter), []).append(row)
    keys = sorted(others)
    for place in np.unique(np.linspace(0, len(keys) - 1, _CURVES).round().astype(int)).tolist():
        yield dict(keys[place]), others[keys[place]]


def _label(fixed: dict[str, float]) -> str:
    return ", ".join(f"{key}={value:g}" for key, value in fixed.items())
