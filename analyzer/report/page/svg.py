"""Charts as SVG inside a page. Text stays text, and colours are variables of the page, for a light and a dark look."""

from __future__ import annotations

import io
import re
from contextlib import AbstractContextManager
from html import escape
from typing import Any

import numpy as np
from matplotlib import colormaps, rc_context
from matplotlib.axes import Axes
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator

from analyzer.report.words import units

INK, FAINT = "#101112", "#a0a1a2"
"""Colours of text and of lines. In the page, they are replaced by variables of its style."""
SERIES = ("#0072b2", "#d55e00", "#f0c808", "#009e73", "#cc79a7", "#56b4e9", "#888888")
"""Colours of series, which colour-blind people can tell apart (Okabe and Ito)."""
_VARIABLES = {INK: "--ink", FAINT: "--faint", **{colour: f"--c{k}" for k, colour in enumerate(SERIES)}}
_STYLE: Any = {
    "svg.fonttype": "none", "svg.hashsalt": "report", "font.family": "sans-serif", "font.sans-serif": ["DejaVu Sans"],
    "font.size": 9, "text.color": INK, "axes.labelcolor": INK, "axes.edgecolor": FAINT, "xtick.color": INK,
    "ytick.color": INK, "axes.spines.top": False, "axes.spines.right": False, "axes.titlesize": 9,
    "axes.titlelocation": "left", "legend.frameon": False,
}  # fmt: skip


_TICKS = 6
_REM, _WIDEST, _DARKEST = 6.6, 11.3, 0.78
"""In this order: rem per inch; largest width of a page in inches; share of the colour map that is used."""


class Chart:
    """A figure with one chart for each run, side by side on one scale."""

    def __init__(
        self, runs: int, height: float = 3.0, width: float = 8.4, *, share_x: bool = True, share_y: bool = True
    ) -> None:
        with style():
            size = width if runs == 1 else min(2 * width, _WIDEST), height * -(-runs // 2)
            self.figure = Figure(figsize=size, layout="constrained")
            FigureCanvasSVG(self.figure)
            columns = min(runs, 2)
            grid = self.figure.subplots(-(-runs // columns), columns, squeeze=False, sharex=share_x, sharey=share_y)
        self.axes: list[Axes] = list(grid.flatten())
        for empty in self.axes[runs:]:
            empty.set_axis_off()

    def svg(self, name: str, label: str) -> str:
        """Return the figure as an SVG element of a page, at most as wide as it was made.

        Args:
            name: Prefix for ids in the element.
            label: Text for screen readers.
        """
        out = io.StringIO()
        with style():
            self.figure.savefig(out, format="svg", transparent=True, metadata={"Date": None})
        text = out.getvalue()
        text = re.sub(r"<metadata>.*?</metadata>", "", text[text.index("<svg") :], flags=re.DOTALL)
        text = re.sub(r'\bid="', f'id="{name}-', text)
        text = re.sub(r'(url\(|href=")#', rf"\1#{name}-", text)
        for colour, variable in _VARIABLES.items():
            text = text.replace(colour, f"var({variable})")
        width = f"max-width:{_REM * self.figure.get_size_inches()[0]:.1f}rem"
        of_page = f'class="chart" style="{width}" role="img" aria-label="{escape(label)}"'
        return text.replace("<svg ", f"<svg {of_page} ", 1)


def style() -> AbstractContextManager:
    """Return a context in which matplotlib draws in the style of the page's charts."""
    return rc_context(_STYLE)


def shades() -> ListedColormap:
    """Return a colour map from bright to dark for colour-blind people. Its darkest colour is visible on dark pages."""
    return ListedColormap(colormaps["cividis_r"](np.linspace(0, _DARKEST, 256)))


def time_axis(axes: Axes, which: str = "x") -> None:
    """Format an axis of times in s, with few enough labels that they do not overlap."""
    axis = axes.xaxis if which == "x" else axes.yaxis
    if axis.get_scale() == "linear":
        axis.set_major_locator(MaxNLocator(_TICKS, steps=[1, 2, 5, 10]))
    axis.set_major_formatter(FuncFormatter(lambda s, _: units.time(s * 1e9) if s else "0"))
