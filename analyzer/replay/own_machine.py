"""The machine that a run was made on, as far as the run itself shows it."""

from __future__ import annotations

from analyzer.errors import TracelibError
from analyzer.loggp.observed import Way, observe
from analyzer.parallel import Team
from analyzer.replay.machine import DIALECTS, Machine, Network, Node
from analyzer.trace import Trace

_MB = 1 << 20


def own_machine(trace: Trace, team: Team, dialect: str | None = None) -> Machine:
    """A node for each rank, with the latency and the bandwidth that the run's messages show between nodes, or within
    them where it had one: those of the fastest small and of the largest messages that `analyze loggp` trusts.

    In the dialect of Dimemas 5.5, the default, the sender's CPU and the receiver's spend the latency: each has half of
    it. Raises TracelibError where the messages show no latency.
    """
    ways = {way.where: way for way in observe(trace, team)}
    found = ways.get("inter") or ways.get("intra")
    smallest = found.smallest if found else None
    if not found or not smallest or not smallest.time:
        raise TracelibError(
            f"the messages of {trace.path} do not show its network",
            "name one: --machine m.toml, or --latency 5us --bandwidth 1000MB/s",
        )
    ends = 1 if dialect == "thesis" else 2
    node = Node(latency_s=smallest.time.value / ends)
    return Machine(node=node, networks=(Network(bandwidth_mb=_bandwidth(found) / _MB),), dialect=dialect or DIALECTS[0])


def _bandwidth(way: Way) -> float:
    """Bytes a second of the largest messages; 0, infinite, where none shows it."""
    known = [c.bandwidth.value for c in way.trusted if c.bandwidth]
    return known[-1] if known else 0.0
