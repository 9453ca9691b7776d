"""Picture of a representative subset: its place in the series, its values, and the errors of other lengths."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter

from analyzer.report.pictures.files import BLUE, GREY, ORANGE, new_figure, save
from analyzer.report.representative import RepresentativeReport
from analyzer.report.words import units

_POINTS = 1500
"""Largest number of points of a line. With more steps, the range of several steps is drawn."""
_AROUND = 2
"""Number of periods that are shown before and after the subset."""
_COLOURS = (BLUE, ORANGE, GREY)


def draw_representative(found: RepresentativeReport, path: Path) -> None:
    """Draw a representative subset. The file appears complete or not at all.

    Raises:
        TracelibError: The file cannot be written.
    """
    subset, name = found.subset, Path(found.series.name).name
    rows = 1 if subset is None else 4 if found.sweep else 3
    figure = new_figure(10, 1 + 2.2 * rows)
    places = figure.subplots(rows, 1, squeeze=False).flatten().tolist()
    _metric(found, places[0], 0, len(found.series))
    if subset is None:
        figure.suptitle(f"{name}: {found.metrics[0].text} has no period")
    else:
        reach = _AROUND * subset.length
        _metric(found, places[1], max(subset.start - reach, 0), min(subset.part.stop + reach, len(found.series)))
        _lengths(found, places[2])
        if found.sweep:
            _sweep(found, subset.length, places[3])
        share = f"1/{len(found.series) / subset.length:.3g}"
        figure.suptitle(f"{name}: {share} of it stands for the whole, by {found.metrics[0].text}")
    save(figure, path)


def _metric(found: RepresentativeReport, axes: Axes, first: int, last: int) -> None:
    """Draw the metric in steps [first, last), with the subset in colour, and the value of the whole as a line."""
    series, metric = found.series, found.metrics[0]
    low, high, at = ranges(metric.values()[first:last])
    times = (first + at) * series.step
    if len(at) < last - first:
        axes.fill_between(times, low, high, color=GREY, linewidth=0.5)
    else:
        axes.step(times, low, where="post", color=GREY, linewidth=1)
    axes.axhline(metric.over(slice(None)), color=BLUE, linewidth=0.8, linestyle="--", label="the whole")
    if found.subset is not None:
        part = found.subset.part
        axes.axvspan(part.start * series.step, part.stop * series.step, color=ORANGE, alpha=0.3, linewidth=0,
                     label="representative")  # fmt: skip
    axes.set_xlim(first * series.step, last * series.step)
    axes.set_ylabel(metric.text, fontsize=8)
    axes.legend(loc="upper right", fontsize=7)
    if series.unit == "ns":
        axes.xaxis.set_major_formatter(FuncFormatter(lambda ns, _: units.time(ns) if ns else "0"))
    else:
        axes.set_xlabel("steps", fontsize=8)


def ranges(values: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Reduce values to the range of at most _POINTS stretches of steps.

    Returns:
        Least value, largest value and first step of each stretch.
    """
    at = np.unique(np.linspace(0, len(values), min(len(values), _POINTS), endpoint=False).astype(np.int64))
    return np.minimum.reduceat(values, at), np.maximum.reduceat(values, at), at


def _lengths(found: RepresentativeReport, axes: Axes) -> None:
    """Draw the error of each metric by length of the subset, in % of the period."""
    for number, (metric, colour) in enumerate(zip(found.metrics, _COLOURS, strict=False)):
        errors = [one.errors[number] for one in found.lengths]
        known = [(one.share, 100 * e) for one, e in zip(found.lengths, errors, strict=True) if e is not None]
        axes.plot([x for x, _ in known], [y for _, y in known], "o-", color=colour, label=metric.text)
    axes.set_ylim(bottom=0)
    axes.set_xlabel("length from the same begin, % of the period", fontsize=8)
    axes.set_ylabel("error, %", fontsize=8)
    axes.legend(loc="upper right", fontsize=7)


def _sweep(found: RepresentativeReport, period: int, axes: Axes) -> None:
    """Draw the errors of the three ways of sampling by length of their intervals."""
    for way, colour in zip(("msp", "ssp", "lsp"), _COLOURS, strict=True):
        known = [(one.steps, 100 * e) for one in found.sweep or () if (e := getattr(one, way)) is not None]
        axes.plot([x for x, _ in known], [y for _, y in known], color=colour, label=way.upper(), linewidth=1)
    for number in (1, 2):
        axes.axvline(number * period, color=GREY, linestyle=":", linewidth=1)
    axes.set_ylim(bottom=0)
    axes.set_xlabel("length of the intervals, steps (dotted: one and two periods)", fontsize=8)
    axes.set_ylabel("error, %", fontsize=8)
    axes.legend(loc="upper right", fontsize=7)
