"""Numeric fields of a machine, which can be read and replaced in all nodes, networks or other parts at once."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from analyzer.errors import TracelibError
from analyzer.machine.description import SPIN, ExponentialNumber, GaussianNumber, Machine, Quantity, UniformNumber


@dataclass(frozen=True)
class MachineField:
    """A numeric field of all nodes, of all networks, of the machine itself, of its scheduling, or of its file system.

    Attributes:
        part: Kind of the parts that have the field: "node", "network", "machine", "scheduling" or "files".
        unit: Factor from the field's unit to the unit of `get` and `set`.
        zero_is_infinite: 0 in the field means infinite or unlimited.
        integer: The field is a whole number.
    """

    part: str
    names: tuple[str, ...]  # fields that are set together; the first one is read
    unit: float = 1.0
    zero_is_infinite: bool = False
    integer: bool = False
    number: int | None = None  # number of the only node or network to use; None: all

    def get(self, machine: Machine) -> float:
        """Return the mean over all parts. Infinite: one part is infinite. NaN: the machine describes no file system."""
        values = [mean_of(getattr(part, self.names[0])) for part in self._chosen(machine)]
        if not values:
            return math.nan
        if SPIN in values or (self.zero_is_infinite and 0 in values):
            return math.inf
        return sum(values) / len(values) * self.unit

    def set(self, machine: Machine, value: float) -> Machine:
        """Return a copy of the machine in which the field has this mean.

        Parts that differ, and distributions, change in proportion.

        Raises:
            TracelibError: The machine describes no file system, or has no such node or network.
        """
        chosen = self._chosen(machine)
        if not chosen:
            raise TracelibError("the machine says nothing of files", "give its file a table [files]")
        target = 0.0 if math.isinf(value) else value / self.unit
        values = {
            name: dict(zip(map(id, chosen), self._at(target, [getattr(part, name) for part in chosen]), strict=True))
            for name in self.names
        }
        changed = each_once(chosen, lambda part: replace(part, **{name: of[id(part)] for name, of in values.items()}))
        return self._with(machine, changed)

    def _at(self, target: float, old: list[Quantity]) -> list[Any]:
        if self.integer and all(isinstance(q, int | float) for q in old):
            return [round(target)] * len(old)
        mean = sum(map(mean_of, old)) / len(old)
        plain = all(isinstance(q, int | float) and q == old[0] for q in old)
        endless = self.zero_is_infinite and 0 in map(mean_of, old)
        if plain or endless or not mean or not target:
            return [target] * len(old)
        return [scaled(q, target / mean) for q in old]

    def _chosen(self, machine: Machine) -> tuple[Any, ...]:
        parts = parts_of(machine, self.part)
        if self.number is None:
            return parts
        there = len(machine.nodes) if self.part == "node" else len(parts)
        if self.number >= there:
            hint = f"the machine has {there}, and the first one is 0"
            raise TracelibError(f"{self.part} {self.number} does not exist", hint)
        return (parts[self.number],)

    def _with(self, machine: Machine, changed: list[Any]) -> Machine:
        if self.number is not None:
            parts = list(parts_of(machine, self.part))
            parts[self.number] = changed[0]
            changed = parts
        return with_parts(machine, self.part, changed)


def parts_of(machine: Machine, part: str) -> tuple[Any, ...]:
    """Return the parts of one kind: all nodes, all networks, the machine, its scheduling, or its file system.

    Args:
        machine: The machine.
        part: "node", "network", "machine", "scheduling" or "files".

    Returns:
        The parts. Empty: the machine describes no file system.
    """
    if part == "node":
        return machine.nodes or (machine.node,)
    if part == "network":
        return machine.networks
    if part == "files":
        return (machine.files,) if machine.files else ()
    return (machine,) if part == "machine" else (machine.scheduling,)


def with_parts(machine: Machine, part: str, changed: Sequence[Any]) -> Machine:
    """Return a copy of the machine with other parts of one kind, in the order of `parts_of`."""
    if part == "node":
        return replace(machine, nodes=tuple(changed)) if machine.nodes else replace(machine, node=changed[0])
    if part == "network":
        return replace(machine, networks=tuple(changed))
    if part == "files":
        return replace(machine, files=changed[0])
    return changed[0] if part == "machine" else replace(machine, scheduling=changed[0])


def each_once(parts: Iterable[Any], change: Callable[[Any], Any]) -> list[Any]:
    """Apply a change to each part. Parts that are the same object are changed once, and stay one object."""
    found, parts = dict[int, Any](), list(parts)
    for part in parts:
        if id(part) not in found:
            found[id(part)] = change(part)
    return [found[id(part)] for part in parts]


def mean_of(quantity: Quantity) -> float:
    """Return the mean of a number or distribution. Values of Gaussians below 0 are not taken into account."""
    if isinstance(quantity, UniformNumber):
        return (quantity.low + quantity.high) / 2
    if isinstance(quantity, GaussianNumber):
        return quantity.mean
    return quantity.least + quantity.mean if isinstance(quantity, ExponentialNumber) else float(quantity)


def scaled(quantity: Quantity, factor: float) -> Quantity:
    """Return a number or a distribution multiplied by a factor."""
    if isinstance(quantity, UniformNumber | GaussianNumber | ExponentialNumber):
        return replace(quantity, **{f.name: getattr(quantity, f.name) * factor for f in fields(quantity)})
    return quantity * factor
