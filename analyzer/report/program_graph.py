"""The graph of a program as a table, for JSON, and in DOT (Graphviz)."""

from __future__ import annotations

from typing import Any

import numpy as np
from rich.console import Console
from rich.text import Text

from analyzer.report.words import units
from analyzer.report.words.table import plain_table
from analyzer.structure.graph.program_graph import DifferingProperty, GraphEdge, GraphNode, NodeKind, ProgramGraph
from analyzer.structure.graph.steps import ENDS

WORDS = {
    DifferingProperty.WHO: "who",
    DifferingProperty.TIMES: "how often",
    DifferingProperty.BYTES: "bytes",
    DifferingProperty.SPEED: "time",
}
COLOURS = {False: "#cfe3f1", True: "#f6cfb3"}
"""Colours of parts. False: all processes execute the part alike. True: processes differ in it."""


def print_graph(found: ProgramGraph, console: Console) -> None:
    """Print the parts of the program in order of their first execution, with the differences between processes."""
    console.print("\nParts of the program, and where processes differ")
    table = plain_table("part", "ranks", "times", "each", "differs")
    for number, node in enumerate(found.nodes, 1):
        each = each_text(node) if node.kind == NodeKind.COMPUTING else bytes_text(node)
        differs = ", ".join(WORDS[one] for one in node.differs)
        who = ranks_text(np.flatnonzero(node.count))
        table.add_row(Text(f"{number:>2} {name_of(node)}"), who, times_text(node), each or "-", differs or "-")
    console.print(table)
    touched = sum(bool(node.differs) for node in found.nodes)
    console.print(f"{touched} of {units.plural(len(found.nodes), 'part')} differ between processes")
    if found.without_messages:
        console.print("There are too many calls to say where messages go")


def name_of(node: GraphNode) -> str:
    """Return the name of a part: `Sendrecv exchange.c:212 in exchange`, or "computing"."""
    return node.label if node.kind == NodeKind.COMMUNICATION else "computing"


def ranks_text(ranks: np.ndarray) -> str:
    """Return ranks as text: `0`, `1-7`, `0, 4-6`. More than three stretches become the number of ranks."""
    if not len(ranks):
        return "-"
    cuts = np.flatnonzero(np.diff(ranks) > 1) + 1
    stretches = [(int(some[0]), int(some[-1])) for some in np.split(ranks, cuts)]
    if len(stretches) > 3:
        return units.plural(len(ranks), "rank")
    return ", ".join(f"{first}-{last}" if last > first else str(first) for first, last in stretches)


def times_text(node: GraphNode) -> str:
    """Return how often a rank executes a part, such as "12", or "10-12" if ranks differ."""
    there = node.count[node.count > 0]
    low, high = int(there.min()), int(there.max())
    return f"{low}-{high}" if high > low else str(low)


def each_text(node: GraphNode) -> str:
    """Return the mean time of one execution, or the range from the fastest to the slowest rank if speeds differ."""
    each = node.each_ns
    if DifferingProperty.SPEED in node.differs:
        return f"{units.time(float(each.min()))} to {units.time(float(each.max()))}"
    return units.time(float(node.ns.sum() / node.count.sum()))


def bytes_text(node: GraphNode) -> str:
    """Return the mean bytes of one execution, or their range if ranks differ. "": no bytes."""
    there = node.count > 0
    each = node.bytes[there] / node.count[there]
    if not each.max(initial=0):
        return ""
    low, high = units.size(float(each.min())), units.size(float(each.max()))
    return f"{low} to {high}" if DifferingProperty.BYTES in node.differs else units.size(float(each.mean()))


def graph_json(found: ProgramGraph) -> dict[str, Any]:
    """Return the graph for JSON. Times are in s."""
    return {
        "parts": [
            {
                "kind": node.kind.value, "name": name_of(node), "differs": [WORDS[one] for one in node.differs],
                "times": node.count.astype(int).tolist(), "time_s": (node.ns / 1e9).tolist(),
                "bytes": node.bytes.astype(int).tolist(),
            }
            for node in found.nodes
        ],
        "flow": [_edge_json(edge) for edge in found.flow],
        "messages": None if found.without_messages else [_edge_json(edge) for edge in found.messages],
        "lanes": [lane.tolist() for lane in found.lanes()],
    }  # fmt: skip


def _edge_json(edge: GraphEdge) -> dict[str, int | None]:
    ends = [None if end == ENDS else end for end in (edge.source, edge.target)]
    return {"from": ends[0], "to": ends[1], "count": edge.count}


def dot_text(found: ProgramGraph) -> str:
    """Return the graph in DOT, which `dot -Tsvg` draws."""
    lines = [
        "digraph program {",
        '  node [style=filled, fontname="sans-serif"];',
        "  begin [shape=circle, label=begin];",
    ]
    lines.append("  end [shape=doublecircle, label=end];")
    for number, node in enumerate(found.nodes):
        shape = "box" if node.kind == NodeKind.COMMUNICATION else "ellipse"
        text = "\\n".join(_quoted(line) for line in label_lines(node, found))
        lines.append(f'  n{number} [shape={shape}, fillcolor="{COLOURS[bool(node.differs)]}", label="{text}"];')
    for edge in found.flow:
        source = "begin" if edge.source == ENDS else f"n{edge.source}"
        target = "end" if edge.target == ENDS else f"n{edge.target}"
        lines.append(f'  {source} -> {target} [label="{edge.count}"];')
    for edge in found.messages:
        lines.append(f'  n{edge.source} -> n{edge.target} [style=dashed, constraint=false, label="{edge.count}"];')
    return "\n".join([*lines, "}"]) + "\n"


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


def label_lines(node: GraphNode, found: ProgramGraph) -> list[str]:
    """Return the lines of text for the symbol of a part."""
    who = "" if node.count[found.seen].all() else f"rank {ranks_text(np.flatnonzero(node.count))}: "
    numbers = [f"{who}{times_text(node)} x"]
    if node.kind == NodeKind.COMPUTING:
        return [f"{name_of(node)} {each_text(node)}", *numbers]
    size = bytes_text(node)
    return [name_of(node), numbers[0] + (f", {size}" if size else "")]
