"""Samples of nodes as tracks of a timeline."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from analyzer.trace.system import NodeSamples
from tracelib.schema.node import SYSTEM, Kind

_NS = 1e9


def node_tracks(samples: NodeSamples) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """(name with its unit, times in ns, values) of each quantity that a node gives.

    A gauge has its value at each sample. What is counted is a rate from a sample until the next: a share of all CPUs in
    %, or something per second; it is 0 from the last sample on.
    """
    for name in samples.quantities:
        unit, kind = SYSTEM.get(name, ("", Kind.CPU_TIME))
        if kind is Kind.GAUGE:
            yield f"{name} ({unit})", samples.time, samples.values[name].astype(np.float64)
            continue
        if kind is Kind.CPU_TIME:
            text, rates = f"{name} (%)", 100 * samples.cpu_share(name)
        else:
            took = np.diff(samples.time) / _NS
            grew = samples.increase(name)
            text, rates = f"{name} ({unit}/s)", np.divide(grew, took, out=np.zeros(len(took)), where=took > 0)
        yield text, samples.time, np.append(rates, np.zeros(min(len(samples.time), 1)))
