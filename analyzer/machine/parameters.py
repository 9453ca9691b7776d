"""The parameters of a machine by name, so that analyses can vary any of them without knowing where it is stored.

A name is a key of `PARAMETERS`, with values in s, bytes and bytes/s. Or it is the path of a key in the machine's TOML,
with values in that key's unit: "node.latency_us", "node.2.speed" (of node 2 only, counting from 0), "network.buses",
"scheduling.slice_us", "wan.bandwidth_mb".
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Protocol

from analyzer.errors import TracelibError
from analyzer.machine.description import (
    AS_CALLS,
    MOST,
    CpuScheduling,
    ExponentialNumber,
    FileSystem,
    GaussianNumber,
    Machine,
    Network,
    Node,
    UniformNumber,
)
from analyzer.machine.fields import MachineField, mean_of, scaled
from analyzer.machine.measured_parameters import BETWEEN, WITHIN, MeasuredCost
from analyzer.machine.policies import does_use
from tracelib.units import split_quantity

MB = 1 << 20
_PARTS = {"node": Node, "network": Network, "scheduling": CpuScheduling, "files": FileSystem}


class Variable(Protocol):
    """A number that can be varied: a parameter of a machine, or an input of any program."""

    @property
    def name(self) -> str: ...

    @property
    def unit(self) -> str: ...

    @property
    def whole(self) -> bool: ...

    @property
    def least(self) -> float: ...

    @property
    def positive(self) -> bool: ...


@dataclass(frozen=True)
class MachineParameter:
    """One parameter of a machine, with functions to read and change it.

    If nodes or networks differ, or the value is random, the parameter is the mean. `set` then changes all in
    proportion.

    Attributes:
        get: Returns the value. Infinite: unlimited in number or speed. NaN: the trace determines it.
        change: Returns a machine with another value, without checks; `set` checks the value first.
        whole: The value is a whole number.
        least: Smallest allowed value.
    """

    name: str
    unit: str  # "s", "us", "bytes/s", "MB/s" (of 2^20 bytes), "bytes", "" for a plain number
    meaning: str
    get: Callable[[Machine], float]
    change: Callable[[Machine, float], Machine]
    whole: bool = False
    least: float = 0.0
    positive: bool = False  # the value must be more than 0
    endless: bool = False  # the value may be infinite

    def set(self, machine: Machine, value: float) -> Machine:
        """Return a copy of the machine with another value of the parameter.

        Raises:
            TracelibError: The value is not allowed for this parameter.
        """
        said = f"{self.name} = {value:g}"
        if math.isnan(value) or value < self.least or (self.positive and value == 0):
            raise TracelibError(
                said, "it must be more than 0" if self.positive else f"it must be at least {self.least:g}"
            )
        if math.isinf(value) and not self.endless:
            raise TracelibError(said, "it must be a finite number")
        if self.whole and not math.isinf(value) and (value != int(value) or value > MOST):
            raise TracelibError(said, f"it must be a whole number up to {MOST}")
        return self.change(machine, value)


def parameter(name: str) -> MachineParameter:
    """Return the parameter of a name such as "latency", or of a path such as "node.speed".

    Raises:
        TracelibError: There is no such parameter. The message names a similar one.
    """
    found = PARAMETERS.get(name) or _by_path(name)
    if found is None:
        near = difflib.get_close_matches(name, [*PARAMETERS, *_PATHS], 1)
        hint = f"did you mean {near[0]}?" if near else f"use {', '.join(PARAMETERS)}, or a path such as node.speed"
        raise TracelibError(f"no parameter of the machine is called {name!r}", hint)
    return found


def vary(machine: Machine, values: Mapping[str, float]) -> Machine:
    """Return a copy of the machine with other values, as `vary(machine, {"latency": 1e-6, "buses": 4})`.

    Args:
        machine: The machine.
        values: New values by the parameter's name or path.

    Raises:
        TracelibError: A parameter is not known, or a value is not allowed.
    """
    for name, value in values.items():
        machine = parameter(name).set(machine, value)
    return machine


_UNITS = {
    "s": {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0},
    "us": {"": 1.0, "ns": 1e-3, "us": 1.0, "ms": 1e3, "s": 1e6},
    "bytes/s": {"B/s": 1.0, "KB/s": 1024.0, "MB/s": float(MB), "GB/s": float(MB << 10)},
    "MB/s": {"": 1.0, "B/s": 1 / MB, "KB/s": 1 / 1024, "MB/s": 1.0, "GB/s": 1024.0},
    "bytes": {"": 1.0, "B": 1.0, "k": 1024.0, "K": 1024.0, "M": float(MB)},
    "": {"": 1.0},
}
"""Factors of the suffixes that a number of each unit may have. KiB and MiB mean KB and MB.

