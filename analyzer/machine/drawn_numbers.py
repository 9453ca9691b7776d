"""Numbers that identify the parameters of a machine in random draws.

A draw depends on the parameter's number and the seed. Numbers must never change, so that a seed always gives the same
values. New parameters get numbers after all others.

docs/machine.md, "Random numbers".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from analyzer._replay import ffi, lib
from analyzer.machine.description import Count, ExponentialNumber, GaussianNumber, Machine, Quantity, UniformNumber

FILES = ("file_latency_s", "read_bandwidth_mb", "write_bandwidth_mb", "open_s", "close_s", "sync_s", "servers")
"""Names of the file system's parameters."""
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
"""Parameters in the order of their numbers: all parameters of the first node, then of the second node, and so on."""


@dataclass(frozen=True)
class _Place:
    first: int  # number of the parameter in the first part
    step: int  # difference from one part to the next
    parts: int


@dataclass(frozen=True)
class ParameterNumbering:
    """Numbering of the parameters of a machine with given numbers of nodes, networks and scheduling levels."""

    nodes: int
    networks: int
    levels: int
    machine: int = 1

    @classmethod
    def of_machine(cls, machine: Machine, ranks: int) -> ParameterNumbering:
        """Return the numbering for a machine. A machine that lists no nodes has a node for each of `ranks`."""
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
        """Return the number of a parameter.

        Args:
            name: Name of the parameter.
            part: Index of the node, network or scheduling level that has the parameter.
        """
        place = self._places[name]
        return place.first + part * place.step

    def of_each(self, name: str) -> np.ndarray:
        """Return the numbers of one parameter in all parts, such as all nodes, shape (parts,)."""
        place = self._places[name]
        return place.first + np.arange(place.parts) * place.step


OF_NODE = ("cpus", "links_out", "links_in", "intra_buses", "intra_links_out", "intra_links_in")
"""Names of a node's whole numbers, which are drawn once, when the machine is made."""
LAWS = {UniformNumber: lib.LAW_UNIFORM, GaussianNumber: lib.LAW_GAUSSIAN, ExponentialNumber: lib.LAW_EXPONENTIAL}


def set_quantity(target: Any, quantity: Quantity, number: int) -> None:
    """Fill a C `struct quantity` with a number or distribution. `number`: number of the parameter."""
    target.id = number
    if type(quantity) in LAWS:
        target.law = LAWS[type(quantity)]
        target.a, target.b = vars(quantity).values()
    else:
        target.law, target.a = lib.LAW_CONSTANT, float(quantity)  # type: ignore[arg-type]


def with_counts(machine: Machine, ranks: int) -> Machine:
    """Return a copy of the machine with nodes listed, and random numbers of CPUs, links, buses and servers drawn.

    Args:
        machine: The machine.
        ranks: Number of nodes to list if the machine lists none.
    """
    numbers = ParameterNumbering.of_machine(machine, ranks)
    return replace(
        machine,
        nodes=_all_drawn(machine.with_nodes(ranks), OF_NODE, machine.seed, numbers),
        networks=_all_drawn(machine.networks, ("buses",), machine.seed, numbers),
        files=machine.files and _all_drawn((machine.files,), ("servers",), machine.seed, numbers)[0],
    )


def _all_drawn(parts: Sequence[Any], names: tuple[str, ...], seed: int, numbers: ParameterNumbering) -> tuple[Any, ...]:
    """Return parts with their random whole numbers `names` drawn. Many of the parts may be the same object."""
    at_random = {
        key: [name for name in names if not isinstance(getattr(part, name), int)]
        for key, part in {id(part): part for part in parts}.items()
    }
    found = list(parts)
    for k, part in enumerate(parts):
        if drawn := at_random[id(part)]:
            found[k] = replace(part, **{name: _draw(getattr(part, name), numbers.of(name, k), seed) for name in drawn})
    return tuple(found)


def _draw(of: Count, number: int, seed: int) -> int:
    """Draw a whole number of at least 1.

    A uniform distribution gives each whole number with equal probability. Other distributions are rounded.
    """
    uniform = isinstance(of, UniformNumber)
    target = ffi.new("struct quantity *")
    set_quantity(target, UniformNumber(of.low, of.high + 1) if isinstance(of, UniformNumber) else of, number)
    value = lib.replay_value(target, seed & (2**64 - 1))
    return max(int(value if uniform else value + 0.5), 1)
