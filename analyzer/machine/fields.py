"""Numbers in a machine as something that can be read and replaced, wherever they stand and however many there are."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from analyzer.errors import TracelibError
from analyzer.machine.description import SPIN, ExponentialNumber, GaussianNumber, Machine, Quantity, UniformNumber


@dataclass(frozen=True)
class MachineField:
    """A number that all nodes have, or all networks, or the machine itself, its scheduling or its files.

    part: "node", "network", "machine", "scheduling", "files". unit: the field's, in that of `get` and `set`.
    """

    part: str
    names: tuple[str, ...]  # fields that are set together; the first is read
    unit: float = 1.0
    zero_is_infinite: bool = False
    integer: bool = False
    number: int | None = None  # that node or network only

    def get(self, machine: Machine) -> float:
        """Return the mean over all parts; infinite if one is; NaN where the machine describes no file system."""
        values = [mean_of(getattr(part, self.names[0])) for part in self._chosen(machine)]
        if not values:
            return math.nan
        if SPIN in values or (self.zero_is_infinite and 0 in values):
            return math.inf
        return sum(values) / len(values) * self.unit

    def set(self, machine: Machine, value: float) -> Machine:
        """Return the machine with this mean: parts that differ, and distributions, change in proportion."""
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
    """Select all nodes ("node"), all networks, the machine itself, its scheduling, or its file system if there is
    one."""
    if part == "node":
        return machine.nodes or (machine.node,)
    if part == "network":
        return machine.networks
    if part == "files":
        return (machine.files,) if machine.files else ()
    return (machine,) if part == "machine" else (machine.scheduling,)


def with_parts(machine: Machine, part: str, changed: Sequence[Any]) -> Machine:
    """Return the machine with other parts in their place."""
    if part == "node":
        return replace(machine, nodes=tuple(changed)) if machine.nodes else replace(machine, node=changed[0])
    if part == "network":
        return replace(machine, networks=tuple(changed))
    if part == "files":
        return replace(machine, files=changed[0])
    return changed[0] if part == "machine" else replace(machine, scheduling=changed[0])


def each_once(parts: Iterable[Any], change: Callable[[Any], Any]) -> list[Any]:
    """Change parts, of which many are one and the same object: it is changed once, and stays one."""
    found, parts = dict[int, Any](), list(parts)
    for part in parts:
        if id(part) not in found:
            found[id(part)] = change(part)
    return [found[id(part)] for part in parts]


def mean_of(quantity: Quantity) -> float:
    """Return the mean of a quantity, ignoring what Gaussians lose below 0."""
    if isinstance(quantity, UniformNumber):
        return (quantity.low + quantity.high) / 2
    if isinstance(quantity, GaussianNumber):
        return quantity.mean
    return quantity.least + quantity.mean if isinstance(quantity, ExponentialNumber) else float(quantity)


def scaled(quantity: Quantity, factor: float) -> Quantity:
    """Multiply a number or a distribution by a factor."""
    if isinstance(quantity, UniformNumber | GaussianNumber | ExponentialNumber):
        return replace(quantity, **{f.name: getattr(quantity, f.name) * factor for f in fields(quantity)})
    return quantity * factor
