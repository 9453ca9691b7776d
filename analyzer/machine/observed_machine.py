"""The machine that a run was made on, as far as the run itself shows it."""

from __future__ import annotations

from analyzer.loggp.observed import Way, observe
from analyzer.machine.description import Machine, Network, Node
from analyzer.parallel import Team
from analyzer.trace import Trace

_MB = 1 << 20
NAME_ONE = "name one: --machine m.toml, or --latency 5us --bandwidth 1000MB/s"
"""What the user can do if the run shows no machine."""


def own_machine(trace: Trace, team: Team) -> Machine | None:
    """A node for each rank, with the latency and the bandwidth that the run's messages show between nodes, or within
    them where it had one: those of the fastest small and of the largest messages that `analyze loggp` trusts.

    None where the messages show no latency; those of a Dimemas trace have no times at all.
    """
    ways = {way.where: way for way in observe(trace, team)} if trace.has_call_times else {}
    found = ways.get("inter") or ways.get("intra")
    smallest = found.smallest if found else None
    if not found or not smallest or not smallest.time:
        return None
    node = Node(latency_s=smallest.time.value)
    return Machine(node=node, networks=(Network(bandwidth_mb=_bandwidth(found) / _MB),))


def _bandwidth(way: Way) -> float:
    """Bytes a second of the largest messages; 0, infinite, where none shows it."""
    known = [c.bandwidth.value for c in way.trusted if c.bandwidth]
    return known[-1] if known else 0.0
