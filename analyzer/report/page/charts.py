"""The charts of an HTML page.

Each function draws one chart of all runs side by side, on one scale, and returns it as SVG text. "": a run lacks data.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter, MaxNLocator

from analyzer.report.critical_path import label
from analyzer.report.look.measurements import counter_format as counter_form
from analyzer.report.look.tables import size_rows
from analyzer.report.page.gather import PageRun, busiest
from analyzer.report.page.svg import FAINT, SERIES, Chart, shades, style, time_axis
from analyzer.report.pictures.iterations import largest_of
from analyzer.report.words import units
from analyzer.timeline import MOST_RANKS
from analyzer.trace import Regions
from analyzer.trace.system import BUSY

_PROCEDURES, _FUNCTIONS = 6, 8
_MOST_RANKS, _MOST_ITERATIONS = 128, 600
_LONGEST = 34
_LEAST_BARS = 5
"""Number of bars for which a chart has room. With fewer bars, the bars do not become thicker."""
_NEAR = 2.0
"""Measured times are drawn up to this multiple of the longest replay. Beyond it, all replays would look alike."""


def _each(
    runs: Sequence[PageRun], name: str, text: str, draw: Callable[[PageRun, Axes], None], height: float = 3.0,
    width: float = 8.4, **shared: bool,
) -> str:  # fmt: skip
    chart = Chart(len(runs), height, width, **shared)
    with style():
        for run, axes in zip(runs, chart.axes, strict=False):
            draw(run, axes)
            if len(runs) > 1:
                axes.set_title(_cut(run.name))
    return chart.svg(name, text)


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "..."


def matrix(runs: Sequence[PageRun]) -> str:
    """Draw the matrix of bytes from rank to rank, or of messages if a run sent only empty messages."""
    if not all(run.summary.messages.count for run in runs):
        return ""
    top = max(float(_matrix(run).max()) for run in runs)
    one, unit = _unit(top) if all(run.summary.messages.bytes for run in runs) else (1, "messages")

    def draw(run: PageRun, axes: Axes) -> None:
        cells, width = _matrix(run) / one, run.summary.messages.ranks_a_block
        size = len(cells) * width
        drawn = axes.imshow(
            np.where(cells > 0, cells, np.nan), cmap=shades(), vmin=0, vmax=top / one, interpolation="nearest",
            extent=(-0.5, size - 0.5, size - 0.5, -0.5),
        )  # fmt: skip
        axes.set(xlabel="to rank", ylabel="from rank")
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_locator(MaxNLocator(integer=True))
        assert axes.figure is not None
        axes.figure.colorbar(drawn, ax=axes, shrink=0.8, label=unit)

    return _each(runs, "matrix", "who sends to whom", draw, 3.4, 4.8, share_x=False, share_y=False)


def _unit(size_bytes: float) -> tuple[float, str]:
    """Return the largest binary unit up to a size: its bytes and its name. The ticks of an axis are multiples of it."""
    power = min(max(int(np.log2(max(size_bytes, 1))) // 10, 0), 4)
    return float(1 << 10 * power), ("B", "KiB", "MiB", "GiB", "TiB")[power]


def _matrix(run: PageRun) -> np.ndarray:
    of = run.summary.messages
    return (of.matrix_bytes if of.bytes else of.matrix_count).astype(float)


def sizes(runs: Sequence[PageRun]) -> str:
    """Draw the number of messages by size."""
    if not all(run.summary.messages.count for run in runs):
        return ""

    def draw(run: PageRun, axes: Axes) -> None:
        rows = size_rows(run.summary.messages, even=True)
        axes.barh(range(len(rows)), [row[1] for row in rows], color=SERIES[0])
        axes.set_yticks(range(len(rows)), [row[0] for row in rows])
        middle, half = (len(rows) - 1) / 2, max(len(rows), _LEAST_BARS) / 2 + 0.1
        axes.set_ylim(middle - half, middle + half)
        axes.set_xlabel("messages")
        axes.xaxis.set_major_formatter(FuncFormatter(lambda v, _: units.count(v)))

    return _each(runs, "sizes", "messages by size", draw, 3.2, share_y=False)


def calls(runs: Sequence[PageRun]) -> str:
    """Draw the time in the most expensive MPI procedures, by rank or by group of ranks."""
    if not all(run.summary.profile.inside_ns.any() for run in runs):
        return ""
    names: list[str] = []
    for run in runs:
        profile = run.summary.profile
        names += [profile.procedures[p] for p in busiest(profile.inside_ns, _PROCEDURES)]
    names = list(dict.fromkeys(names))[: len(SERIES) - 1]

    def draw(run: PageRun, axes: Axes) -> None:
        profile, lines = run.summary.profile, run.timeline.lines
        at = np.arange(len(lines.names))
        of_line = np.array([profile.inside_ns[lines.of_rank == k].sum(axis=0) for k in at]) / 1e9
        of_line = of_line / np.maximum(np.bincount(lines.of_rank[lines.of_rank >= 0], minlength=len(at)), 1)[:, None]
        bottom, rest = np.zeros(len(at)), of_line.sum(axis=1)
        for name, colour in zip(names, SERIES, strict=False):
            if name in profile.procedures:
                values = of_line[:, profile.procedures.index(name)]
                axes.bar(at, values, 0.85, bottom, color=colour)
                bottom, rest = bottom + values, rest - values
        axes.bar(at, rest.clip(0), 0.85, bottom, color=SERIES[-1])
        if lines.grouped:
            axes.set_xticks(at, [_cut(name) for name in lines.names], rotation=25, ha="right", fontsize=7)
            axes.set_xlabel("ranks alike (number)")
        else:
            axes.xaxis.set_major_locator(MaxNLocator(integer=True))
            axes.set_xlabel("rank")
        time_axis(axes, "y")
        axes.set_ylabel("mean time in MPI" if lines.grouped else "time in MPI")
        if run is runs[-1]:
            _legend_above(axes, [name.removeprefix("MPI_") for name in (*names, "others")])

    return _each(runs, "calls", "time in MPI calls by rank", draw, 3.4, share_x=False)


def _legend_above(axes: Axes, names: Sequence[str]) -> None:
    """Draw one legend above the charts of all runs, which share their colours. The last name gets the last colour."""
    assert axes.figure is not None
    colours = (*SERIES[: len(names) - 1], SERIES[-1])
    keys = [Patch(color=colour, label=name) for name, colour in zip(names, colours, strict=True)]
    axes.figure.legend(handles=keys, fontsize=8, ncols=len(keys), loc="outside upper left")


def bursts(runs: Sequence[PageRun]) -> str:
    """Draw the number of bursts by length, on logarithmic axes."""
    if not all(run.summary.bursts.count for run in runs):
        return ""

    def draw(run: PageRun, axes: Axes) -> None:
        counts = np.array(run.summary.bursts.by_length)
        used = np.flatnonzero(counts)
        edges = 2.0 ** (np.arange(used[0], used[-1] + 2) - 1) / 1e9
        axes.stairs(counts[used[0] : used[-1] + 1], edges, fill=True, color=SERIES[0])
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_ylim(bottom=0.7)
        time_axis(axes)
        axes.yaxis.set_major_formatter(FuncFormatter(lambda v, _: units.count(v)))
        axes.set(xlabel="length of a burst", ylabel="bursts")

    return _each(runs, "bursts", "bursts of computation by length", draw)


def path(runs: Sequence[PageRun]) -> str:
    """Draw the functions with the longest time on the critical path, beside the mean time of all ranks in them."""
    if not all(run.path and run.shares and run.path.length_ns for run in runs):
        return ""

    def draw(run: PageRun, axes: Axes) -> None:
        assert run.shares is not None
        found = run.shares.functions[:_FUNCTIONS]
        regions = bool(run.trace.extra(Regions).names)
        at = range(len(found))
        axes.barh(at, [share.path_ns / 1e9 for share in found], color=SERIES[1], label="on the path")
        means = [share.mean_ns / 1e9 for share in found]
        axes.barh(at, means, 0.3, color=SERIES[0], label="mean of all ranks")
        axes.set_yticks(at, [_cut(label(share.function, regions)) for share in found])
        axes.invert_yaxis()
        time_axis(axes)
        axes.legend(fontsize=8, loc="lower right")

    return _each(runs, "path", "what the critical path consists of", draw, share_y=False)


def structure(runs: Sequence[PageRun]) -> str:
    """Draw the time that each rank computes in each iteration."""
    if not all(run.even is not None and run.even.computing_ns.any() for run in runs):
        return ""
    tops = [float(run.even.computing_ns.max()) / 1e9 for run in runs if run.even is not None]

    def draw(run: PageRun, axes: Axes) -> None:
        assert run.even is not None and axes.figure is not None
        computing = run.even.computing_ns
        ranks, count = computing.shape
        drawn = axes.imshow(
            largest_of(computing, _MOST_RANKS, _MOST_ITERATIONS) / 1e9, aspect="auto", interpolation="nearest",
            cmap=shades(), vmin=0, vmax=max(tops), extent=(0.5, count + 0.5, ranks - 0.5, -0.5),
        )  # fmt: skip
        axes.set(xlabel="iteration", ylabel="rank")
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_locator(MaxNLocator(integer=True))
        axes.figure.colorbar(drawn, ax=axes, format=FuncFormatter(lambda s, _: units.time(s * 1e9)))

    return _each(runs, "structure", "computing by rank and iteration", draw, share_x=False, share_y=False)


def sensitivity(runs: Sequence[PageRun]) -> str:
    """Draw the run time, by replay, on networks without some of their costs, beside the measured time."""
    if not all(run.limits and run.network_known for run in runs):
        return ""

    def draw(run: PageRun, axes: Axes) -> None:
        assert run.limits is not None
        found = run.limits.scenarios
        ends = [one.end_ns / 1e9 for one in found]
        axes.barh(range(len(found)), ends, color=SERIES[0])
        measured = run.trace.duration_ns / 1e9
        if measured <= _NEAR * max(ends):
            axes.axvline(measured, color=SERIES[1], linewidth=1.3, linestyle="--")
        axes.set_yticks(range(len(found)), [_cut(one.network) for one in found])
        axes.set_ylim(len(found) - 0.4, -0.6)  # runs share the axis: turning it round twice would be in vain
        time_axis(axes)
        as_measured = f"{units.time(measured * 1e9)} as measured{', dashed' if measured <= _NEAR * max(ends) else ''}"
        axes.set_xlabel(f"run time by replay ({as_measured})")

    return _each(runs, "sensitivity", "run time on other networks", draw, 2.6)


def counters(runs: Sequence[PageRun]) -> str:
    """Draw instructions per cycle of each rank. If these were not counted, draw the first counter."""
    if not all(run.summary.counted.bursts.any() for run in runs):
        return ""

    def draw(run: PageRun, axes: Axes) -> None:
        counted, present = run.summary.counted, run.summary.present
        if counted.ipc is not None:
            values = np.array([counted.ipc_by_rank[rank] or 0.0 for rank in present])
            axes.set_ylabel("instructions a cycle")
        else:
            values, name = counted.useful[present, 0].astype(float), counted.counters[0].name
            axes.set_ylabel(name)
            axes.yaxis.set_major_formatter(FuncFormatter(lambda v, _: counter_form(name)(v) if v else "0"))
        _by_rank(axes, present, values)

    return _each(runs, "counters", "counters by rank", draw, 2.6)


def _by_rank(axes: Axes, ranks: np.ndarray, values: np.ndarray) -> None:
    if len(ranks) > MOST_RANKS:
        axes.plot(np.linspace(0, 100, len(values)), np.sort(values), color=SERIES[0])
        axes.set_xlabel("% of ranks have at most")
    else:
        axes.bar(ranks, values, 0.85, color=SERIES[0])
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.set_xlabel("rank")


def system(runs: Sequence[PageRun]) -> str:
    """Draw the share of busy CPUs of each node over time, in %."""
    if not all(run.trace.nodes.samples for run in runs):
        return ""

    def draw(run: PageRun, axes: Axes) -> None:
        for number, of in enumerate(run.trace.nodes.samples[: len(SERIES)]):
            if BUSY in of.quantities and len(of.time) > 1:
                edges = of.time / 1e9
                axes.stairs(100 * of.cpu_share(BUSY), edges, color=SERIES[number], linewidth=1.4,
                            label=run.trace.nodes.names[of.node], baseline=None)  # fmt: skip
        axes.axhline(100, color=FAINT, linewidth=0.8)
        axes.set_ylim(0, 105)
        time_axis(axes)
        axes.set_ylabel("CPUs busy, %")
        axes.legend(fontsize=8, loc="lower right")

    return _each(runs, "system", "busy CPUs over time", draw, 2.4)
