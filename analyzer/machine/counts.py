"""Numbers of CPUs, links and buses that are at random: drawn once, as the machine is made.

Source: "Dimemas specification", section 1.14; docs/machine.md says which random number is whose.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from analyzer._replay import ffi, lib
from analyzer.machine.machine import Count, Exponential, Gaussian, Machine, Quantity, Uniform
from analyzer.machine.numbers import Numbers

OF_NODE = ("cpus", "links_out", "links_in", "intra_buses", "intra_links_out", "intra_links_in")
"""Counts of a node."""
LAWS = {Uniform: lib.LAW_UNIFORM, Gaussian: lib.LAW_GAUSSIAN, Exponential: lib.LAW_EXPONENTIAL}


def set_quantity(target: Any, quantity: Quantity, number: int) -> None:
    """Fill a struct quantity; number: the parameter's."""
    target.id = number
    if type(quantity) in LAWS:
        target.law = LAWS[type(quantity)]
        target.a, target.b = vars(quantity).values()
    else:
        target.law, target.a = lib.LAW_CONSTANT, float(quantity)  # type: ignore[arg-type]


def with_counts(machine: Machine, ranks: int) -> Machine:
    """The machine with nodes for so many ranks, and with all counts drawn."""
    numbers = Numbers.of_machine(machine, ranks)
    return replace(
        machine,
        nodes=_all_drawn(machine.with_nodes(ranks), OF_NODE, machine.seed, numbers),
        networks=_all_drawn(machine.networks, ("buses",), machine.seed, numbers),
        files=machine.files and _all_drawn((machine.files,), ("servers",), machine.seed, numbers)[0],
    )


def _all_drawn(parts: Sequence[Any], names: tuple[str, ...], seed: int, numbers: Numbers) -> tuple[Any, ...]:
    """Parts of which each has a count for each of the names. Many are one and the same object."""
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
    """Of a uniform one each number is as likely as the others; else the nearest."""
    uniform = isinstance(of, Uniform)
    target = ffi.new("struct quantity *")
    set_quantity(target, Uniform(of.low, of.high + 1) if isinstance(of, Uniform) else of, number)
    value = lib.replay_value(target, seed & (2**64 - 1))
    return max(int(value if uniform else value + 0.5), 1)
