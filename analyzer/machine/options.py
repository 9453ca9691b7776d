"""The machine of a command: a file (.toml or .cfg) or the ideal machine, and options that override its values."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from analyzer.errors import TracelibError, about
from analyzer.machine.description import DIALECTS, Machine, Network, Node
from analyzer.machine.fields import each_once
from analyzer.machine.read_cfg import CfgModule, MachineConfiguration, read_cfg
from analyzer.machine.read_toml import read_toml
from tracelib.schema import REGION_TYPE

_HINT = "a [[module]] has value and ratio, and type unless it is for a region"


def read_modules(path: str | Path) -> tuple[CfgModule, ...]:
    """Read the [[module]] tables of a machine's TOML file, after `read_toml` has read the file.

    Raises:
        TracelibError: A module is not valid.
    """
    rows = tomllib.loads(Path(path).read_text()).get("module", [])
    with about(path):
        return tuple(map(_module, rows if isinstance(rows, list) else [rows]))


def _module(row: Any) -> CfgModule:
    if not isinstance(row, Mapping) or not {"value", "ratio"} <= row.keys() <= {"type", "value", "ratio"}:
        raise TracelibError(f"[[module]]: {row!r}", _HINT)
    type_, value, ratio = row.get("type", REGION_TYPE), row["value"], row["ratio"]
    whole = all(isinstance(n, int) and not isinstance(n, bool) and n >= 0 for n in (type_, value))
    if not whole or isinstance(ratio, bool) or not isinstance(ratio, int | float) or not math.isfinite(ratio):
        raise TracelibError(f"[[module]]: {row!r}", _HINT)
    return CfgModule(type_, value, float(ratio))


def modules_text(modules: tuple[CfgModule, ...]) -> str:
    """Return modules as TOML, to be appended to the TOML of their machine."""
    rows = (f"\n[[module]]\ntype = {m.type}\nvalue = {m.value}\nratio = {m.ratio!r}\n" for m in modules)
    return "".join(rows)


@dataclass(frozen=True)
class MachineOverrides:
    """Values from options that replace a machine's values. None: the machine's value stays."""

    latency_s: float | None = None
    bandwidth_mb: float | None = None
    buses: int | None = None
    links: int | None = None  # number of links in, and of links out, of each node
    cpus: int | None = None
    speed: float | None = None
    eager_limit: int | None = None
    dialect: str | None = None
    seed: int | None = None


def read_machine(path: str | None, overrides: MachineOverrides = MachineOverrides()) -> MachineConfiguration:
    """Read the machine of a command, and apply its options.

    Args:
        path: A .toml or .cfg file. None or "ideal": the ideal machine.
        overrides: Values that replace the machine's values.

    Raises:
        TracelibError: The file cannot be read, or the file or a value is not valid.
    """
    if path is None or path == "ideal":
        found = MachineConfiguration(Machine.ideal())
    elif Path(path).suffix == ".cfg":
        found = read_cfg(path)
    elif Path(path).suffix == ".toml":
        found = MachineConfiguration(read_toml(path), read_modules(path))
    else:
        raise TracelibError(f"{path}: neither .toml nor .cfg", 'a machine is a .toml, a Dimemas .cfg, or "ideal"')
    return replace(found, machine=changed(found.machine, overrides))


def changed(machine: Machine, o: MachineOverrides) -> Machine:
    """Return a copy of the machine with the values of options. `o`: values; None leaves the machine's value.

    Raises:
        TracelibError: The dialect is not known.
    """
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
    """Return the network with changes. A bandwidth from an option replaces measured costs."""
    if "bandwidth_mb" in changes:
        network = replace(network, pieces=())
    return replace(network, **changes) if changes else network
