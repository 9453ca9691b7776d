"""Samples of nodes as tracks of a timeline.

Events of the program as instants of a timeline.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from analyzer.trace import Regions, Trace
from analyzer.trace.paraver import TYPE_LABELS
from analyzer.trace.system import NodeSamples
from tracelib.schema.node import SYSTEM, SampleKind

_NS = 1e9


def node_tracks(samples: NodeSamples) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Yield (name with its unit, times in ns, values) of each quantity that a node gives.

    A gauge has its value at each sample. What is counted is a rate from a sample until the next: a share of all CPUs in
    %, or something per second; it is 0 from the last sample on.
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
"""`struct timeline_note` of the kernel."""
_OTHERS = range(40_000_000, 70_000_000)
"""Types of events of the tracer, of regions and their parameters (docs/regions.md)."""


class NoteTracks:
    """Reader of the program's notes, which numbers the names of types and values as they come."""

    def __init__(self, trace: Trace, say_type: Callable[[str], None], say_value: Callable[[str], None]) -> None:
        """Take functions for the next name of each kind."""
        self._trace, self._labels = trace, TYPE_LABELS | trace.event_labels
        self._say_type, self._say_value = say_type, say_value
        self._types: dict[int, int] = {}
        self._values: dict[tuple[int, int], int] = {}

    def between(self, begin: int, end: int, first_lane: np.ndarray) -> np.ndarray:
        """Return NOTE of the program's own events of a window; `first_lane`: of each rank, its first thread's."""
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
