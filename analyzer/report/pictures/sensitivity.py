"""Picture of sweeps: the time of a run over each parameter, with the knee."""

from __future__ import annotations

import math
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from analyzer.report.pictures.files import new_figure, save
from analyzer.report.sensitivity import SensitivityReport, beyond_knee
from analyzer.report.words import units
from analyzer.report.words.replays import value_text
from analyzer.sensitivity.knees import THRESHOLD
from analyzer.sensitivity.study import SweepEnds

_TIME, _KNEE, _HERE = "#0072b2", "#d55e00", "#888888"
"""Colours that colour-blind people can tell apart (Okabe and Ito)."""
_HEIGHT = 3.2  # inches of a row of pictures
_WIDTH = 4.5
_SPANS = 5.0
"""Ratio of the largest and the least time above which the axis is logarithmic."""
_MB = float(1 << 20)


def draw_sweeps(studied: SensitivityReport, path: Path) -> None:
    """Draw all sweeps into one picture. The file appears complete or not at all.

    Raises:
        TracelibError: The file cannot be written.
    """
    sweeps = studied.found.sweeps
    columns = min(2, len(sweeps))
    rows = math.ceil(len(sweeps) / columns)
    figure = new_figure(_WIDTH * columns, _HEIGHT * rows)
    drawn = figure.subplots(rows, columns, squeeze=False).flatten()
    for axes, swept in zip(drawn, sweeps, strict=False):
        _draw(swept, studied, axes)
    for axes in drawn[len(sweeps) :]:
        axes.set_visible(False)
    figure.suptitle(f"{Path(studied.file).name}: predicted time")
    save(figure, path)


def _draw(swept: SweepEnds, studied: SensitivityReport, axes: Axes) -> None:
    of = swept.sweep.parameter
    unit, name = (_MB, f"{of.name}, MiB/s") if of.unit == "bytes/s" else (1.0, of.name)
    times = [end / 1e9 for end in swept.ends_ns]
    axes.plot([value / unit for value in swept.sweep.values], times, ".-", color=_TIME, linewidth=1.4, markersize=5)
    here = of.get(studied.found.machine)
    if swept.sweep.values[0] <= here <= swept.sweep.values[-1]:
        axes.axvline(here / unit, color=_HERE, linewidth=1, linestyle=":", label=f"machine: {value_text(of, here)}")
    if swept.knee is not None:
        label = f"{100 * THRESHOLD:.0f} % longer: {beyond_knee(swept)}"
        axes.axvline(swept.knee / unit, color=_KNEE, linewidth=1, linestyle="--", label=label)
    axes.set_xscale("log")
    if of.whole:
        axes.xaxis.set_major_locator(LogLocator(base=2))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}" if unit > 1 else value_text(of, x)))
    axes.xaxis.set_minor_formatter(NullFormatter())
    if max(times) > _SPANS * min(times):
        axes.set_yscale("log")
        axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.yaxis.set_minor_formatter(NullFormatter())
    else:
        axes.set_ylim(0, 1.1 * max(times) or 1.0)
    axes.yaxis.set_major_formatter(FuncFormatter(lambda s, _: units.time(s * 1e9)))
    axes.tick_params(labelsize=8)
    axes.set_xlabel(name)
    if axes.get_legend_handles_labels()[1]:
        axes.legend(fontsize=8, edgecolor="none")
