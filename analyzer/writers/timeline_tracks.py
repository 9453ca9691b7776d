"""Samples of nodes as tracks of a timeline, and events of the program as instants."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from analyzer.trace import Regions, Trace
from analyzer.trace.paraver import TYPE_LABELS
from analyzer.trace.system import NodeSamples
from tracelib.schema.node import SYSTEM, SampleKind

_NS = 1e9


def node_tracks(samples: NodeSamples) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Yield each quantity of a node as a track: name with unit, times in ns, and values.

    A gauge has its value at each sample. A counted quantity becomes a rate from each sample to the next: CPU time a
    share of all CPUs in %, anything else a number per second. The rate after the last sample is 0.
    """
    for name in samples.quantities:
        unit, kind = SYSTEM.get(name, ("", SampleKind.CPU_TIME))
        if kind is SampleKind.GAUGE:
            yield f"{name} ({unit})", samples.time, samples.values[name].astype(np.float64)
            continue
        if kind is SampleKind.CPU_TIME:
            text, rates = f"{name} (%)", 100 * samples.cpu_share(name)
        else:
            took = np.diff(samples.time) / _NS
            grew = samples.increase(name)
            text, rates = f"{name} ({unit}/s)", np.divide(grew, took, out=np.zeros(len(took)), where=took > 0)
        yield text, samples.time, np.append(rates, np.zeros(min(len(samples.time), 1)))


NOTE = np.dtype([("time", "<i8"), ("lane", "<i8"), ("event", "<i8"), ("value", "<i8"), ("name", "<i8")])
"""Record of the kernel: `struct timeline_note`."""
_OTHERS = range(40_000_000, 70_000_000)
"""Event types of the tracer, of regions and of their parameters, which are not the program's (docs/regions.md)."""


class NoteTracks:
    """Reader of the program's events. It numbers the names of types and values in the order in which they occur."""

    def __init__(self, trace: Trace, say_type: Callable[[str], None], say_value: Callable[[str], None]) -> None:
        """Prepare a reader. `say_type` and `say_value` are called with each new name of a type or value."""
        self._trace, self._labels = trace, TYPE_LABELS | trace.event_labels
        self._say_type, self._say_value = say_type, say_value
        self._types: dict[int, int] = {}
        self._values: dict[tuple[int, int], int] = {}

    def between(self, begin: int, end: int, first_lane: np.ndarray) -> np.ndarray:
        """Return records (NOTE) of the program's own events in [begin, end) ns.

        `first_lane` has the lane of each rank's first thread, of shape (ranks,).
        """
        regions, parts = self._trace.extra(Regions), [np.zeros(0, NOTE)]
        for rank in range(self._trace.size):
            rows = regions.events(rank, begin, end)
            rows = rows[(rows["type"] < _OTHERS.start) | (rows["type"] >= _OTHERS.stop)]
            if len(rows):
                parts.append(self._noted(rows, int(first_lane[rank])))
        return np.concatenate(parts)

    def _noted(self, rows: np.ndarray, lane: int) -> np.ndarray:
        found = np.zeros(len(rows), NOTE)
        found["time"], found["lane"], found["value"] = rows["time"], lane + rows["thread"], rows["value"]
        types, which = np.unique(rows["type"], return_inverse=True)
        found["event"] = np.array([self._type(one) for one in types.tolist()], np.int64)[which]
        found["name"] = -1
        for one in types.tolist():
            mine = np.flatnonzero(rows["type"] == one)
            for value, label in self._labels.get(one, ("", {}))[1].items():
                named = mine[rows["value"][mine] == value]
                if len(named):
                    found["name"][named] = self._value(one, value, label)
        return found

    def _type(self, number: int) -> int:
        if number not in self._types:
            self._types[number] = len(self._types)
            self._say_type(self._labels.get(number, (f"event {number}", {}))[0])
        return self._types[number]

    def _value(self, type_: int, value: int, label: str) -> int:
        if (type_, value) not in self._values:
            self._values[type_, value] = len(self._values)
            self._say_value(label)
        return self._values[type_, value]