A time or rate needs a suffix: a plain 5 could mean seconds or microseconds. A path names its unit, so that its value
needs none.
"""


def value_of(of: MachineParameter, text: str) -> float:
    """Parse a value of a parameter: "5us", "100MB/s" (2^20 bytes), "32k", "4", "0", "inf".

    Raises:
        TracelibError: The text is not a number with a unit of the parameter.
    """
    text = text.strip()
    if text == "inf":
        return math.inf
    units = _UNITS[of.unit]
    plain = text.replace("iB", "B" if of.unit != "bytes" else "")
    quantity = split_quantity(plain, {"": 0.0, **units}, r"\d+(?:\.\d*)?(?:[eE][-+]?\d+)?\s*")
    if quantity is None or (not quantity[1] and float(quantity[0])):  # 0 needs no unit
        known = f" with a unit ({', '.join(filter(None, units))})" if len(units) > 1 else ""
        raise TracelibError(f"{of.name} = {text!r}", f"it must be a number{known}")
    return float(quantity[0]) * quantity[1]


def two_values_of(of: MachineParameter, first: str, last: str) -> tuple[float, float]:
    """Parse the two ends of a range such as 1..100us. The first end may have no unit; it then has the unit of the last.

    Args:
        of: The parameter.
        first: Text of the first end.
        last: Text of the last end.

    Raises:
        TracelibError: A text is not a number with a unit of the parameter.
    """
    unit = last.strip().lstrip("0123456789.eE+- ")
    bare = first.strip() and not first.lstrip("0123456789.eE+- ")
    return value_of(of, first + unit if bare else first), value_of(of, last)


def setting_of(text: str) -> tuple[MachineParameter, float]:
    """Parse "name=value" into a parameter and its value.

    Raises:
        TracelibError: There is no "=" or no such parameter, or the value is not valid.
    """
    name, equals, value = text.partition("=")
    if not equals:
        raise TracelibError(f"{text!r} sets nothing", "write NAME=VALUE, such as latency=5us")
    found = parameter(name.strip())
    return found, value_of(found, value)


def _of(field: MachineField, name: str, unit: str, meaning: str) -> MachineParameter:
    whole = field.integer and field.unit == 1
    least = 1.0 if field.names == ("cpus",) else 0.0
    change = _of_policy(field, name) if field.part == "scheduling" else field.set
    return MachineParameter(
        name, unit, meaning, field.get, change, whole, least, field.names == ("speed",), field.zero_is_infinite
    )


def _of_policy(field: MachineField, name: str) -> Callable[[Machine, float], Machine]:
    """Return a function that changes a number of the scheduling policy, and raises if the policy does not use it."""

    def change(machine: Machine, value: float) -> Machine:
        if not all(does_use(machine.scheduling, key) for key in field.names):
            what = "has no slices" if field.names == ("slice_ns",) else "does not use it"
            raise TracelibError(f"{name}: the machine's scheduling policy {what}", "name a machine whose policy does")
        return field.set(machine, value)

    return change


def _time(name: str, meaning: str, key: str) -> MachineParameter:
    return _of(MachineField("node", (key,)), name, "s", meaning)


def _policy_time(name: str, meaning: str) -> MachineParameter:
    return _of(MachineField("scheduling", (f"{name}_ns",), 1e-9, name == "slice", integer=True), name, "s", meaning)


def _rates(name: str, meaning: str, part: str, *keys: str) -> MachineParameter:
    return _of(MachineField(part, keys, MB, zero_is_infinite=True), name, "bytes/s", meaning)


def _count(name: str, meaning: str, part: str, *keys: str) -> MachineParameter:
    return _of(MachineField(part, keys, zero_is_infinite=True, integer=True), name, "", meaning)


def _or_measured(plain: MachineParameter, of: MeasuredCost, get: Callable, change: Callable) -> MachineParameter:
    """Return a parameter that uses measured costs on machines that have them, and `plain` on others."""
    return replace(
        plain,
        get=lambda machine: (get if of.known(machine) else plain.get)(machine),
        change=lambda machine, value: (change if of.known(machine) else plain.change)(machine, value),
    )


def _latency(name: str, meaning: str, key: str, of: MeasuredCost) -> MachineParameter:
    return _or_measured(_time(name, meaning, key), of, of.latency_s, of.with_latency)


def _bandwidth(name: str, meaning: str, part: str, key: str, of: MeasuredCost) -> MachineParameter:
    return _or_measured(_rates(name, meaning, part, key), of, of.bandwidth, of.with_bandwidth)


_NEVER = 1 << 62
"""Eager limit in bytes that no message reaches."""


def _eager_limit(machine: Machine) -> float:
    limit = machine.eager_limit
    if limit is None or limit == AS_CALLS:
        return math.nan
    return math.inf if mean_of(limit) >= _NEVER else mean_of(limit)


def _with_eager_limit(machine: Machine, value: float) -> Machine:
    limit = machine.eager_limit
    if isinstance(limit, UniformNumber | GaussianNumber | ExponentialNumber) and value and not math.isinf(value):
        return replace(machine, eager_limit=scaled(limit, value / mean_of(limit)))  # type: ignore[arg-type]
    return replace(machine, eager_limit=_NEVER if math.isinf(value) else int(value))


_EAGER = "size from which sends wait for their receive"
_OVERHEAD = "on the sender's CPU, of a measured network's smallest message"

PARAMETERS: dict[str, MachineParameter] = {
    found.name: found
    for found in (
        _latency("latency", "of messages between nodes", "latency_s", BETWEEN),
        _bandwidth("bandwidth", "between nodes", "network", "bandwidth_mb", BETWEEN),
        _count("buses", "messages between nodes at once", "network", "buses"),
        _count("links", "of each node, each way", "node", "links_out", "links_in"),
        _count("links_out", "of each node", "node", "links_out"),
        _count("links_in", "of each node", "node", "links_in"),
        _of(MachineField("node", ("speed",)), "speed", "", "of CPUs, 1 as traced"),
        _of(MachineField("node", ("cpus",), integer=True), "cpus", "", "of each node"),
        MachineParameter("eager", "bytes", _EAGER, _eager_limit, _with_eager_limit, whole=True, endless=True),
        MachineParameter("send_overhead", "s", _OVERHEAD, BETWEEN.overhead_s, BETWEEN.with_overhead),
        _latency("intra_latency", "of messages within a node", "intra_latency_s", WITHIN),
        _bandwidth("intra_bandwidth", "within a node", "node", "intra_bandwidth_mb", WITHIN),
        MachineParameter("intra_send_overhead", "s", "the same within a node", WITHIN.overhead_s, WITHIN.with_overhead),
        _count("intra_buses", "messages within a node at once", "node", "intra_buses"),
        _count("intra_links", "within a node, each way", "node", "intra_links_out", "intra_links_in"),
        _time("wan_latency", "of messages between networks", "wan_latency_s"),
        _rates("wan_bandwidth", "between networks", "machine", "wan_bandwidth_mb"),
        _of(MachineField("files", ("latency_s",)), "file_latency", "s", "of reads and writes"),
        _rates("file_bandwidth", "of each server", "files", "read_bandwidth_mb", "write_bandwidth_mb"),
        _count("file_servers", "reads and writes at once", "files", "servers"),
        _policy_time("slice", "that a thread may keep a CPU"),
        _policy_time("context_switch", "from one thread to another"),
        _policy_time("busy_wait", "before a waiting thread gives its CPU up"),
        _policy_time("least_run", "before a thread may be preempted"),
    )
}
"""All parameters with a name, by the name."""

_NUMBERS = (
    "cpus", "speed", "links_out", "links_in", "intra_buses", "intra_links_out", "intra_links_in", "buses", "servers",
)  # fmt: skip


def _toml_fields(part: str, of: type) -> dict[str, tuple[MachineField, str]]:
    """Return the numeric keys of a table in the machine's TOML, each with its field and unit."""
    found = {}
    for name in (f.name for f in fields(of)):
        if name.endswith("_ns"):
            key = f"{name.removesuffix('_ns')}_us"
            found[key] = MachineField(part, (name,), 1e-3, name == "slice_ns", integer=True), "us"
        elif name.endswith("_s"):
            found[f"{name.removesuffix('_s')}_us"] = MachineField(part, (name,), 1e6), "us"
        elif name.endswith("_mb"):
            found[name] = MachineField(part, (name,), zero_is_infinite=True), "MB/s"
        elif name in _NUMBERS:
            counted = name not in ("cpus", "speed")
            found[name] = MachineField(part, (name,), zero_is_infinite=counted, integer=name != "speed"), ""
    return found


_TABLES = {part: _toml_fields(part, of) for part, of in _PARTS.items()}
_TABLES["wan"] = {"bandwidth_mb": (MachineField("machine", ("wan_bandwidth_mb",), zero_is_infinite=True), "MB/s")}
_PATHS = [f"{table}.{key}" for table, keys in _TABLES.items() for key in keys]


def _by_path(name: str) -> MachineParameter | None:
    """Return the parameter of a path "table.key" or "table.number.key". None: there is no such key."""
    table, *number, key = name.split(".") if "." in name else ("", name)
    if key not in _TABLES.get(table, ()) or len(number) > 1 or not all(n.isdecimal() for n in number):
        return None
    field, unit = _TABLES[table][key]
    if number and table not in ("node", "network"):
        return None
    return _of(replace(field, number=int(number[0]) if number else None), name, unit, "")
