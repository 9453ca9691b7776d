"""The nodes of a run as text and as plain data."""

from __future__ import annotations

from typing import Any

from rich.table import Table

from analyzer.metrics.system import NodeSummary, Spread
from analyzer.report.words import units

MOST_NODES = 8


def title(nodes: list[NodeSummary]) -> str:
    """What the table holds: "Nodes, sampled every 500 ms"."""
    return f"{'Nodes' if len(nodes) > 1 else 'Node'}, sampled every {units.time(nodes[0].period_ns)}"


def nodes_table(nodes: list[NodeSummary]) -> Table:
    """A line for each node, of many nodes the busiest; bytes moved are those from the first sample to the last."""
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


def notes(nodes: list[NodeSummary]) -> list[str]:
    """What the table leaves out."""
    found = []
    if len(nodes) > MOST_NODES:
        found.append(f"and {units.plural(len(nodes) - MOST_NODES, 'less busy node')}")
    missing = dict.fromkeys(name for node in nodes for name in node.missing)
    if missing:
        where = "on every node" if len(nodes) > 1 else "on this node"
        found.append(f"not measured {where}: {', '.join(missing)}")
    return found


def system_json(nodes: list[NodeSummary]) -> list[dict[str, Any]]:
    """The numbers of each node under stable names: seconds, bytes, fractions; null where the node does not tell."""
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


def _spread(spread: Spread | None) -> dict[str, float] | None:
    return None if spread is None else {"mean": spread.mean, "max": spread.max}
