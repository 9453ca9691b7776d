"""Each node's load, CPU, memory, network and disk in a few numbers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analyzer.trace import Trace
from analyzer.trace.system import BUSY, NodeSamples


@dataclass(frozen=True)
class MeanAndMax:
    """Mean and largest value of a quantity."""

    mean: float
    max: float


@dataclass(frozen=True)
class NodeSummary:
    """Summary of one node from its first sample to its last; None: the node does not report the value."""

    name: str
    samples: int
    period_ns: int
    cpus: int
    memory_total: int
    missing: tuple[str, ...]
    ended: bool
    cpu_busy: MeanAndMax | None  # fraction of the time of all CPUs; the largest of one period
    load: MeanAndMax | None  # runnable processes, mean of the last minute
    frequency_mhz: MeanAndMax | None
    memory_used: int | None  # maximum in bytes
    swap_used: int | None
    totals: dict[str, int]  # by name of the counter: bytes and packets from the first sample to the last


TOTALS = (
    "network_received",
    "network_sent",
    "network_packets_received",
    "network_packets_sent",
    "disk_read",
    "disk_written",
)


def summarize_nodes(trace: Trace) -> list[NodeSummary]:
    """Summarize each node that was sampled, in order of nodes; [] where none was."""
    return [_summary(samples, trace.nodes.names[samples.node]) for samples in trace.nodes.samples]


def _summary(samples: NodeSamples, name: str) -> NodeSummary:
    values = samples.values
    return NodeSummary(
        name=name,
        samples=len(samples.time),
        period_ns=samples.period_ns,
        cpus=samples.cpus,
        memory_total=samples.memory_total,
        missing=samples.missing,
        ended=samples.ended,
        cpu_busy=_busy(samples),
        load=_spread(values.get("load_1")),
        frequency_mhz=_spread(values.get("cpu_frequency")),
        memory_used=_most(values.get("memory_used")),
        swap_used=_most(values.get("swap_used")),
        totals={counter: int(samples.increase(counter).sum()) for counter in TOTALS if counter in values},
    )


def _busy(samples: NodeSamples) -> MeanAndMax | None:
    """Compute the busy share of a node's CPUs. Each period counts by its length: the last one is shorter."""
    if BUSY not in samples.quantities or len(samples.time) < 2:
        return None
    shares = samples.cpu_share(BUSY)
    return MeanAndMax(float(np.average(shares, weights=np.diff(samples.time))), float(shares.max()))


def _spread(column: np.ndarray | None) -> MeanAndMax | None:
    return None if column is None else MeanAndMax(float(column.mean()), float(column.max()))


def _most(column: np.ndarray | None) -> int | None:
    return None if column is None else int(column.max())
