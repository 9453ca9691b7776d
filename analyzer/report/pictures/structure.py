"""Picture of the structure of a run: iterations by rank, signals, and the parts on each level.

It also shows how phases, periods and perturbed times were found: wavelet details and perturbing signals over time, and
the autocorrelation over the lag.
"""

from __future__ import annotations

from pathlib import Path
from textwrap import fill
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter

from analyzer.imbalance.analysis import Imbalance
from analyzer.report.pictures.files import BLUE, GREY, ORANGE, new_figure, save
from analyzer.report.pictures.iterations import Heat, draw_heats
from analyzer.report.structure import structure_sentence
from analyzer.report.words import units
from analyzer.structure.levels.by_signals import undisturbed
from analyzer.structure.levels.parts import RunPart, Structure
from analyzer.structure.period import coarser, correlation
from analyzer.structure.perturbations import PerturbationCause, PerturbingSignal
from analyzer.structure.signals import NAMES, RunSignal
from analyzer.structure.signals.from_calls import BURSTS
from analyzer.structure.wavelets import NEIGHBOURS, NOTHING, THRESHOLD, details, selected

_LEVELS = 12
"""Number of wavelet levels that are drawn, from the finest."""
_COLUMNS = 1000
_POINTS = 1 << 12
_LAGS = 6
"""Largest lag that is drawn, in periods."""


_NAMES = {
    PerturbationCause.FLUSHING: "processes\nflushing",
    PerturbationCause.PREEMPTION: "rate of CPUs,\n1 is usual",
    PerturbationCause.CLOGGED: "in flight per\nbandwidth",
}


def draw_details(signal: RunSignal, axes: Axes) -> None:
    """Draw the wavelet details of a signal: the largest absolute coefficient of each level in each column of time.

    Levels go down from 1, the highest frequencies. Values are shares of the largest coefficient of the level. A
    computing phase is where the upper levels are dark. Orange lines are the stretches that each level selects as the
    phase.
    """
    shown = largest_details(signal.values)
    end = signal.begin_ns + signal.width_ns * len(signal.values)
    extent = (signal.begin_ns / 1e9, end / 1e9, len(shown) + 0.5, 0.5)
    axes.imshow(shown, aspect="auto", cmap="Blues", extent=extent, interpolation="nearest", vmin=0, vmax=1)
    for level, stretches in enumerate(phases(signal.values), 1):
        first, last = (signal.begin_ns + stretches.T * signal.width_ns) / 1e9
        axes.hlines(np.full(len(first), level + 0.4), first, last, color=ORANGE, linewidth=1)
    axes.set_ylabel("wavelet\nlevel", fontsize=7)


def phases(values: np.ndarray) -> list[np.ndarray]:
    """Find the stretches of high frequency in each level that is drawn.

    Returns:
        For each level the begins and ends, int64 of shape (n, 2); n = 0: the level has no information.
    """
    found, least = [], NOTHING * float(np.abs(values).max(initial=0))
    for level, coefficients in enumerate(details(values)[:_LEVELS], 1):
        size = np.abs(coefficients)
        stretches = np.zeros((0, 2), np.int64)
        if size.max(initial=0) > least:
            stretches = np.minimum(selected(size, THRESHOLD, NEIGHBOURS) << level, len(values))
        found.append(stretches)
    return found


def draw_disturbing(one: PerturbingSignal, axes: Axes) -> None:
    """Draw a perturbing signal and, in orange, the part of it that its filter leaves."""
    times = np.arange(len(one.values)) * one.width_ns / 1e9
    axes.step(times, one.values, where="post", color=GREY, linewidth=0.7)
    axes.step(times, one.filtered, where="post", color=ORANGE, linewidth=1)
    axes.set_ylim(bottom=0)
    axes.set_ylabel(_NAMES[one.cause], fontsize=7)


def largest_details(values: np.ndarray) -> np.ndarray:
    """Return the largest absolute coefficient of each level and column, float64 of shape (levels, columns).

    Values are shares of the largest of the level; 0: the level has no information.
    """
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


def draw_correlation(signal: RunSignal, period_ns: float, axes: Axes) -> None:
    """Draw the autocorrelation of a signal. Its maxima should lie at multiples of the period."""
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


ENDINGS = (".png",)
_MOST_POINTS, _MOST_RANKS, _MOST_ITERATIONS = 2000, 64, 1000
"""Largest number of bins, ranks and iterations in a picture."""
_COLOURS = (BLUE, ORANGE)
_LINE = 115
"""Number of letters of a title that fit in a line."""
_MAPS_HEIGHT, _CORRELATION_HEIGHT = 4.5, 1.8


