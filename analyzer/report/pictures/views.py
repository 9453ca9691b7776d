"""Pictures of views: rows over time as curves or in colours, and histograms."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
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
from analyzer.views.over_time import ViewProfile
from analyzer.views.tabulated import Histogram

ENDINGS = (".png", ".svg")
_WIDTH, _LEAST, _MOST = 11.0, 2.4, 12.0  # inches
_LINE, _CURVE, _AROUND, _TITLE = 0.3, 1.1, 1.3, 0.35
_PEAK = 4
"""Largest value of a curve that is shown, as a multiple of the highest mean."""
_CURVES = 6
"""Largest number of rows that are drawn as curves. More rows are drawn in colours."""
_ORDERS = 100
"""Ratio of the largest and the least number from which on the colour scale is logarithmic."""
_NAMED = 32
_KEYS = 14
"""Largest number of values in the legend."""
_PALETTE = (
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#f0c808", "#56b4e9", "#7b3294", "#8c510a", "#e69f00", "#1b7837",
    "#b2182b", "#4d4d4d", "#80cdc1", "#c2a5cf",
)  # fmt: skip


def draw_profiles(every: Sequence[tuple[str, ViewProfile]], title: str, path: Path) -> None:
    """Draw the rows of a view, run by run, on one scale of time and of values.

    Args:
        every: Name of each run, and the view of this run.
        title: Title of the picture.
        path: A .png or .svg file. It appears complete or not at all.

    Raises:
        TracelibError: The file cannot be written.
    """
    profiles = [of for _, of in every]
    named = any(of.names for of in profiles)
    curves = not named and max(len(of.rows) for of in profiles) <= _CURVES
    rows = sum(len(of.rows) for of in profiles)
    height = (_CURVE if curves else _LINE) * rows + _TITLE * (len(every) - 1) + _AROUND
    figure = new_figure(_WIDTH, min(max(height, _LEAST), _MOST))
    if curves:
        _draw_curves(every, figure)
    else:
        panels = _panels(figure, [len(of.rows) for of in profiles])
        _draw_named(profiles, panels, figure) if named else _draw_colours(profiles, panels, figure)
        for (label, of), axes in zip(every, panels, strict=True):
            _name_rows(of.rows, of.level, axes)
            axes.set_title(label, fontsize=8, loc="left")
        _name_time(panels[-1])
        panels[-1].set_xlim(*_span(profiles))
    figure.suptitle(title, fontsize=10, x=0.01, ha="left")
    save(figure, path)


def _panels(figure: Figure, rows: Sequence[int]) -> list[Axes]:
    """Make panels below each other with one axis of time. Their heights are proportional to their numbers of rows."""
    grid = {"height_ratios": [max(count, 1) for count in rows]}
    return list(np.atleast_1d(figure.subplots(len(rows), 1, sharex=True, gridspec_kw=grid)))


def _span(profiles: Sequence[ViewProfile]) -> tuple[float, float]:
    """Return the first begin and the last end of all runs in s."""
    begin, end = min(of.edges[0] for of in profiles), max(of.edges[-1] for of in profiles)
    return begin / 1e9, max(end, begin + 1) / 1e9


def _draw_curves(runs: Sequence[tuple[str, ViewProfile]], figure: Figure) -> None:
    """Draw each row as a curve: the mean as a line, and the range from least to most as a shade."""
    profiles = [of for _, of in runs]
    count = sum(len(of.rows) for of in profiles)
    every = np.atleast_1d(figure.subplots(count, 1, sharex=True, sharey=True))
    left = iter(every)
    for label, of in runs:
        times = of.edges / 1e9
        for number, (row, mean, low, high) in enumerate(zip(of.rows, of.mean, of.minimum, of.maximum, strict=True)):
            axes = next(left)
            axes.fill_between(times, _steps(low), _steps(high), step="post", color=GREY, alpha=0.3, linewidth=0)
            axes.stairs(mean, times, color=BLUE, linewidth=1.0)
            axes.spines[["top", "right"]].set_visible(False)
            name = row if len(of.rows) > 1 else of.unit or of.view
            axes.set_ylabel(f"{of.level} {name}" if name.isdigit() else name, fontsize=8)
            axes.tick_params(labelsize=8)
            if not number:
                axes.set_title(label, fontsize=8, loc="left")
    every[0].set_xlim(*_span(profiles))
    _limit(profiles, every)
    _name_time(every[-1])


def _limit(profiles: Sequence[ViewProfile], every: np.ndarray) -> None:
    """Cut peaks off at _PEAK times the highest mean, so that means are not flattened, and say so in the picture."""
    low = max(float(np.nanmax(-of.minimum, initial=0.0)) for of in profiles)
    high = max(float(np.nanmax(of.maximum, initial=0.0)) for of in profiles)
    mean = max(float(np.nanmax(of.mean, initial=0.0)) for of in profiles)
    top = min(high, _PEAK * mean) or 1.0
    every[0].set_ylim(-1.05 * low, 1.05 * top)
    if top < high:
        text = f"shade: least and most; up to {high:.3g}"
        every[0].set_title(text, fontsize=7, loc="right", color=GREY, pad=2)


def _steps(values: np.ndarray) -> np.ndarray:
    return np.append(values, values[-1:])


def _draw_colours(profiles: Sequence[ViewProfile], panels: Sequence[Axes], figure: Figure) -> None:
    """Draw the mean as a colour: the darker, the larger; the least value is white."""
    shades = colormaps["viridis_r"](np.linspace(0, 1, 256))
    shades[0] = (1, 1, 1, 1)
    most = max(float(np.nanmax(of.mean, initial=0.0)) for of in profiles)
    least = min(float(np.nanmin(of.mean, initial=0.0)) for of in profiles)
    norm = Normalize(least, most if most > least else least + 1.0)
    image = None
    for of, axes in zip(profiles, panels, strict=True):
        image = axes.imshow(
            of.mean, aspect="auto", interpolation="nearest", cmap=ListedColormap(shades), norm=norm, extent=_extent(of)
        )
    if image is not None:
        figure.colorbar(image, ax=list(panels), label=profiles[0].unit or profiles[0].view, pad=0.01)


def _draw_named(profiles: Sequence[ViewProfile], panels: Sequence[Axes], figure: Figure) -> None:
    """Draw for each bin the value that holds longest, each value in a colour of its own.

    Colours belong to names, because runs may have different numbers for the same name. The most frequent are in the
    legend.
    """
    counted: Counter[str] = Counter()
    for of in profiles:
        values, counts = np.unique(of.longest[~np.isnan(of.longest) & (of.longest != 0)], return_counts=True)
        for value, count in zip(values.tolist(), counts.tolist(), strict=True):
            counted[_named(of, value)] += count
    order = [name for name, _ in sorted(counted.items(), key=lambda one: -one[1])]
    colours = {name: to_rgb(_PALETTE[at % len(_PALETTE)]) for at, name in enumerate(order)}
    for of, axes in zip(profiles, panels, strict=True):
        picture = np.ones((*of.longest.shape, 3))
        for value in np.unique(of.longest[~np.isnan(of.longest) & (of.longest != 0)]).tolist():
            picture[of.longest == value] = colours[_named(of, value)]
        axes.imshow(picture, aspect="auto", interpolation="nearest", extent=_extent(of))
    keys = [Patch(color=colours[name], label=name) for name in order[:_KEYS]]
    if keys:
        figure.legend(handles=keys, loc="outside lower center", ncols=5, fontsize=8, frameon=False)


def _named(of: ViewProfile, value: float) -> str:
    return of.names.get(int(value), f"{value:g}")


def _extent(of: ViewProfile) -> tuple[float, float, float, float]:
    return of.edges[0] / 1e9, max(of.edges[-1], of.edges[0] + 1) / 1e9, len(of.rows) - 0.5, -0.5


def _name_time(axes: Axes) -> None:
    axes.xaxis.set_major_formatter(FuncFormatter(lambda s, _: units.time(s * 1e9) if s else "0"))


def _name_rows(rows: tuple[str, ...], level: str, axes: Axes) -> None:
    step = -(-len(rows) // _NAMED)
    axes.set_yticks(range(0, len(rows), step), list(rows[::step]), fontsize=8)
    axes.set_ylabel(level)
    axes.spines[["top", "right"]].set_visible(False)


def _norm(values: np.ndarray) -> Normalize:
    """Return the scale of colours.

    It is logarithmic if numbers differ by a factor of _ORDERS or more, and none is negative.
    """
    above = values[np.nan_to_num(values) > 0]
    low, high = float(above.min(initial=np.inf)), float(above.max(initial=0.0))
    if not high or (np.nan_to_num(values) < 0).any() or high < _ORDERS * low:
        return Normalize(float(np.nanmin(np.nan_to_num(values), initial=0.0)), high or 1.0)
    return LogNorm(max(low, high / 10**6), high)


def draw_histograms(every: Sequence[tuple[str, Histogram]], title: str, path: Path) -> None:
    """Draw histograms in colours: a panel for each run and plane, with common columns and one scale.

    Args:
        every: Name of each run, and the histogram of this run.
        title: Title of the picture.
        path: A .png or .svg file. It appears complete or not at all.

    Raises:
        TracelibError: The file cannot be written.
    """
    shown = [(label, of.filled()) for label, of in every]
    columns = _columns([of for _, of in shown])
    panels = [
        (" ".join(part for part in (label, plane) if part), of, _aligned(values, of.columns, columns))
        for label, of in shown
        for plane, values in zip(of.planes, of.values, strict=True)
    ]
    height = sum(_LINE * len(of.rows) + _AROUND for _, of, _ in panels)
    figure = new_figure(_WIDTH, min(max(height, _LEAST + 0.8), _MOST))
    norm = _norm(np.concatenate([values.ravel() for *_, values in panels]))
    image = None
    axes_of = _panels(figure, [len(of.rows) for _, of, _ in panels])
    for axes, (name, of, values) in zip(axes_of, panels, strict=True):
        filled = np.where(values == 0, np.nan, values)
        image = axes.imshow(filled, aspect="auto", interpolation="nearest", cmap="viridis_r", norm=norm)
        _name_rows(of.rows, of.level, axes)
        axes.set_title(name, fontsize=8, loc="left")
        step = -(-max(len(columns), 1) // _NAMED)
        axes.set_xticks(range(0, len(columns), step), columns[::step], fontsize=7, rotation=45)
        for label in axes.get_xticklabels():
            label.set_horizontalalignment("right")
    first = shown[0][1]
    axes_of[-1].set_xlabel(first.control)
    if image is not None:
        unit = f" ({first.unit})" if first.unit else ""
        figure.colorbar(image, ax=axes_of, label=f"{first.statistic}{unit}", pad=0.01)
    figure.suptitle(title, fontsize=10, x=0.01, ha="left")
    save(figure, path)


def _columns(every: Sequence[Histogram]) -> list[str]:
    """Return the columns of all runs in order of their values. The first run that has a name determines its place."""
    places: dict[str, float] = {}
    for of in every:
        for name, edge in zip(of.columns, of.edges.tolist(), strict=True):
            places.setdefault(name, edge)
    return sorted(places, key=lambda name: places[name])


def _aligned(values: np.ndarray, own: Sequence[str], columns: Sequence[str]) -> np.ndarray:
    """Place values of shape (rows, own columns) into the columns of all runs. NaN: the run does not have the column."""
    place = {name: at for at, name in enumerate(columns)}
    found = np.full((len(values), len(columns)), np.nan)
    found[:, [place[name] for name in own]] = values
    return found
