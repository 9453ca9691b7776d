"""Summary of the samples of each node: CPU, load, memory, network and disk."""

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
    """Summary of the samples of one node. None: the node does not give the quantity."""

    name: str
    samples: int
    period_ns: int
    cpus: int
    memory_total: int
    missing: tuple[str, ...]
    ended: bool
    cpu_busy: MeanAndMax | None  # share of the time of all CPUs, 0 to 1; `max` is of one period between samples
    load: MeanAndMax | None  # load of the last minute: number of runnable processes
    frequency_mhz: MeanAndMax | None
    memory_used: int | None  # maximum in bytes
    swap_used: int | None
    totals: dict[str, int]  # bytes or packets from the first sample to the last, by quantity


TOTALS = (
    "network_received",
    "network_sent",
    "network_packets_received",
    "network_packets_sent",
    "disk_read",
    "disk_written",
)
"""Quantities of a node for which the total over the run is computed: bytes and packets."""


def summarize_nodes(trace: Trace) -> list[NodeSummary]:
    """Summarize each node that was sampled, in order of nodes. Empty: no node was sampled."""
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
    """Compute the busy share of a node's CPUs, weighted by the length of the periods: the last period is shorter."""
    if BUSY not in samples.quantities or len(samples.time) < 2:
        return None
    shares = samples.cpu_share(BUSY)
    return MeanAndMax(float(np.average(shares, weights=np.diff(samples.time))), float(shares.max()))


def _spread(column: np.ndarray | None) -> MeanAndMax | None:
    return None if column is None else MeanAndMax(float(column.mean()), float(column.max()))


def _most(column: np.ndarray | None) -> int | None:
    return None if column is None else int(column.max())
