"""The machine of a command: a file in one of two forms, and options that override it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from analyzer.errors import TracelibError
from analyzer.machine.cfg import Configuration, read_cfg
from analyzer.machine.fields import each_once
from analyzer.machine.machine import DIALECTS, Machine, Network, Node
from analyzer.machine.modules import read_modules
from analyzer.machine.toml import read_toml


@dataclass(frozen=True)
class Overrides:
    """What options say of a machine; None: as the file says."""

    latency_s: float | None = None
    bandwidth_mb: float | None = None
    buses: int | None = None
    links: int | None = None  # in and out of each node
    cpus: int | None = None
    speed: float | None = None
    eager_limit: int | None = None
    dialect: str | None = None
    seed: int | None = None


def read_machine(path: str | None, overrides: Overrides = Overrides()) -> Configuration:
    """The machine in a .toml or .cfg file (None, "ideal": the ideal one), changed as `overrides` say.

    Raises TracelibError that says what is wrong with it.
    """
    if path is None or path == "ideal":
        found = Configuration(Machine.ideal())
    elif Path(path).suffix == ".cfg":
        found = read_cfg(path)
    elif Path(path).suffix == ".toml":
        found = Configuration(read_toml(path), read_modules(path))
    else:
        raise TracelibError(f"{path}: neither .toml nor .cfg", 'a machine is a .toml, a Dimemas .cfg, or "ideal"')
    return replace(found, machine=changed(found.machine, overrides))


def changed(machine: Machine, o: Overrides) -> Machine:
    """The machine as `o` has it. Raises TracelibError."""
    if o.dialect is not None and o.dialect not in DIALECTS:
        raise TracelibError(f"dialect {o.dialect!r} is not known", f"use {', '.join(DIALECTS)}")
    given = {"latency_s": o.latency_s, "cpus": o.cpus, "speed": o.speed, "links_in": o.links, "links_out": o.links}
    node: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    bandwidth_and_buses = {"bandwidth_mb": o.bandwidth_mb, "buses": o.buses}
    network: dict[str, Any] = {name: value for name, value in bandwidth_and_buses.items() if value is not None}
    options = {"eager_limit": o.eager_limit, "dialect": o.dialect, "seed": o.seed}
    whole: dict[str, Any] = {name: value for name, value in options.items() if value is not None}
    return replace(
        machine,
        node=_with(machine.node, node),
        nodes=tuple(each_once(machine.nodes, lambda n: _with(n, node))),
        networks=tuple(_with_network(n, network) for n in machine.networks),
        **whole,
    )


def _with(node: Node, changes: dict) -> Node:
    return replace(node, **changes) if changes else node


def _with_network(network: Network, changes: dict) -> Network:
    """A bandwidth given by hand replaces what was measured."""
    if "bandwidth_mb" in changes:
        network = replace(network, pieces=())
    return replace(network, **changes) if changes else network
