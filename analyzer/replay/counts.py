"""Numbers of CPUs, links and buses that are at random: drawn once, as the machine is made.

Source: "Dimemas specification", section 1.14; docs/machine.md says which random number is whose.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from analyzer._replay import ffi, lib
from analyzer.replay.machine import Count, Exponential, Gaussian, Machine, Quantity, Uniform

OF_NODE = ("cpus", "links_out", "links_in", "intra_buses", "intra_links_out", "intra_links_in")
"""Counts of a node, in the order of their numbers."""
LAWS = {Uniform: lib.LAW_UNIFORM, Gaussian: lib.LAW_GAUSSIAN, Exponential: lib.LAW_EXPONENTIAL}


def set_quantity(target: Any, quantity: Quantity, number: int) -> None:
    """Fill a struct quantity; number: the parameter's."""
    target.id = number
    if type(quantity) in LAWS:
        target.law = LAWS[type(quantity)]
        target.a, target.b = vars(quantity).values()
    else:
        target.law, target.a = lib.LAW_CONSTANT, float(quantity)  # type: ignore[arg-type]


def first_count(machine: Machine, ranks: int) -> int:
    """The number of the first count: five of each node, the networks' rates, the WAN's, the eager limit and four times
    of the scheduling come before."""
    return 1 + 5 * len(machine.with_nodes(ranks)) + len(machine.networks) + 1 + 5


def first_after_counts(machine: Machine, ranks: int) -> int:
    """The number of the parameter after them: the first quantum of SVR4; then come the times of DECAY."""
    return first_count(machine, ranks) + len(OF_NODE) * len(machine.with_nodes(ranks)) + len(machine.networks)


def with_counts(machine: Machine, ranks: int) -> Machine:
    """The machine with nodes for so many ranks, and with all counts drawn."""
    numbers = iter(range(first_count(machine, ranks), 1 << 30))
    nodes = tuple(_drawn(node, OF_NODE, machine.seed, numbers) for node in machine.with_nodes(ranks))
    networks = tuple(_drawn(network, ("buses",), machine.seed, numbers) for network in machine.networks)
    return replace(machine, nodes=nodes, networks=networks)


def _drawn(part: Any, names: tuple[str, ...], seed: int, numbers: Iterator[int]) -> Any:
    found = {name: (getattr(part, name), next(numbers)) for name in names}
    drawn = {name: _draw(of, number, seed) for name, (of, number) in found.items() if not isinstance(of, int)}
    return replace(part, **drawn) if drawn else part


def _draw(of: Count, number: int, seed: int) -> int:
    """Of a uniform one each number is as likely as the others; else the nearest."""
    uniform = isinstance(of, Uniform)
    target = ffi.new("struct quantity *")
    set_quantity(target, Uniform(of.low, of.high + 1) if isinstance(of, Uniform) else of, number)
    value = lib.replay_value(target, seed & (2**64 - 1))
    return max(int(value if uniform else value + 0.5), 1)
