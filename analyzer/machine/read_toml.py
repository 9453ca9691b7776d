"""Reading of a machine from TOML, the form in which people write machines. docs/machine.md specifies the form."""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from analyzer.errors import TracelibError, about
from analyzer.machine.description import (
    AS_CALLS,
    COLLECTIVE_NAMES,
    DIALECTS,
    MOST_NODES,
    TABLE_9,
    CollectiveModel,
    CostPiece,
    Count,
    FileSystem,
    Machine,
    Network,
    Node,
    PhaseModel,
    PhaseSize,
    constant_both_ways,
    explicit,
    simple_collectives,
)
from analyzer.machine.policies import policy_of
from analyzer.machine.toml_table import TomlTable

MODELS = {"0": PhaseModel.NONE, "CTE": PhaseModel.CONSTANT, "LIN": PhaseModel.LINEAR, "LOG": PhaseModel.LOG}
"""Models of a collective's phase by their names in Table 2."""
SIZES = {
    "MAX": PhaseSize.MAX, "MIN": PhaseSize.MIN, "MEAN": PhaseSize.MEAN,
    "2MAX": PhaseSize.TWICE_MAX, "2*MAX": PhaseSize.TWICE_MAX, "S+R": PhaseSize.SUM, "PHASE": PhaseSize.PHASE,
}  # fmt: skip
"""Sizes of a collective's phase by their names in Table 3."""
TABLES: dict[str, Callable[[], Mapping[str, CollectiveModel]]] = {
    "constant-both-ways": constant_both_ways,
    "table-9": lambda: TABLE_9,
    "constant": lambda: simple_collectives(PhaseModel.CONSTANT),
    "linear": lambda: simple_collectives(PhaseModel.LINEAR),
    "logarithmic": lambda: simple_collectives(PhaseModel.LOG),
}


def read_toml(path: str | Path) -> Machine:
    """Read a machine from a TOML file.

    Raises:
        TracelibError: The file cannot be read or is not valid. The message names the place.
    """
    try:
        given = tomllib.loads(Path(path).read_text())
    except OSError as error:
        raise TracelibError(f"cannot read {path}: {error.strerror}", "name a machine file") from error
    except (ValueError, RecursionError) as error:  # no TOML, no text, a number of thousands of digits, tables too deep
        raise TracelibError(f"{path}: {error}", "see docs/machine.md for an example") from error
    with about(path):
        return replace(machine_of(given, Path(path).parent), file=str(path))


def machine_of(given: Mapping[str, Any], folder: Path = Path()) -> Machine:
    """Make a machine from the tables of a TOML file.

    Args:
        given: Content of the file.
        folder: Folder in which network models that the file names are searched.

    Raises:
        TracelibError: A key or value is not valid.
    """
    top = TomlTable("the machine", given)
    nodes = top.tables("node", {})
    networks = top.tables("network", {})
    wan, mapping = top.table("wan"), top.take("mapping", "fill")
    machine = Machine(
        nodes=() if _is_template(nodes) else tuple(n for table in nodes for n in _nodes(table, folder)),
        node=_node(nodes[0], folder) if _is_template(nodes) else Node(),
        networks=tuple(_network(table, folder) for table in networks) or (Network(),),
        wan_bandwidth_mb=wan.quantity("bandwidth_mb", 0.0),
        mapping=_mapping(mapping),
        mappings=_mappings(top, mapping),
        dialect=top.choice("dialect", DIALECTS),
        collectives=_collectives(top.table("collectives")),
        scheduling=policy_of(top.table("scheduling").rest()),
        eager_limit=_eager(top),
        synchronous=top.flag("synchronous"),
        matching=top.choice("matching", ("sending", "arrival")),
        seed=top.seed(),
        files=_files(top.table("files")) if "files" in top else None,
    )
    top.take("module", None)  # not of the machine: `read_modules`
    wan.end()
    top.end()
    _check_references(machine)
    return machine


def _check_references(machine: Machine) -> None:
    """Check that all named networks and nodes exist. A single [node] without a count stands for any number of nodes.

    Raises:
        TracelibError: A network or node does not exist.
    """
    last = max(node.network for node in machine.nodes or (machine.node,))
    if last >= len(machine.networks):
        raise TracelibError(f"[node] network = {last}, but there are {len(machine.networks)}", "the first network is 0")
    for mapping in (machine.mapping, *machine.mappings):
        if machine.nodes and not isinstance(mapping, str):
            explicit(mapping, len(mapping), len(machine.nodes))


def _is_template(nodes: list[TomlTable]) -> bool:
    """Return True for a single [node] without a count: the machine then has a node like it for each rank."""
    return len(nodes) == 1 and "count" not in nodes[0]


def _nodes(table: TomlTable, folder: Path) -> list[Node]:
    count = table.whole("count", 1, 1, MOST_NODES)
    return [_node(table, folder)] * count


def _node(table: TomlTable, folder: Path) -> Node:
    us = 1e6
    node = Node(
        cpus=table.count("cpus", least=1) if "cpus" in table else 0,
        speed=table.quantity("speed", 1.0),
        latency_s=table.quantity("latency_us", 0.0, us),
        intra_latency_s=table.quantity("intra_latency_us", 0.0, us),
        intra_bandwidth_mb=table.quantity("intra_bandwidth_mb", 0.0),
        wan_latency_s=table.quantity("wan_latency_us", 0.0, us),
        links_out=table.count("links_out"),
        links_in=table.count("links_in"),
        half_duplex=table.flag("half_duplex"),
        intra_buses=table.count("intra_buses"),
        intra_links_out=table.count("intra_links_out"),
        intra_links_in=table.count("intra_links_in"),
        network=table.whole("network", 0),
        intra=_measured(table, "intra_model", folder),
    )
    table.end()
    return node


