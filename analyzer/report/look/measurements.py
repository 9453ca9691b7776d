"""Counters, nodes, and the cost of measuring, as text and for JSON.

The cost is listed for each driver (Rodriguez 2011, sections 1.2.3 and 2.3: it should be small, and reported).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from rich.table import Table

from analyzer.metrics.counters import CounterTotals
from analyzer.metrics.system import MeanAndMax, NodeSummary
from analyzer.operations.bursts import CPU_TIME
from analyzer.report.look.summary import Summary
from analyzer.report.words import units
from analyzer.report.words.units import plural, time
from analyzer.trace import Counters, Trace

MOST = 16


def counters_title(counted: CounterTotals) -> str:
    """Return the title of the table of counters, with instructions per cycle if they are known."""
    known = f"; {counted.ipc:.2f} instructions per cycle" if counted.ipc is not None else ""
    return f"Counters (computation: sum, by rank; MPI: sum){known}"


def counter_format(name: str) -> Callable[[float], str]:
    """Return the function that formats values of a counter: CPU time as a time, other counters as numbers."""
    return units.time if name == CPU_TIME else units.count


def counters_table(counted: CounterTotals, present: np.ndarray) -> Table:
    """Make a table with a line for each of the first MOST counters. `present` has the ranks that could be read."""
    table = Table(box=None, padding=(0, 1, 0, 0), pad_edge=False, header_style="dim", expand=False)
    table.add_column("", no_wrap=True, overflow="ellipsis", max_width=28)
    for heading in ("total", "least", "mean", "most", "in MPI"):
        table.add_column(heading, justify="right", no_wrap=True)
    for column, counter in list(enumerate(counted.counters))[:MOST]:
        useful = counted.useful[present, column]
        cells = [useful.sum(), useful.min(), useful.mean(), useful.max(), counted.inside[present, column].sum()]
        table.add_row(counter.name, *(_number(float(value)) for value in cells))
    return table


def _number(value: float) -> str:
    return f"{value:.3g}" if value >= 1e6 else f"{value:.0f}"


def counters_json(counted: CounterTotals, present: np.ndarray) -> dict[str, Any]:
    """Convert counters to plain data.

    By name of the counter: sum over all ranks, sum of each rank, sum in MPI, and the share of bursts with this counter.
    """
    calls = int(counted.calls.sum())
    return {
        counter.name: {
            "event_type": counter.type,
            "useful": int(counted.useful[:, column].sum()),
            "useful_by_rank": counted.useful[present, column].tolist(),
            "mpi": int(counted.inside[:, column].sum()),
            "covered": int(counted.bursts[:, column].sum()) / calls if calls else None,
        }
        for column, counter in enumerate(counted.counters)
    }


def ipc_json(counted: CounterTotals, present: np.ndarray) -> dict[str, Any]:
    """Return the instructions per cycle in computation, in all and by rank. None: not counted together."""
    by_rank = counted.ipc_by_rank
    return {"all": counted.ipc, "by_rank": [by_rank[rank] for rank in present]}


def samples_json(trace: Trace) -> dict[str, int]:
    """Return how many periodic samples all ranks took, and how many they missed."""
    by_rank = [trace.extra(Counters).sampled(rank) for rank in range(trace.size)]
    return {"count": sum(taken for taken, _ in by_rank), "missed": sum(missed for _, missed in by_rank)}


MOST_NODES = 8


def nodes_title(nodes: list[NodeSummary]) -> str:
    """Return the title of the table of nodes, such as "Nodes, sampled every 500 ms"."""
    return f"{'Nodes' if len(nodes) > 1 else 'Node'}, sampled every {units.time(nodes[0].period_ns)}"


def nodes_table(nodes: list[NodeSummary]) -> Table:
    """Make a table with a line for each node. Of many nodes, only the MOST_NODES busiest are shown.

    Bytes are those moved between the first and the last sample.
    """
    table = Table(box=None, padding=(0, 1, 0, 0), pad_edge=False, header_style="dim", expand=False)
    table.add_column("", no_wrap=True, overflow="ellipsis", max_width=16)
    for column in ("CPUs", "busy", "most", "load", "most", "memory", "net in", "out", "disk in", "out"):
        table.add_column(column, justify="right", no_wrap=True)
    shown = sorted(nodes, key=_busy, reverse=True)[:MOST_NODES]
    for node in nodes:
        if node in shown:
            table.add_row(node.name, str(node.cpus or "-"), *_cells(node))
    return table


def _busy(node: NodeSummary) -> float:
    return node.cpu_busy.mean if node.cpu_busy else 0.0


def _cells(node: NodeSummary) -> list[str]:
    busy = [f"{100 * x:.0f} %" for x in (node.cpu_busy.mean, node.cpu_busy.max)] if node.cpu_busy else ["-", "-"]
    load = [f"{x:.1f}" for x in (node.load.mean, node.load.max)] if node.load else ["-", "-"]
    moved = [node.totals.get(name) for name in ("network_received", "network_sent", "disk_read", "disk_written")]
    return [*busy, *load, *(_size(number) for number in (node.memory_used, *moved))]


def _size(number: int | None) -> str:
    return "-" if number is None else units.size(number, "")


def node_notes(nodes: list[NodeSummary]) -> list[str]:
    """List what the table of nodes leaves out: less busy nodes, and quantities that were not measured."""
    found = []
    if len(nodes) > MOST_NODES:
        found.append(f"and {units.plural(len(nodes) - MOST_NODES, 'less busy node')}")
    missing = dict.fromkeys(name for node in nodes for name in node.missing)
    if missing:
        where = "on every node" if len(nodes) > 1 else "on this node"
        found.append(f"not measured {where}: {', '.join(missing)}")
    return found


def system_json(nodes: list[NodeSummary]) -> list[dict[str, Any]]:
    """Return the numbers of each node for JSON. Times are in s; None: unknown."""
    return [
        {
            "node": node.name,
            "samples": node.samples,
            "period_s": node.period_ns / 1e9,
            "ended": node.ended,
            "cpus": node.cpus,
            "cpu_busy": _spread(node.cpu_busy),
            "load": _spread(node.load),
            "cpu_frequency_mhz": _spread(node.frequency_mhz),
            "memory_total_bytes": node.memory_total,
            "memory_used_bytes": node.memory_used,
            "swap_used_bytes": node.swap_used,
            "totals": node.totals,
            "missing": list(node.missing),
        }
        for node in nodes
    ]


def _spread(spread: MeanAndMax | None) -> dict[str, float] | None:
    return None if spread is None else {"mean": spread.mean, "max": spread.max}


MEASURED, ESTIMATED, ELSEWHERE = "measured", "calls times a measured cost", "in processes of their own"


@dataclass(frozen=True)
class DriverCost:
    """Cost of measuring by one driver.

    Attributes:
        what: The thing that `count` counts: "call", "answer", "sample", or "" if `count` is None.
        time_s: Time of all ranks in s; None: the driver takes no time of the ranks.
        how: How the time is known.
    """

    driver: str
    what: str
    count: int | None
    time_s: float | None
    how: str


def costs(summary: Summary) -> tuple[DriverCost, ...]:
    """Return the cost of each driver. Empty for a trace of another tool, which does not record it."""
    return tuple(_costs(summary)) if summary.trace.origin.tracer_times else ()


def _costs(summary: Summary) -> Iterator[DriverCost]:
    present, lost = summary.present, summary.flushes
    calls = int(summary.profile.count[present].sum())
    if calls:
        name = "CLOCK and PAPI" if summary.counted.bursts.any() else "CLOCK"
        yield DriverCost(name, "call", calls, float(summary.useful.tracer_by_rank()[present].sum()) / 1e9, ESTIMATED)
    for name, ns in (("callers of calls", lost.paths_ns), ("clocks of nodes", lost.clocks_ns)):
        if ns[present].any():
            yield DriverCost(name, "", None, float(ns[present].sum()) / 1e9, MEASURED)
    if lost.writing_ns[present].any():
        yield DriverCost("writing buffers", "", None, float(lost.writing_ns[present].sum()) / 1e9, MEASURED)
    for driver in summary.drivers:
        yield DriverCost(driver.name, "answer", driver.count, driver.time_ns / 1e9, MEASURED)
    if samples := sum(node.samples for node in summary.system):
        yield DriverCost("System", "sample", samples, None, ELSEWHERE)


def measuring_lines(summary: Summary) -> list[str]:
    """Return a line with the cost of each driver, if the program asked drivers. Otherwise the time table suffices."""
    return [_line(cost) for cost in costs(summary)] if summary.drivers else []


def _line(cost: DriverCost) -> str:
    count = "" if cost.count is None else f"{plural(cost.count, cost.what)}, "
    took = "" if cost.time_s is None else f"{time(round(cost.time_s * 1e9))}, "
    return f"{cost.driver}: {count}{took}{cost.how}"


def measuring_json(summary: Summary) -> list[dict[str, Any]]:
    """Return the costs of measuring for JSON. Times are in s."""
    return [{name: value for name, value in asdict(cost).items() if name != "what"} for cost in costs(summary)]
