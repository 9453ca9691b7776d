"""Writing a machine as the TOML that `read_toml` reads. Times may differ in the last bit when they are read back."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import fields
from itertools import groupby
from typing import Any

from analyzer.machine.description import (
    AS_CALLS,
    COLLECTIVE_NAMES,
    LAWS,
    CollectiveModel,
    CostPiece,
    Count,
    CpuScheduling,
    FileSystem,
    Machine,
    Network,
    Node,
    Quantity,
)
from analyzer.machine.fields import scaled
from analyzer.machine.policies import POLICIES, options_of
from analyzer.machine.read_toml import MODELS, SIZES, TABLES

_LAW_NAMES: dict[type, str] = {law: name for name, law in LAWS.items()}
_MODEL_NAMES = {model: name for name, model in MODELS.items()}
_SIZE_NAMES = {size: name for name, size in reversed(SIZES.items())}
_US = 1e6
_NS_IN_US = 1000


def machine_text(machine: Machine) -> str:
    """Return a machine as TOML. Values that equal the defaults of `read_toml` are left out."""
    parts = [_lines(_top(machine))]
    parts += [_section("[[application]]", [("mapping", _mapping(mapping))]) for mapping in machine.mappings]
    parts += [_section("[[network]]", _network(n)) for n in _unless_one(machine.networks, Network())]
    parts += [_section("[node]", _node(machine.node))] if not machine.nodes and machine.node != Node() else []
    for node, same in groupby(machine.nodes):
        parts.append(_section("[[node]]", [("count", str(len(list(same)))), *_node(node)]))
    if machine.wan_bandwidth_mb != 0:
        parts.append(_section("[wan]", [("bandwidth_mb", _quantity(machine.wan_bandwidth_mb))]))
    if machine.files is not None:
        parts.append(_section("[files]", _numbers(machine.files, FileSystem())))
    if machine.collectives is not None:
        parts.append(_section("[collectives]", _collectives(machine.collectives)))
    if machine.scheduling != CpuScheduling():
        parts.append(_section("[scheduling]", _scheduling(machine.scheduling)))
    return "\n".join(filter(None, parts))


Line = tuple[str, str]


def _lines(lines: Any) -> str:
    return "".join(f"{key} = {value}\n" for key, value in lines)


def _section(name: str, lines: Any) -> str:
    return f"{name}\n{_lines(lines)}"


def _unless_one(parts: tuple, plain: Any) -> tuple:
    return () if parts == (plain,) else parts


def _top(machine: Machine) -> Iterator[Line]:
    yield "dialect", f'"{machine.dialect}"'
    if machine.mapping != "fill":
        yield "mapping", _mapping(machine.mapping)
    if machine.eager_limit is not None:
        yield "eager_limit", '"as-calls"' if machine.eager_limit == AS_CALLS else _count(machine.eager_limit)
    if machine.synchronous:
        yield "synchronous", "true"
    if machine.matching != "sending":
        yield "matching", f'"{machine.matching}"'
    if machine.seed:
        yield "seed", str(machine.seed)


def _mapping(mapping: str | tuple[int, ...]) -> str:
    return f'"{mapping}"' if isinstance(mapping, str) else str([int(node) for node in mapping])


def _network(network: Network) -> Iterator[Line]:
    yield "bandwidth_mb", _quantity(network.bandwidth_mb)
    yield "buses", _count(network.buses)
    if network.pieces:
        yield "pieces", _pieces(network.pieces)


def _pieces(pieces: tuple[CostPiece, ...]) -> str:
    """Write each piece as a row of numbers: its fields in the order in which `CostPiece` has them."""
    rows = ((str(piece.from_bytes), *(repr(float(x)) for x in list(vars(piece).values())[1:])) for piece in pieces)
    return "[\n" + "".join(f"  [{', '.join(row)}],\n" for row in rows) + "]"


def _node(node: Node) -> Iterator[Line]:
    return _numbers(node, Node())


def _numbers(part: Node | FileSystem, plain: Node | FileSystem) -> Iterator[Line]:
    """Yield a line for each field that differs from `plain`."""
    for field in fields(part):
        value = getattr(part, field.name)
        if value == getattr(plain, field.name):
            continue
        if field.name.endswith("_s"):
            yield f"{field.name.removesuffix('_s')}_us", _quantity(value, _US)
        elif field.name == "intra":
            yield "intra_pieces", _pieces(value)
        elif isinstance(value, bool):
            yield field.name, str(value).lower()
        else:
            whole = isinstance(getattr(plain, field.name), int)
            yield field.name, _count(value) if whole else _quantity(value)


def _count(count: Count) -> str:
    return str(count) if isinstance(count, int) else _quantity(count)


def _quantity(quantity: Quantity, parts: float = 1.0) -> str:
    """Write a number or a distribution. `parts`: number of the file's units in one of the machine's units."""
    if type(quantity) in _LAW_NAMES:
        numbers = ", ".join(_number(value, parts) for value in vars(quantity).values())
        return f"{{ {_LAW_NAMES[type(quantity)]} = [{numbers}] }}"
    return _number(quantity, parts)  # type: ignore[arg-type]


def _number(value: float, parts: float) -> str:
    """Write `value * parts` in 12 digits if that gives `value` again when it is read, else in full."""
    times = float(value) * parts
    short = float(f"{times:.12g}")
    return repr(short if short / parts == value else times)


def _collectives(models: Mapping[str, CollectiveModel]) -> Iterator[Line]:
    """Yield the name of the predefined table that has most of the models, and a row for each other model.

    A row cannot express a model of the largest sizes of all members. A table that would need such a row is not used.
    """
    best: tuple[str, dict[str, CollectiveModel]] | None = None
    for name, table in TABLES.items():
        if len(models) < len(COLLECTIVE_NAMES):
            break
        other = {key: model for key, model in models.items() if model != table()[key]}
        if not any(model.largest for model in other.values()) and (best is None or len(other) < len(best[1])):
            best = name, other
    rows = dict(models) if best is None else best[1]
    if best is not None and len(rows) < len(models):
        yield "default", f'"{best[0]}"'
    for name, model in rows.items():
        words = (
            _MODEL_NAMES[model.in_model], _SIZE_NAMES[model.in_size],
            _MODEL_NAMES[model.out_model], _SIZE_NAMES[model.out_size],
        )  # fmt: skip
        yield name, f'"{" ".join(words)}"'


def _scheduling(wanted: CpuScheduling) -> Iterator[Line]:
    """Yield the policy from which the scheduling differs least, and the fields that differ."""
    found = {name: CpuScheduling(**options) for name, options in POLICIES.items()}
    same = {name: s for name, s in found.items() if s.priority == wanted.priority}
    with_turns = [name for name in same if ("slice_us" in options_of(name)) == bool(wanted.slice_ns)]
    policy = min(with_turns or same, key=lambda name: len(_differences(wanted, same[name])))
    yield "policy", f'"{policy}"'
    used = options_of(policy)
    different = [key for key in _differences(wanted, same[policy]) if key.replace("_ns", "_us") in used]
    for key in different:
        if key == "base" and "levels" in different:
            continue
        value = getattr(wanted, key)
        if key == "levels":
            rows = (f"[{_quantity(_us(row.quantum_ns))}, {row.expired}, {row.slept}]" for row in value)
            yield key, f"[{', '.join(rows)}]"
            yield "base", str(wanted.base)  # what is left out depends on the levels
        elif key == "priorities":
            yield key, json.dumps(value)
        elif key.endswith("_ns"):
            yield f"{key.removesuffix('_ns')}_us", _quantity(_us(value))
        else:
            yield key, str(value).lower()


def _us(ns: Count) -> Quantity:
    return ns / _NS_IN_US if isinstance(ns, int) else scaled(ns, 1 / _NS_IN_US)


def _differences(a: CpuScheduling, b: CpuScheduling) -> list[str]:
    return [field.name for field in fields(a) if getattr(a, field.name) != getattr(b, field.name)]
