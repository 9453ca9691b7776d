"""The results of a study as a picture: histograms of outputs, and each output over each variable."""

from __future__ import annotations

from pathlib import Path

from analyzer.montecarlo.distribution import LOG
from analyzer.report.pictures.files import BLUE, ORANGE, new_figure, save
from analyzer.shots.results import Results

_MOST = 5
"""Variables and outputs that a picture has room for."""
_BARS = 30


def draw_results(found: Results, path: Path) -> None:
    """Draw a row for each output. Raises TracelibError where the file cannot be written."""
    varied, outputs = found.plan.varied[:_MOST], found.plan.outputs[:_MOST]
    figure = new_figure(3.0 * (len(varied) + 1), max(2.6 * len(outputs), 3.5))
    grid = figure.subplots(len(outputs), len(varied) + 1, squeeze=False)
    values, results, spreads = found.values, found.outputs, found.spreads()
    for row, output in enumerate(outputs):
        first, *others = grid[row]
        first.hist(results[:, row], _BARS, color=BLUE, alpha=0.8)
        first.axvline(spreads[row].mean, color=ORANGE, linewidth=1.4, label="mean")
        for k, value in enumerate((spreads[row].quantiles[0], spreads[row].quantiles[-1])):
            first.axvline(value, color="black", linewidth=0.8, linestyle=":", label="" if k else "5 % and 95 %")
        first.set(xlabel=output.name, ylabel="shots")
        first.legend(frameon=False, fontsize=8)
        for k, axes in enumerate(others):
            axes.plot(values[:, k], results[:, row], ".", color=BLUE, alpha=0.5, markersize=4)
            axes.set(xlabel=varied[k].name, ylabel=output.name)
            if varied[k].law == LOG:
                axes.set_xscale("log")
        for axes in grid[row]:
            axes.tick_params(labelsize=7)
            axes.locator_params(axis="y", nbins=5)
    save(figure, path)
