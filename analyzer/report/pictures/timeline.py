"""Timeline of ranks as PNG or SVG: each line is a bar, filled from below by the activities of its threads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import floor, log10
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Patch, Rectangle
from matplotlib.ticker import FuncFormatter

from analyzer.report.pictures.files import BLUE, ORANGE, new_figure, save
from analyzer.report.words import units
from analyzer.timeline import NAMES, Timeline, TimelineMarks

COLOURS = (BLUE, ORANGE, "#f0c808", "#000000")
"""Colours by ActivityKind. Colour-blind readers can tell them apart, also in shades of grey."""
NOTHING = "#ffffff"
ENDINGS = (".png", ".svg")
_WIDTH, _LEAST, _MOST = 11.0, 2.6, 12.0  # inches
_LINE, _AROUND = 0.32, 1.2  # inches of a line where there are few; of what is above and below all lines
_PIXELS = 24
"""Height in pixels of a line, which limits how exactly shares are drawn. It is less if there are many lines."""
_MOST_PIXELS = 1600
_NAMED = 32
"""Largest number of lines whose names are written."""


@dataclass(frozen=True)
class TimelineNote:
    """A box around a stretch of time in one line of the timeline."""

    line: int
    begin_ns: int
    end_ns: int


def draw_timeline(
    of: Timeline, marks: TimelineMarks, title: str, path: Path, notes: Sequence[TimelineNote] = (), boxed: str = "",
    moment_ns: int | None = None,
) -> None:  # fmt: skip
    """Draw a timeline. The file appears complete or not at all.

    Args:
        of: The timeline.
        marks: Flushes, regions and iterations to mark.
        title: Title of the picture.
        path: A .png or .svg file.
        notes: Boxes to draw.
        boxed: What the boxes mean, for the legend.
        moment_ns: Time in ns at which a vertical line is drawn. None: no line.

    Raises:
        TracelibError: The file cannot be written.
    """
    count = len(of.lines.names)
    height = min(max(_LINE * count + 1.5, _LEAST), _MOST)
    figure = new_figure(_WIDTH, height)
    axes = figure.subplots()
    begin, end = of.begin_ns / 1e9, max(of.end_ns, of.begin_ns + 1) / 1e9
    axes.imshow(
        picture(of), aspect="auto", interpolation="nearest", extent=(begin, end, max(count, 1) - 0.5, -0.5), zorder=0
    )
    _lines(of, axes)
    _marks(of, marks, axes, 1 / (height - _AROUND))
    for note in notes:
        _note(note, axes)
    if moment_ns is not None:
        axes.axvline(moment_ns / 1e9, color="black", linewidth=1.6)
    axes.set_xlim(begin, end)
    axes.set_ylim(max(count, 1) - 0.5, -0.5)
    axes.spines[["top", "right"]].set_visible(False)
    axes.xaxis.set_major_formatter(FuncFormatter(_when(end - begin)))
    used = of.ns.reshape(len(NAMES), -1).sum(axis=1).tolist()
    keys = [Patch(color=COLOURS[k], label=name) for k, name in enumerate(NAMES) if used[k]]
    keys += [Patch(fill=False, edgecolor="black", label=boxed)] if notes else []
    axes.legend(
        handles=keys, loc="upper center", bbox_to_anchor=(0.5, -0.5 / height), frameon=False,
        ncols=len(NAMES) + 1, fontsize=9,
    )  # fmt: skip
    figure.suptitle(title, fontsize=10, x=0.01, ha="left")
    save(figure, path)


def _when(span_s: float) -> Callable[[float, int], str]:
    """Return the function that writes times at the axis, with enough decimals for a short part of a run."""

    def text(s: float, _: int) -> str:
        usual = units.time(s * 1e9) if s else "0"
        return usual if s < 4 * span_s else f"{s:.{max(0, 2 - floor(log10(span_s)))}f} s"

    return text


def picture(of: Timeline) -> np.ndarray:
    """Return the pixels of a timeline, uint8 of shape (rows of pixels, bins, 3).

    A line has as many rows as there is room for, the last of which is white.
    """
    count = max(len(of.lines.names), 1)
    height = max(min(_PIXELS, _MOST_PIXELS // count), 3)
    below = np.cumsum(of.shares, axis=0)  # (states, lines, bins)
    level = 1 - (np.arange(height - 1) + 0.5) / (height - 1)
    state = (level[None, :, None, None] > np.moveaxis(below, 1, 0)[:, None]).sum(axis=2)  # (lines, height - 1, bins)
    colours = np.array([_rgb(colour) for colour in (*COLOURS, NOTHING)], np.uint8)
    drawn = np.full((count, height, of.bins, 3), 255, np.uint8)
    drawn[: len(of.lines.names), : height - 1] = colours[state]
    return drawn.reshape(count * height, of.bins, 3)


def _rgb(colour: str) -> tuple[int, int, int]:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


def _lines(of: Timeline, axes: Axes) -> None:
    names = of.lines.names
    step = -(-len(names) // _NAMED)
    axes.set_yticks(range(0, len(names), step), list(names[::step]), fontsize=8)
    axes.set_ylabel("ranks alike (number)" if of.lines.grouped else "rank")


def _marks(of: Timeline, marks: TimelineMarks, axes: Axes, inch: float) -> None:
    """Draw flushes in their lines, and regions and begins of iterations above all lines.

    `inch` is the length of an inch, as a fraction of the height of the axes.
    """
    small = len(of.lines.names) > _NAMED
    for line, at in marks.flushes:
        if of.begin_ns <= at <= of.end_ns:
            axes.plot(at / 1e9, line + 0.42, "^", color="black", markersize=2 if small else 4, clip_on=False)
    above = axes.get_xaxis_transform()
    edges = [edge / 1e9 for edge in marks.edges if of.begin_ns <= edge <= of.end_ns]
    if edges:
        axes.vlines(edges, 1.0, 1.0 + 0.07 * inch, color="black", linewidth=0.7, transform=above, clip_on=False)
        each = "iterations" if marks.every == 1 else f"each {marks.every} iterations"
        _above(axes, edges[0], 0.08 * inch, f"{each} of rank {marks.edges_rank}")
    for region in marks.regions:
        begin, end = max(region.begin_ns, of.begin_ns) / 1e9, min(region.end_ns, of.end_ns) / 1e9
        if end - begin > 0.06 * (of.end_ns - of.begin_ns) / 1e9:
            axes.axvline(begin, color="black", linewidth=0.6, linestyle=":")
            _above(axes, begin, 0.22 * inch, region.name)


def _above(axes: Axes, at: float, higher: float, text: str) -> None:
    axes.text(at, 1.0 + higher, text, fontsize=7, ha="left", va="bottom", transform=axes.get_xaxis_transform())


def _note(note: TimelineNote, axes: Axes) -> None:
    begin, end = note.begin_ns / 1e9, note.end_ns / 1e9
    box = Rectangle((begin, note.line - 0.46), end - begin, 0.88, fill=False, edgecolor="black", linewidth=1.3)
    axes.add_patch(box)