def _files(table: TomlTable) -> FileSystem:
    us = 1e6
    both = table.quantity("bandwidth_mb", 0.0)
    found = FileSystem(
        latency_s=table.quantity("latency_us", 0.0, us),
        read_bandwidth_mb=table.quantity("read_bandwidth_mb", 0.0) if "read_bandwidth_mb" in table else both,
        write_bandwidth_mb=table.quantity("write_bandwidth_mb", 0.0) if "write_bandwidth_mb" in table else both,
        servers=table.count("servers"),
        block_bytes=table.whole("block_bytes", 0),
        open_s=table.quantity("open_us", 0.0, us),
        close_s=table.quantity("close_us", 0.0, us),
        sync_s=table.quantity("sync_us", 0.0, us),
    )
    table.end()
    return found


def _network(table: TomlTable, folder: Path) -> Network:
    pieces = _measured(table, "model", folder)
    network = Network(table.quantity("bandwidth_mb", 0.0), table.count("buses"), pieces)
    table.end()
    return network


def _measured(table: TomlTable, key: str, folder: Path) -> tuple[CostPiece, ...]:
    """Return measured costs by size, from a LoOgGP model's file or from the table itself (`pieces`, `intra_pieces`)."""
    model, rows = table.take(key, None), table.take(key.replace("model", "pieces"), None)
    if model is None:
        return _pieces(rows, f"{table.name} {key.replace('model', 'pieces')}") if rows is not None else ()
    if rows is not None:
        raise TracelibError(f"{table.name} has both a model and its pieces", "leave one out")
    from analyzer.machine.measured_network import pieces_of

    return pieces_of(folder / str(model))


def _pieces(rows: Any, where: str) -> tuple[CostPiece, ...]:
    width = len(fields(CostPiece))
    for row in rows if isinstance(rows, list) and rows else [rows]:
        numbers = isinstance(row, list) and all(type(x) in (int, float) and math.isfinite(x) for x in row)
        if not numbers or len(row) != width or row[0] != int(row[0]):
            names = ", ".join(field.name for field in fields(CostPiece))
            raise TracelibError(f"{where}: {row!r}", f"a row is [{names}], costs in ns")
    found = tuple(CostPiece(int(row[0]), *map(float, row[1:])) for row in rows)
    if found[0].from_bytes != 0 or any(a.from_bytes >= b.from_bytes for a, b in pairwise(found)):
        raise TracelibError(f"{where}: sizes do not increase from 0 on", "put the rows in order")
    return found


def _mappings(top: TomlTable, default: Any) -> tuple[str | tuple[int, ...], ...]:
    """Read the mapping of each [[application]]. An application without a mapping has the default."""
    found = []
    for table in top.tables("application", []):
        found.append(_mapping(table.take("mapping", default)))
        table.end()
    return tuple(found)


def _mapping(value: Any) -> str | tuple[int, ...]:
    if isinstance(value, list) and all(isinstance(n, int) and not isinstance(n, bool) for n in value):
        return tuple(value)
    if value in ("fill", "round-robin"):
        return value
    raise TracelibError(f"mapping = {value!r}", 'use "fill", "round-robin" or the node of each rank: [0, 0, 1, 1]')


def _eager(top: TomlTable) -> Count | None:
    if isinstance(top.peek("eager_limit"), Mapping):
        return top.count("eager_limit")
    value = top.take("eager_limit", None)
    if value is None or value == "as-run":
        return None
    if value == "as-calls":
        return AS_CALLS
    found = re.fullmatch(r"(\d+)\s*([kKmM]?)i?[bB]?", str(value))
    if not found:
        raise TracelibError(f"eager_limit = {value!r}", 'use a number of bytes, "32k", "as-run" or "as-calls"')
    return int(found[1]) << {"": 0, "k": 10, "m": 20}[found[2].lower()]


def _collectives(table: TomlTable) -> Mapping[str, CollectiveModel] | None:
    default = table.take("default", None)
    if default is not None and default not in TABLES:
        raise TracelibError(f"[collectives] default = {default!r} is not known", f"use {', '.join(TABLES)}")
    found = dict(TABLES[default]()) if default else {}
    for name in COLLECTIVE_NAMES:
        row = table.take(name, None)
        if row is not None:
            found[name] = collective_model(str(row).split(), f"[collectives] {name}")
    table.end()
    return found or None


def collective_model(words: list[str], where: str) -> CollectiveModel:
    """Parse a row of Table 9 in four words: fan-in model and size, fan-out model and size.

    Args:
        words: The words.
        where: Name of the row, for errors.

    Raises:
        TracelibError: The words are not such a row.
    """
    words = [w.upper() for w in words]
    if len(words) == 4 and {words[0], words[2]} <= MODELS.keys() and {words[1], words[3]} <= SIZES.keys():
        return CollectiveModel(MODELS[words[0]], SIZES[words[1]], MODELS[words[2]], SIZES[words[3]])
    raise TracelibError(
        f"{where} = {' '.join(words)!r}",
        f"four words: model ({', '.join(MODELS)}) and size ({', '.join(SIZES)}), twice",
    )
