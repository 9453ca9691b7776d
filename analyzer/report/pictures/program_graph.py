"""Picture of a program's graph: a column for each group of ranks that execute the same parts, time downwards.

Source: PEMPIs-Het, figures 2 and 3 (DP*Graph++). Parts in which processes differ have another colour.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from textwrap import fill
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Ellipse, FancyArrowPatch, FancyBboxPatch, Patch

from analyzer.report.pictures.files import GREY, new_figure, save
from analyzer.report.program_graph import COLOURS, label_lines, ranks_text
from analyzer.report.words import units
from analyzer.structure.graph.program_graph import GraphEdge, GraphNode, NodeKind, ProgramGraph
from analyzer.structure.graph.steps import ENDS

_MOST_LANES, _MOST_PARTS = 4, 120
_LANE, _BOX, _ROW, _HEIGHT = 4.0, 2.9, 0.75, 0.5
"""Sizes in inches: width of a column and of a symbol in it, height of a row and of a symbol."""
_SIDE = 1.0
_LETTERS = 42
_MESSAGES = "#009e73"
Stretch = tuple[int, int]
"""First and last of several neighbouring columns."""


def draw_program(found: ProgramGraph, path: Path) -> None:
    """Draw the graph of a program.

    Raises:
        TracelibError: The file cannot be written.
    """
    lanes = found.lanes()
    if len(lanes) > _MOST_LANES:
        lanes = [found.seen]
    kept = _kept(found.nodes)
    width, height = _LANE * len(lanes) + 2 * _SIDE, _ROW * (len(kept) + 2) + 1.2
    figure = new_figure(max(width, 7.0), height)
    axes = figure.subplots()
    layout = _Layout(found, lanes, kept)
    for lane, ranks in enumerate(lanes):
        title = f"rank{'s' if len(ranks) > 1 else ''} {ranks_text(ranks)}"
        axes.text(layout.middle((lane, lane)), 0.75 * _ROW, title, ha="center", fontsize=9, weight="bold")
    for node in kept:
        for stretch in layout.stretches(found.nodes[node].count):
            _symbol(axes, found, found.nodes[node], layout.box(node, stretch))
    for end in (0, len(kept) + 1):
        for stretch in layout.stretches(np.ones(found.ranks)):
            _round(axes, layout.middle(stretch), layout.row_y(end), "end" if end else "begin")
    _flow(axes, found.flow, layout)
    _messages(axes, found, layout)
    _legend(axes, len(found.nodes) - len(kept))
    axes.set(xlim=(-_SIDE, _LANE * len(lanes) + _SIDE), ylim=(-_ROW * (len(kept) + 1.6), 1.25 * _ROW))
    axes.set_aspect("equal")
    axes.set_axis_off()
    figure.suptitle(f"{Path(found.file).name}: {units.plural(found.ranks, 'rank')}", fontsize=9)
    save(figure, path)


def _kept(nodes: Sequence[GraphNode]) -> list[int]:
    """Return the numbers of the _MOST_PARTS parts with the most time, in order."""
    longest = sorted(range(len(nodes)), key=lambda number: -nodes[number].ns.sum())[:_MOST_PARTS]
    return sorted(longest)


class _Layout:
    """Positions of symbols: rows in order of the parts, columns by ranks."""

    def __init__(self, found: ProgramGraph, lanes: Sequence[np.ndarray], kept: Sequence[int]) -> None:
        self.found, self.lanes = found, lanes
        self.row = {node: place + 1 for place, node in enumerate(kept)}
        self._taken = {self.row[node]: self._in_lanes(found.nodes[node].count) for node in kept}

    def _in_lanes(self, by_rank: np.ndarray) -> np.ndarray:
        return np.array([bool(by_rank[ranks].any()) for ranks in self.lanes])

    def stretches(self, by_rank: np.ndarray) -> Iterator[Stretch]:
        """Yield runs of neighbouring columns that have ranks with a number other than 0."""
        inside = np.flatnonzero(self._in_lanes(by_rank))
        if len(inside):
            for some in np.split(inside, np.flatnonzero(np.diff(inside) > 1) + 1):
                yield int(some[0]), int(some[-1])

    def row_y(self, row: int) -> float:
        return -_ROW * row

    def middle(self, stretch: Stretch) -> float:
        return _LANE * (stretch[0] + stretch[1] + 1) / 2

    def box(self, node: int, stretch: Stretch) -> tuple[float, float, float]:
        """Return left edge, width, and vertical middle of a part's symbol."""
        left = _LANE * stretch[0] + (_LANE - _BOX) / 2
        return left, _LANE * (stretch[1] - stretch[0]) + _BOX, self.row_y(self.row[node])

    def box_around(self, node: int, stretch: Stretch) -> tuple[float, float, float]:
        """Return the symbol of a part that covers these columns."""
        return self.box(node, next(
            one for one in self.stretches(self.found.nodes[node].count) if one[0] <= stretch[0] and stretch[1] <= one[1]
        ))  # fmt: skip

    def is_free(self, above: int, below: int, stretch: Stretch) -> bool:
        """Return True if there is no symbol between two rows in these columns."""
        return not any(self._taken[row][stretch[0] : stretch[1] + 1].any() for row in range(above + 1, below))


