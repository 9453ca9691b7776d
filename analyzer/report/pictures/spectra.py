"""What phases, periods and perturbed times are found by, as pictures: wavelet details and the signals of what perturbs
over time, the autocorrelation over the lag."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter

from analyzer.report.pictures.files import BLUE, GREY, ORANGE
from analyzer.report.words import units
from analyzer.structure.period import coarser, correlation
from analyzer.structure.perturbations import Cause, Disturbing
from analyzer.structure.signals import NAMES, Signal
from analyzer.structure.wavelets import NEIGHBOURS, NOTHING, THRESHOLD, details, selected

_LEVELS = 12
"""Levels of detail that are drawn; the finest ones."""
_COLUMNS = 1000
_POINTS = 1 << 12
_LAGS = 6
"""Periods that lags go up to."""


_NAMES = {
    Cause.FLUSHING: "processes\nflushing",
    Cause.PREEMPTION: "rate of CPUs,\n1 is usual",
    Cause.CLOGGED: "in flight per\nbandwidth",
}


def draw_details(signal: Signal, axes: Axes) -> None:
    """The largest absolute detail coefficient of each level (down; 1: the highest frequencies) in each column of time,
    as a share of the largest of its level: the phase that computes is where the upper lines are dark. The orange lines
    are the stretches that each level selects as the phase."""
    shown = largest_details(signal.values)
    end = signal.begin_ns + signal.width_ns * len(signal.values)
    extent = (signal.begin_ns / 1e9, end / 1e9, len(shown) + 0.5, 0.5)
    axes.imshow(shown, aspect="auto", cmap="Blues", extent=extent, interpolation="nearest", vmin=0, vmax=1)
    for level, stretches in enumerate(phases(signal.values), 1):
        first, last = (signal.begin_ns + stretches.T * signal.width_ns) / 1e9
        axes.hlines(np.full(len(first), level + 0.4), first, last, color=ORANGE, linewidth=1)
    axes.set_ylabel("wavelet\nlevel", fontsize=7)


def phases(values: np.ndarray) -> list[np.ndarray]:
    """Of each level that is drawn the stretches of high frequency, int64 (n, 2); none where it has no information."""
    found, least = [], NOTHING * float(np.abs(values).max(initial=0))
    for level, coefficients in enumerate(details(values)[:_LEVELS], 1):
        size = np.abs(coefficients)
        stretches = np.zeros((0, 2), np.int64)
        if size.max(initial=0) > least:
            stretches = np.minimum(selected(size, THRESHOLD, NEIGHBOURS) << level, len(values))
        found.append(stretches)
    return found


def draw_disturbing(one: Disturbing, axes: Axes) -> None:
    """The signal, and in orange what its filter leaves of it."""
    times = np.arange(len(one.values)) * one.width_ns / 1e9
    axes.step(times, one.values, where="post", color=GREY, linewidth=0.7)
    axes.step(times, one.filtered, where="post", color=ORANGE, linewidth=1)
    axes.set_ylim(bottom=0)
    axes.set_ylabel(_NAMES[one.cause], fontsize=7)


def largest_details(values: np.ndarray) -> np.ndarray:
    """float64 (levels, columns): of each level and stretch of the values the largest |coefficient|, as a share of the
    largest of the level; 0 in a level without information."""
    columns = min(len(values), _COLUMNS)
    found = np.zeros((0, columns))
    if not columns:
        return found
    bounds = np.linspace(0, len(values), columns, endpoint=False)
    rows = []
    for level, coefficients in enumerate(details(values)[:_LEVELS], 1):
        size = np.abs(coefficients[: -(-len(values) >> level)])
        first = np.minimum(bounds.astype(np.int64) >> level, len(size) - 1)
        last = np.maximum(np.append(first[1:], len(size)), first + 1)
        rows.append([size[a:b].max() for a, b in zip(first.tolist(), last.tolist(), strict=True)])
    found = np.array(rows).reshape(-1, columns)
    most = found.max(axis=1, keepdims=True)
    return np.divide(found, most, out=np.zeros_like(found), where=most > NOTHING * np.abs(values).max())


def draw_correlation(signal: Signal, period_ns: float, axes: Axes) -> None:
    """The correlation of a signal with itself later; its maxima should lie at the period and its multiples."""
    values, width = signal.values, float(signal.width_ns)
    while len(values) > 2 * _POINTS:
        values, width = coarser(values, 2), 2 * width
    values = values - values.mean() if len(values) else values
    lags = min(int(min(len(values) / 2, _LAGS * period_ns / width)) + 1, len(values))
    axes.plot(np.arange(lags) * width, correlation(values)[:lags], color=GREY, linewidth=1)
    for number in range(1, _LAGS + 1):
        if number * period_ns < lags * width:
            axes.axvline(number * period_ns, color=ORANGE if number == 1 else BLUE, linewidth=0.8, linestyle=":")
    axes.set_xlim(0, max(lags - 1, 1) * width)
    axes.xaxis.set_major_formatter(FuncFormatter(lambda ns, _: units.time(ns) if ns else "0"))
    axes.set_title(f"{NAMES.get(signal.name, signal.name)}: correlation with itself later", fontsize=8, loc="left")
    axes.set_xlabel("lag (dotted: the period and its multiples)", fontsize=8)
