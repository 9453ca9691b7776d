"""Pictures as files: PNG or SVG files that appear complete or not at all."""

from __future__ import annotations

from pathlib import Path

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from analyzer.atomic_file import whole_file

BLUE, ORANGE, GREY = "#0072b2", "#d55e00", "#888888"
"""Colours that colour-blind people can tell apart (Okabe and Ito)."""


def new_figure(width: float = 9, height: float = 7) -> Figure:
    """Make a figure of this width and height in inches. No display is needed."""
    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def save(figure: Figure, path: Path) -> None:
    """Write a figure to a file: as SVG if the name ends so, otherwise as PNG.

    Raises:
        TracelibError: The file cannot be written.
    """
    with whole_file(path) as file:
        figure.savefig(file, format="svg" if path.suffix == ".svg" else "png", dpi=110)