def _symbol(axes: Axes, found: ProgramGraph, node: GraphNode, box: tuple[float, float, float]) -> None:
    left, width, y = box
    style: dict[str, Any] = {
        "facecolor": COLOURS[bool(node.differs)],
        "edgecolor": "black",
        "linewidth": 0.8,
        "zorder": 3,
    }
    if node.kind == NodeKind.COMPUTING:
        axes.add_patch(Ellipse((left + width / 2, y), width, _HEIGHT, **style))
    else:
        box_style = "round,pad=0,rounding_size=0.05"
        axes.add_patch(FancyBboxPatch((left, y - _HEIGHT / 2), width, _HEIGHT, boxstyle=box_style, **style))
    lines = label_lines(node, found)
    text = "\n".join(fill(line, _LETTERS, max_lines=1, placeholder="...") for line in lines)
    axes.text(left + width / 2, y, text, ha="center", va="center", fontsize=7, zorder=4)


def _round(axes: Axes, x: float, y: float, text: str) -> None:
    axes.text(
        x, y, text, ha="center", va="center", fontsize=7, zorder=4,
        bbox={"boxstyle": "circle,pad=0.25", "facecolor": "white", "edgecolor": "black", "linewidth": 0.8},
    )  # fmt: skip


def _flow(axes: Axes, edges: Sequence[GraphEdge], layout: _Layout) -> None:
    last = max(layout.row.values(), default=0) + 1
    beside: dict[bool, int] = {True: 0, False: 0}
    for edge in edges:
        if not {edge.source, edge.target} - {ENDS} <= set(layout.row):
            continue
        above = layout.row.get(edge.source, 0)
        below = layout.row.get(edge.target, last)
        for stretch in layout.stretches(edge.by_rank):
            if above < below and (ENDS in (edge.source, edge.target) or layout.is_free(above, below, stretch)):
                if layout.is_free(above, below, stretch):
                    _down(axes, layout, above, below, stretch, edge.count)
                continue
            beside[edge.is_back] += 1
            _around(axes, layout, edge, stretch, beside[edge.is_back])


def _down(axes: Axes, layout: _Layout, above: int, below: int, stretch: Stretch, count: int) -> None:
    x = layout.middle(stretch)
    ends = (x, layout.row_y(above) - _HEIGHT / 2), (x, layout.row_y(below) + _HEIGHT / 2)
    axes.add_patch(FancyArrowPatch(*ends, arrowstyle="-|>", mutation_scale=8, linewidth=0.8, shrinkA=0, shrinkB=0))
    if below - above > 0:
        axes.text(x + 0.06, (ends[0][1] + ends[1][1]) / 2, units.count(count), fontsize=6, va="center", color=GREY)


def _around(axes: Axes, layout: _Layout, edge: GraphEdge, stretch: Stretch, number: int) -> None:
    """Draw a line beside the symbols: on the left back to an earlier part, on the right past other parts."""
    boxes = [layout.box_around(node, stretch) for node in (edge.source, edge.target)]
    away = 0.12 + 0.11 * (number % 5)
    if edge.is_back:
        sides = [left for left, _, _ in boxes]
        x = min(sides) - away
    else:
        sides = [left + width for left, width, _ in boxes]
        x = max(sides) + away
    shift = 0.12 if edge.source == edge.target else 0.06
    ys = boxes[0][2] - shift, boxes[1][2] + shift
    axes.plot([sides[0], x, x], [ys[0], ys[0], ys[1]], color="black", linewidth=0.8, zorder=2)
    head = FancyArrowPatch((x, ys[1]), (sides[1], ys[1]), arrowstyle="-|>", mutation_scale=8, linewidth=0.8)
    head.set(zorder=2)
    axes.add_patch(head)
    place: dict[str, Any] = {"ha": "right" if edge.is_back else "left", "va": "center", "fontsize": 6, "color": GREY}
    axes.text(x + (-0.04 if edge.is_back else 0.04), sum(ys) / 2, units.count(edge.count), **place)


def _messages(axes: Axes, found: ProgramGraph, layout: _Layout) -> None:
    for edge in found.messages:
        if edge.source == edge.target or not {edge.source, edge.target} <= set(layout.row):
            continue
        source, target = (
            layout.box(node, next(iter(layout.stretches(found.nodes[node].count))))
            for node in (edge.source, edge.target)
        )
        is_left = source[0] > target[0]
        begin = source[0] if is_left else source[0] + source[1]
        end = target[0] + target[1] if source[0] != target[0] and is_left else target[0]
        if source[0] == target[0]:
            end = target[0] + target[1]
        bend = 0.0 if source[0] != target[0] else (-0.5 if source[2] > target[2] else 0.5)
        arrow = FancyArrowPatch(
            (begin, source[2]), (end, target[2]), arrowstyle="-|>", mutation_scale=9, linewidth=1.0, color=_MESSAGES,
            linestyle=(0, (4, 2)), connectionstyle=f"arc3,rad={bend}", zorder=5, shrinkA=0, shrinkB=0,
        )  # fmt: skip
        axes.add_patch(arrow)


def _legend(axes: Axes, left_out: int) -> None:
    said = f"; {units.plural(left_out, 'part')} with less time left out" if left_out else ""
    handles = [
        Patch(facecolor=COLOURS[False], edgecolor="black", label="all processes alike"),
        Patch(facecolor=COLOURS[True], edgecolor="black", label=f"processes differ{said}"),
        Patch(facecolor="none", edgecolor=_MESSAGES, linestyle="--", label="messages"),
    ]
    axes.legend(handles=handles, loc="lower center", ncols=3, frameon=False, fontsize=7, title_fontsize=7)
