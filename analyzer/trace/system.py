"""Samples that were taken of the nodes of a run (load, CPU, memory, network, disk), and their events for Paraver."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analyzer.trace.records import EVENT
from tracelib.schema.node import SYSTEM, SampleKind

BUSY = "cpu_busy"
"""Name of a derived quantity: the share of CPU time in use, which is neither idle nor waiting for a disk."""

EVENT_TYPES: dict[str, tuple[int, str]] = {
    "load_1": (49001001, "Node: load, 1 minute (0.01 processes)"),
    "load_5": (49001002, "Node: load, 5 minutes (0.01 processes)"),
    "load_15": (49001003, "Node: load, 15 minutes (0.01 processes)"),
    BUSY: (49001010, "Node: CPU time in use since the last sample (0.01 %)"),
    "cpu_user": (49001011, "Node: CPU time of programs since the last sample (0.01 %)"),
    "cpu_system": (49001012, "Node: CPU time of the kernel since the last sample (0.01 %)"),
    "cpu_iowait": (49001013, "Node: CPU time waiting for a disk since the last sample (0.01 %)"),
    "cpu_steal": (49001014, "Node: CPU time taken by the host since the last sample (0.01 %)"),
    "cpu_idle": (49001015, "Node: CPU time idle since the last sample (0.01 %)"),
    "cpu_frequency": (49001019, "Node: CPU frequency (MHz)"),
    "memory_used": (49001020, "Node: memory in use (bytes)"),
    "memory_available": (49001021, "Node: memory available (bytes)"),
    "swap_used": (49001022, "Node: swap in use (bytes)"),
    "network_sent": (49001030, "Node: network, sent since the last sample (bytes)"),
    "network_received": (49001031, "Node: network, received since the last sample (bytes)"),
    "network_packets_sent": (49001032, "Node: network, sent since the last sample (packets)"),
    "network_packets_received": (49001033, "Node: network, received since the last sample (packets)"),
    "disk_read": (49001040, "Node: disk, read since the last sample (bytes)"),
    "disk_written": (49001041, "Node: disk, written since the last sample (bytes)"),
}
"""Paraver event type and label of each quantity of a node. Extrae uses none of 49001001 to 49001099."""

_PER_UNIT = {"processes": 100}  # loads are small numbers, and events are integers
_PER_WHOLE = 10000  # shares: hundredths of a percent

_CPU_TIMES = tuple(name for name, (_, kind) in SYSTEM.items() if kind is SampleKind.CPU_TIME)


@dataclass(frozen=True)
class NodeSamples:
    """Samples of one node, in order of time.

    `time` has the time of each sample in ns of the trace. `values` has a column of the same length for each quantity of
    tracelib.schema.node.SYSTEM that the node gives. A gauge is the value at the time, a counter the sum since the node
    started. `missing` names the quantities that the node does not give.
    """

    node: int  # index in Nodes.names
    rank: int  # first rank of the node that could be read: its first thread carries the events
    period_ns: int
    cpus: int  # logical CPUs of the node; 0: unknown
    memory_total: int  # bytes; 0: unknown
    missing: tuple[str, ...]
    ended: bool  # True if the sampler saw its ranks end
    time: np.ndarray
    values: dict[str, np.ndarray]

    def between(self, first: int, last: int) -> NodeSamples:
        """Return only the samples with an index in [first, last)."""
        columns = {name: column[first:last] for name, column in self.values.items()}
        return NodeSamples(**self.__dict__ | {"time": self.time[first:last], "values": columns})

    def increase(self, name: str) -> np.ndarray:
        """Return the increase of a counter from each sample to the next, shape (samples - 1,).

        An increase is 0 where the counter fell, because a network interface or a disk went away.
        """
        return np.diff(self.values[name]).clip(min=0)

    def cpu_share(self, name: str) -> np.ndarray:
        """Return the share of the time of all CPUs of the node that was spent in one way, from each sample to the next.

        Args:
            name: BUSY, or a quantity that is CPU time, such as cpu_user.

        Returns:
            Shares from 0 to 1, shape (samples - 1,).
        """
        times = {column: self.increase(column) for column in _CPU_TIMES if column in self.values}
        whole = np.sum(list(times.values()), axis=0)
        if name == BUSY:
            part = whole - sum(times.get(column, 0.0) for column in ("cpu_idle", "cpu_iowait"))
        else:
            part = times[name]
        return np.divide(part, whole, out=np.zeros(len(whole)), where=whole > 0).clip(0, 1)

    @property
    def quantities(self) -> tuple[str, ...]:
        """Names of the quantities that the node gives, in the order of EVENT_TYPES; with BUSY, if it can be derived."""
        derived = {BUSY} if "cpu_idle" in self.values else set()
        return tuple(name for name in EVENT_TYPES if name in derived or name in self.values)


def _numbers(samples: NodeSamples, name: str) -> np.ndarray:
    """Convert a quantity to the integers of its events: a gauge at each sample, others from the second sample on."""
    unit, kind = SYSTEM.get(name, ("", SampleKind.CPU_TIME))
    if kind is SampleKind.CPU_TIME:
        values = samples.cpu_share(name) * _PER_WHOLE
    else:
        values = samples.values[name] if kind is SampleKind.GAUGE else samples.increase(name)
        values = values * _PER_UNIT.get(unit, 1)
    return np.rint(values).astype(np.int64)


def events_of(samples: NodeSamples, begin: int, end: int, cpu: int) -> np.ndarray:
    """Return the events of a node's samples with a time in [begin, end), in order of time (EVENT).

    Args:
        samples: The samples of one node.
        begin: Begin of the interval, ns.
        end: End of the interval, ns.
        cpu: CPU of the thread to which the events are attached, from 1; 0: unknown.
    """
    first, last = np.searchsorted(samples.time, (begin, end)).tolist()
    before = min(first, 1)  # one more sample, for the differences
    near = samples.between(first - before, last)
    columns = []
    for name in samples.quantities:
        numbers = _numbers(near, name)
        time = near.time[len(near.time) - len(numbers) :]
        chosen = time >= begin
        column = np.zeros(int(chosen.sum()), EVENT)
        column["time"], column["value"] = time[chosen], numbers[chosen]
        column["type"], column["rank"], column["cpu"] = EVENT_TYPES[name][0], samples.rank, cpu
        columns.append(column)
    events = np.concatenate([np.zeros(0, EVENT), *columns])
    return events[np.argsort(events["time"], kind="stable")]


def with_events(recorded: np.ndarray, added: np.ndarray) -> np.ndarray:
    """Merge two arrays of events that are sorted by time, rank and thread. Among equals, `added` comes last."""
    if not len(added):
        return recorded
    low, at = (np.searchsorted(recorded["time"], added["time"], side) for side in ("left", "right"))
    for k in np.flatnonzero(low < at):
        same = recorded[low[k] : at[k]]
        rank, thread = added["rank"][k], added["thread"][k]
        earlier = (same["rank"] < rank) | ((same["rank"] == rank) & (same["thread"] <= thread))
        at[k] = low[k] + int(earlier.sum())
    return np.insert(recorded, at, added)


def labels_of(quantities: set[str]) -> dict[int, tuple[str, dict[int, str]]]:
    """Return the labels of the event types of these quantities, as in Trace.event_labels."""
    return {number: (label, {}) for name, (number, label) in EVENT_TYPES.items() if name in quantities}
