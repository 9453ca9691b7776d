"""Numbers of a machine's parameters, by name. A draw depends on the parameter's number, so that what a seed gives stays
the same for ever: new parameters come last.

docs/machine.md, "Random numbers".
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from analyzer.machine.machine import Machine

FILES = ("file_latency_s", "read_bandwidth_mb", "write_bandwidth_mb", "open_s", "close_s", "sync_s", "servers")
"""Of the file system."""
_LAYOUT = (
    ("nodes", ("speed", "latency_s", "intra_latency_s", "intra_bandwidth_mb", "wan_latency_s")),
    ("networks", ("bandwidth_mb",)),
    ("machine", ("wan_bandwidth_mb", "eager_limit")),
    ("machine", ("slice_ns", "context_switch_ns", "busy_wait_ns", "least_run_ns")),
    ("nodes", ("cpus", "links_out", "links_in", "intra_buses", "intra_links_out", "intra_links_in")),
    ("networks", ("buses",)),
    ("levels", ("quantum_ns",)),
    ("machine", ("tick_ns", "decay_ns", "load_ns", "settle_ns")),
    ("machine", FILES),
)
"""Whose parameters come one after the other: all of the first node, then all of the second, and so on."""


@dataclass(frozen=True)
class _Place:
    first: int  # number of the first part's parameter
    step: int  # from a part to the next
    parts: int


@dataclass(frozen=True)
class Numbers:
    """Of a machine with so many nodes, networks and levels of its scheduling."""

    nodes: int
    networks: int
    levels: int
    machine: int = 1

    @classmethod
    def of_machine(cls, machine: Machine, ranks: int) -> Numbers:
        """With nodes for so many ranks."""
        return cls(len(machine.with_nodes(ranks)), len(machine.networks), len(machine.scheduling.levels))

    @cached_property
    def _places(self) -> dict[str, _Place]:
        return dict(self._laid_out())

    def _laid_out(self) -> Iterator[tuple[str, _Place]]:
        first = 1
        for whose, names in _LAYOUT:
            parts = getattr(self, whose)
            for k, name in enumerate(names):
                yield name, _Place(first + k, len(names), parts)
            first += parts * len(names)

    def of(self, name: str, part: int = 0) -> int:
        """The number of a parameter; part: the node, network or level that it is of."""
        place = self._places[name]
        return place.first + part * place.step

    def of_each(self, name: str) -> np.ndarray:
        """The same of all parts."""
        place = self._places[name]
        return place.first + np.arange(place.parts) * place.step