def draw(structure: Structure, path: Path, even: Imbalance | None = None) -> None:
    """Draw the structure of a run. The file appears complete or not at all.

    Args:
        structure: The structure.
        path: The file.
        even: Imbalance of the main loop, for maps of ranks over iterations. None: no maps.

    Raises:
        TracelibError: The file cannot be written.
    """
    shown, disturbing = structure.signals, [one for one in structure.disturbing if one.marked.any()]
    has_ranks = structure.main is not None and structure.ranks > 0
    heights = [2.0] * has_ranks + [1.0] * (len(shown) + bool(shown) + len(disturbing)) + [1.4]
    main = structure.main.iterations if structure.main and shown else None
    rooms = [1.2 + 1.1 * sum(heights)] + [_CORRELATION_HEIGHT] * (main is not None) + [_MAPS_HEIGHT] * bool(even)
    whole = new_figure(10, sum(rooms))
    parts: Any = whole.subfigures(len(rooms), 1, height_ratios=rooms, squeeze=False)[:, 0]
    figure = parts[0]
    if main is not None:
        part = undisturbed(shown[0], main.begin_ns, main.end_ns, structure.perturbed)
        draw_correlation(part, main.period_ns, parts[1].subplots())
    if even is not None:
        draw_heats(parts[-1], [Heat("Computing", even.computing_ns), Heat("In MPI, or nobody's", even.elsewhere_ns)])
    axes = figure.subplots(len(heights), 1, sharex=True, squeeze=False, height_ratios=heights).flatten().tolist()
    last = axes[-1]
    if has_ranks:
        _ranks(structure, axes.pop(0))
    for signal, place in zip(shown, axes, strict=False):
        _signal(signal, place)
    if shown and len(shown[0].values):
        draw_details(shown[0], axes[len(shown)])
    for signs, place in zip(disturbing, axes[len(shown) + bool(shown) :], strict=False):
        draw_disturbing(signs, place)
    for place in axes[:-1]:
        for one in structure.perturbed:
            place.axvspan(one.begin_ns / 1e9, one.end_ns / 1e9, color="red", alpha=0.2, linewidth=0)
    _tree(structure, last)
    last.xaxis.set_major_formatter(FuncFormatter(lambda s, _: units.time(s * 1e9) if s else "0"))
    last.set_xlim(0, structure.duration_ns / 1e9 or 1)
    title = f"{Path(structure.file).name}: {structure_sentence(structure)}"
    figure.suptitle(fill(title, _LINE, max_lines=3, placeholder=" ..."), fontsize=9, x=0.01, ha="left")
    save(whole, path)


def _ranks(structure: Structure, axes: Axes) -> None:
    """Draw the iterations of the main loop on each rank, in two alternating colours."""
    main = structure.main
    assert main is not None and main.iterations is not None
    edges = main.iterations.edges / 1e9
    ranks = np.unique(np.linspace(0, len(edges) - 1, min(len(edges), _MOST_RANKS)).astype(np.int64))
    step = -(-main.count // _MOST_ITERATIONS)
    for line, rank in enumerate(ranks.tolist()):
        bounds = np.append(edges[rank, :-1:step], edges[rank, -1])
        bars = np.stack([bounds[:-1], np.diff(bounds)], axis=1)
        for which, colour in enumerate(_COLOURS):
            axes.broken_barh(bars[which::2].tolist(), (line - 0.45, 0.9), facecolors=colour, linewidth=0)
    axes.set_yticks(range(len(ranks)), [str(rank) for rank in ranks] if len(ranks) <= 16 else [""] * len(ranks))
    axes.invert_yaxis()
    axes.set_ylabel("iterations\nby rank" if step == 1 else f"each {step} iterations\nby rank", fontsize=8)


def _signal(signal: RunSignal, axes: Axes) -> None:
    together = -(-len(signal.values) // _MOST_POINTS)
    firsts = np.arange(0, len(signal.values), together)
    means = np.add.reduceat(signal.values, firsts) / np.diff(np.append(firsts, len(signal.values)))
    edges = (signal.begin_ns + np.append(firsts, len(signal.values)) * signal.width_ns) / 1e9
    axes.stairs(means, edges, color=GREY, fill=True)
    axes.set_ylim(bottom=min(0.0, float(means.min(initial=0))))
    axes.set_ylabel(_wrapped(NAMES.get(signal.name, signal.name)), fontsize=7)
    if signal.name == BURSTS:
        axes.yaxis.set_major_formatter(FuncFormatter(lambda ns, _: units.time(ns) if ns else "0"))


def _wrapped(text: str) -> str:
    words = text.split()
    half = (len(words) + 1) // 2
    return " ".join(words[:half]) + "\n" + " ".join(words[half:])


def _tree(structure: Structure, axes: Axes) -> None:
    """Draw the parts of the run, one line for each level.

    Loops are filled, and their typical iteration is orange; other parts are empty. Inner parts stand below the
    iteration that contains them.
    """
    deepest = 1
    for top in structure.parts:
        for part in top.walk():
            deepest = max(deepest, part.level)
            _bar(part, structure.duration_ns, axes)
    axes.set_yticks(range(1, deepest + 1), [f"level {level}" for level in range(1, deepest + 1)], fontsize=8)
    axes.set_ylim(deepest + 0.6, 0.4)


def _bar(part: RunPart, duration_ns: int, axes: Axes) -> None:
    colour = BLUE if part.iterations else "white"
    begin, length = part.begin_ns / 1e9, part.span_ns / 1e9
    axes.broken_barh([(begin, length)], (part.level - 0.4, 0.8), facecolors=colour, edgecolors="black", linewidth=0.5)
    if part.iterations:
        first, last = part.iterations.span_of(part.representative)
        axes.broken_barh([(first / 1e9, (last - first) / 1e9)], (part.level - 0.4, 0.8), facecolors=ORANGE)
    if part.iterations and part.span_ns > 0.08 * duration_ns:
        said = f"{part.count} x {units.time(part.iterations.period_ns)}"
        axes.text(begin + length / 2, part.level, said, ha="center", va="center", fontsize=8, color="white")
