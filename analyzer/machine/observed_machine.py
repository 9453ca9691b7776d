"""The machine that a run was made on, as far as the run itself shows it."""

from __future__ import annotations

from analyzer.loggp.observed import MessageWay, observe
from analyzer.machine.description import Machine, Network, Node
from analyzer.parallel import Team
from analyzer.trace import Trace

_MB = 1 << 20
NAME_ONE = "name one: --machine m.toml, or --latency 5us --bandwidth 1000MB/s"
"""Advice to a user whose run shows no machine."""


def own_machine(trace: Trace, team: Team) -> Machine | None:
    """Build a machine from the run's messages: a node for each rank, with observed latency and bandwidth.

    Values are those between nodes, or within them where the run had one node: latency of the fastest small messages,
    bandwidth of the largest messages that `analyze loggp` trusts. None where messages show no latency; a Dimemas trace
    has no times at all.
    """
    ways = {way.where: way for way in observe(trace, team)} if trace.has_call_times else {}
    found = ways.get("inter") or ways.get("intra")
    smallest = found.smallest if found else None
    if not found or not smallest or not smallest.time:
        return None
    node = Node(latency_s=smallest.time.value)
    return Machine(node=node, networks=(Network(bandwidth_mb=_bandwidth(found) / _MB),))


def _bandwidth(way: MessageWay) -> float:
    """Return the bytes a second of the largest messages; 0, infinite, if none shows it."""
    known = [c.bandwidth.value for c in way.trusted if c.bandwidth]
    return known[-1] if known else 0.0
