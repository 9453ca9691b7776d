"""Views as pictures: rows over time in colours or as level curves, and histograms."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap, LogNorm, Normalize, to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter

from analyzer.report.pictures.files import BLUE, GREY, new_figure, save
from analyzer.report.words import units
from analyzer.views.over_time import Profile
from analyzer.views.tabulated import Histogram

ENDINGS = (".png", ".svg")
BINS = 1200
_WIDTH, _LEAST, _MOST = 11.0, 2.4, 12.0  # inches
_LINE, _CURVE, _AROUND = 0.3, 1.1, 1.3
_PEAK = 4
"""How far above the highest mean a curve is shown."""
_CURVES = 6
"""Rows that are drawn as curves; more are colours."""
_ORDERS = 100
"""Numbers that differ by more are in logarithmic colours."""
_NAMED = 32
_KEYS = 14
"""Names of values that have room below."""
_PALETTE = (
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#f0c808", "#56b4e9", "#7b3294", "#8c510a", "#e69f00", "#1b7837",
    "#b2182b", "#4d4d4d", "#80cdc1", "#c2a5cf",
)  # fmt: skip


def draw_profile(of: Profile, title: str, path: Path) -> None:
    """A row of the picture for each row of the view; whole or not at all. Raises TracelibError."""
    curves = not of.names and len(of.rows) <= _CURVES
    height = (_CURVE if curves else _LINE) * len(of.rows) + _AROUND
    figure = new_figure(_WIDTH, min(max(height, _LEAST), _MOST))
    if curves:
        _draw_curves(of, figure)
    else:
        axes = figure.subplots()
        _draw_named(of, axes, figure) if of.names else _draw_colours(of, axes, figure)
        _name_rows(of.rows, of.level, axes)
        _name_time(axes)
    figure.suptitle(title, fontsize=10, x=0.01, ha="left")
    save(figure, path)


def _draw_curves(of: Profile, figure: Figure) -> None:
    """The mean as a line; from least to most as a shade."""
    every = np.atleast_1d(figure.subplots(len(of.rows), 1, sharex=True, sharey=True))
    times = of.edges / 1e9
    for axes, row, mean, low, high in zip(every, of.rows, of.mean, of.minimum, of.maximum, strict=True):
        axes.fill_between(times, _steps(low), _steps(high), step="post", color=GREY, alpha=0.3, linewidth=0)
        axes.stairs(mean, times, color=BLUE, linewidth=1.0)
        axes.set_xlim(times[0], times[-1])
        axes.spines[["top", "right"]].set_visible(False)
        label = row if len(of.rows) > 1 else of.unit or of.view
        axes.set_ylabel(f"{of.level} {label}" if label.isdigit() else label, fontsize=8)
        axes.tick_params(labelsize=8)
    _limit(of, every)
    _name_time(every[-1])


def _limit(of: Profile, every: np.ndarray) -> None:
    """Peaks of an instant do not make the means flat: what is far above these is cut, and said."""
    low, high, mean = (float(np.nanmax(sign * values, initial=0.0)) for sign, values in (
        (-1, of.minimum), (1, of.maximum), (1, of.mean),
    ))  # fmt: skip
    top = min(high, _PEAK * mean) or 1.0
    every[0].set_ylim(-1.05 * low, 1.05 * top)
    if top < high:
        text = f"shade: least and most; up to {high:.3g}"
        every[0].set_title(text, fontsize=7, loc="right", color=GREY, pad=2)


def _steps(values: np.ndarray) -> np.ndarray:
    return np.append(values, values[-1:])


def _draw_colours(of: Profile, axes: Axes, figure: Figure) -> None:
    """The mean as a colour: the darker, the more; nothing is white."""
    shades = colormaps["viridis_r"](np.linspace(0, 1, 256))
    shades[0] = (1, 1, 1, 1)
    image = axes.imshow(
        of.mean, aspect="auto", interpolation="nearest", cmap=ListedColormap(shades), vmin=0, extent=_extent(of)
    )
    figure.colorbar(image, ax=axes, label=of.unit or of.view, pad=0.01)


def _draw_named(of: Profile, axes: Axes, figure: Figure) -> None:
    """The value that has most of each pixel, in a colour of its own; those that come most often are named."""
    values, counts = np.unique(of.longest[~np.isnan(of.longest) & (of.longest != 0)], return_counts=True)
    order = values[np.argsort(-counts, kind="stable")]
    colours = {value: to_rgb(_PALETTE[at % len(_PALETTE)]) for at, value in enumerate(order.tolist())}
    picture = np.ones((*of.longest.shape, 3))
    for value, colour in colours.items():
        picture[of.longest == value] = colour
    axes.imshow(picture, aspect="auto", interpolation="nearest", extent=_extent(of))
    keys = [
        Patch(color=colours[value], label=of.names.get(int(value), f"{value:g}")) for value in order[:_KEYS].tolist()
    ]
    if keys:
        figure.legend(handles=keys, loc="outside lower center", ncols=5, fontsize=8, frameon=False)


def _extent(of: Profile) -> tuple[float, float, float, float]:
    return of.edges[0] / 1e9, max(of.edges[-1], of.edges[0] + 1) / 1e9, len(of.rows) - 0.5, -0.5


def _name_time(axes: Axes) -> None:
    axes.xaxis.set_major_formatter(FuncFormatter(lambda s, _: units.time(s * 1e9) if s else "0"))


def _name_rows(rows: tuple[str, ...], level: str, axes: Axes) -> None:
    step = -(-len(rows) // _NAMED)
    axes.set_yticks(range(0, len(rows), step), list(rows[::step]), fontsize=8)
    axes.set_ylabel(level)
    axes.spines[["top", "right"]].set_visible(False)


def _norm(values: np.ndarray) -> Normalize:
    """Logarithmic where numbers are of different orders."""
    above = values[np.nan_to_num(values) > 0]
    low, high = float(above.min(initial=np.inf)), float(above.max(initial=0.0))
    if not high or (np.nan_to_num(values) < 0).any() or high < _ORDERS * low:
        return Normalize(float(np.nanmin(np.nan_to_num(values), initial=0.0)), high or 1.0)
    return LogNorm(max(low, high / 10**6), high)


def draw_histogram(of: Histogram, title: str, path: Path) -> None:
    """Rows and columns in colours, a panel for each plane; whole or not at all. Raises TracelibError."""
    shown = of.filled()
    planes = len(shown.planes)
    figure = new_figure(_WIDTH, min(max(planes * (_LINE * len(shown.rows) + _AROUND), _LEAST + 0.8), _MOST))
    panels = np.atleast_1d(figure.subplots(planes, 1, sharex=True))
    image = None
    norm = _norm(shown.values)
    for axes, name, values in zip(panels, shown.planes, shown.values, strict=True):
        filled = np.where(values == 0, np.nan, values)
        image = axes.imshow(filled, aspect="auto", interpolation="nearest", cmap="viridis_r", norm=norm)
        _name_rows(shown.rows, shown.level, axes)
        axes.set_title(name, fontsize=8, loc="left")
        step = -(-max(len(shown.columns), 1) // _NAMED)
        axes.set_xticks(range(0, len(shown.columns), step), list(shown.columns[::step]), fontsize=7, rotation=45)
        for label in axes.get_xticklabels():
            label.set_horizontalalignment("right")
    panels[-1].set_xlabel(shown.control)
    if image is not None:
        unit = f" ({shown.unit})" if shown.unit else ""
        figure.colorbar(image, ax=list(panels), label=f"{shown.statistic}{unit}", pad=0.01)
    figure.suptitle(title, fontsize=10, x=0.01, ha="left")
    save(figure, path)
