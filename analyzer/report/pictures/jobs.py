"""Pictures of batch scheduling: run times of jobs by nodes, and the use of node time as stacked bars.

Source: "TIA specification", section 4.8 (figures 5.20 to 5.22).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes

from analyzer.report.job_times import NodeTime, TimesByNodes
from analyzer.report.pictures.files import BLUE, GREY, ORANGE, new_figure, save

_LINE = 0.24
"""Height of a bar in inches."""
_EDGES = 1.3
_UPPER = 3.0
"""Height of a diagram of run times in inches."""
_BESIDE = 2


def draw_schedules(
    distributions: Sequence[TimesByNodes], parts: Sequence[tuple[str, Sequence[NodeTime]]], path: Path
) -> None:
    """Draw run times of jobs by nodes side by side, and below them finished, cancelled and idle node time.

    Args:
        distributions: Run times of each kind of workload.
        parts: Titles with rows; each row is a bar for one policy and kind of estimates.
        path: A .png or .svg file.

    Raises:
        TracelibError: The file cannot be written.
    """
    heights = [_LINE * len(rows) + 0.4 for _, rows in parts]
    lines = -(-len(distributions) // _BESIDE)
    figure = new_figure(9, _UPPER * lines + sum(heights) + _EDGES)
    upper, lower = figure.subfigures(2, 1, squeeze=False, height_ratios=[_UPPER * lines, sum(heights) + _EDGES])[:, 0]
    for number, found in enumerate(distributions):
        _run_times(upper.add_subplot(lines, min(len(distributions), _BESIDE), number + 1), found)
    every = lower.subplots(len(parts), 1, squeeze=False, sharex=True, height_ratios=heights)[:, 0]
    for axes, (title, rows) in zip(every, parts, strict=True):
        _bars(axes, rows)
        axes.set_title(title, fontsize=10, loc="left")
    every[-1].set_xlabel("node time (%)")
    handles, labels = every[0].get_legend_handles_labels()
    lower.legend(handles, labels, loc="outside upper right", ncols=3, frameon=False)
    save(figure, path)


def _run_times(axes: Axes, found: TimesByNodes) -> None:
    """Draw the sums of run times by nodes, the application's below the sum of all other jobs."""
    at = np.arange(len(found.rows))
    own = np.array([row.application_h.value for row in found.rows])
    others = np.array([row.total_h.value for row in found.rows]) - own
    if found.application:
        axes.bar(at, own, color=ORANGE, alpha=0.85, label=found.application)
    axes.bar(at, others, bottom=own, color=BLUE, alpha=0.85, label="other jobs" if found.application else "jobs")
    axes.set_xticks(at, [str(row.nodes) for row in found.rows], fontsize=8)
    axes.set(xlabel="nodes of a job", ylabel="run time (h)")
    axes.set_title(f"{found.title}: {sum(own + others):,.0f} h of run time", fontsize=9, loc="left")
    if found.application:
        axes.legend(frameon=False, fontsize=8)


def _bars(axes: Axes, rows: Sequence[NodeTime]) -> None:
    at, left = np.arange(len(rows)), np.zeros(len(rows))
    for name, colour in (("finished", BLUE), ("cancelled", ORANGE), ("idle", GREY)):
        width = np.array([100 * getattr(row, name).value for row in rows])
        axes.barh(at, width, left=left, color=colour, alpha=0.85 if name != "idle" else 0.3, label=name)
        left += width
    axes.set_yticks(at, [row.label for row in rows], fontsize=7)
    axes.set(ylim=(len(rows) - 0.5, -0.5), xlim=(0, 100))
