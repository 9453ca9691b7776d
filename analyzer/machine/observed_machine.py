"""The machine on which a run was made, as far as the run's messages show it."""

from __future__ import annotations

from analyzer.loggp.observed import MessageWay, observe
from analyzer.machine.description import Machine, Network, Node
from analyzer.parallel import Team
from analyzer.trace import Trace

_MB = 1 << 20
NAME_ONE = "name one: --machine m.toml, or --latency 5us --bandwidth 1000MB/s"
"""Hint of errors for a run that does not show its machine."""


def own_machine(trace: Trace, team: Team) -> Machine | None:
    """Build a machine from a run's messages: one node for each rank, with observed latency and bandwidth.

    Values are those between nodes, or within the node if the run had one. The latency is the time of the fastest small
    messages, the bandwidth that of the largest messages that `analyze loggp` trusts. Collective over the team.

    Args:
        trace: The run.
        team: Processes that share the work.

    Returns:
        The machine. None: messages show no latency, or the trace has no times (Dimemas).
    """
    ways = {way.where: way for way in observe(trace, team)} if trace.has_call_times else {}
    found = ways.get("inter") or ways.get("intra")
    smallest = found.smallest if found else None
    if not found or not smallest or not smallest.time:
        return None
    node = Node(latency_s=smallest.time.value)
    return Machine(node=node, networks=(Network(bandwidth_mb=_bandwidth(found) / _MB),))


def _bandwidth(way: MessageWay) -> float:
    """Return the bandwidth of the largest messages in bytes/s. 0 means infinite: no messages show it."""
    known = [c.bandwidth.value for c in way.trusted if c.bandwidth]
    return known[-1] if known else 0.0
