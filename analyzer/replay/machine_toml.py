"""A machine as TOML: the form in which people write one; docs/machine.md is its contract."""

from __future__ import annotations

import difflib
import math
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import fields
from itertools import pairwise
from pathlib import Path
from typing import Any

from analyzer.errors import TracelibError
from analyzer.replay.machine import (
    AS_CALLS,
    COLLECTIVE_NAMES,
    DIALECTS,
    LAWS,
    MOST,
    MOST_NODES,
    TABLE_9,
    CollectiveModel,
    Count,
    Machine,
    Model,
    Network,
    Node,
    Piece,
    Quantity,
    Size,
    constant_both_ways,
    simple_collectives,
)
from analyzer.replay.policies import policy_of

MODELS = {"0": Model.NONE, "CTE": Model.CONSTANT, "LIN": Model.LINEAR, "LOG": Model.LOG}
"""Names of Table 2."""
SIZES = {
    "MAX": Size.MAX, "MIN": Size.MIN, "MEAN": Size.MEAN, "2MAX": Size.TWICE_MAX, "2*MAX": Size.TWICE_MAX,
    "S+R": Size.SUM,
}  # fmt: skip
"""Names of Table 3."""
TABLES: dict[str, Callable[[], Mapping[str, CollectiveModel]]] = {
    "constant-both-ways": constant_both_ways,
    "table-9": lambda: TABLE_9,
    "constant": lambda: simple_collectives(Model.CONSTANT),
    "linear": lambda: simple_collectives(Model.LINEAR),
    "logarithmic": lambda: simple_collectives(Model.LOG),
}


def read_toml(path: str | Path) -> Machine:
    """The machine in a file. Raises TracelibError that names what is wrong and where."""
    try:
        text = Path(path).read_text()
        return machine_of(tomllib.loads(text), Path(path).parent)
    except OSError as error:
        raise TracelibError(f"cannot read {path}: {error.strerror}", "name a machine file") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise TracelibError(f"{path}: {error}", "see docs/machine.md for an example") from error
    except TracelibError as error:
        raise TracelibError(f"{path}: {error}", error.hint) from error


def machine_of(given: Mapping[str, Any], folder: Path = Path()) -> Machine:
    """A machine from the tables of a TOML file; models that it names are looked for in `folder`."""
    top = _Table("the machine", given)
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
        seed=top.seed(),
    )
    top.take("module", None)  # not of the machine: `read_modules`
    wan.end()
    top.end()
    return machine


class _Table:
    """The keys of a table, each taken once; what is left over is a mistake."""

    def __init__(self, name: str, given: Any) -> None:
        if not isinstance(given, Mapping):
            raise TracelibError(f"{name} is {given!r}, not a table", "see docs/machine.md for an example")
        self.name, self._given, self._known = name, dict(given), set[str]()

    def take(self, key: str, default: Any) -> Any:
        """The value of a key."""
        self._known.add(key)
        return self._given.pop(key, default)

    def peek(self, key: str) -> Any:
        """The value of a key that is still to be taken."""
        return self._given.get(key)

    def table(self, key: str) -> _Table:
        """A table within, empty if it is not there."""
        return _Table(f"[{key}]", self.take(key, {}))

    def tables(self, key: str, default: Any) -> list[_Table]:
        """One table or an array of them."""
        value = self.take(key, default)
        return [_Table(f"[{key}]", v) for v in (value if isinstance(value, list) else [value] if value else [])]

    def rest(self) -> dict[str, Any]:
        """All that was not taken."""
        left, self._given = self._given, {}
        return left

    def quantity(self, key: str, default: float, parts: float = 1.0) -> Quantity:
        """A number, "inf" as 0, or a distribution, divided by `parts`."""
        value = self.take(key, None)
        if value is None:
            return default
        if isinstance(value, Mapping) and len(value) == 1:
            (law, numbers), *_ = value.items()
            if law in LAWS and isinstance(numbers, list) and len(numbers) == 2:
                a, b = (self._number(key, n) / parts for n in numbers)
                if "inf" in numbers or math.inf in numbers or (law == "uniform" and a > b):
                    raise TracelibError(f"{self.name} {key} = {value!r}", "both are finite, and uniform = [low, high]")
                return LAWS[law](a, b)
        return self._number(key, value) / parts

    def count(self, key: str) -> Count:
        """A whole number from 0, "inf" as 0, or a distribution."""
        if isinstance(self.peek(key), Mapping):
            return self.quantity(key, 0.0)  # type: ignore[return-value]
        return self.whole(key, 0)

    def whole(self, key: str, default: int, least: int = 0, most: int = MOST) -> int:
        """A whole number, "inf" as 0."""
        number = self._number(key, self.take(key, default))
        if number != int(number) or not least <= number <= most:
            raise TracelibError(f"{self.name} {key} = {number:g}", f"it is a whole number from {least} to {most}")
        return int(number)

    def flag(self, key: str) -> bool:
        """True or false, false by default."""
        value = self.take(key, False)
        if not isinstance(value, bool):
            raise TracelibError(f"{self.name} {key} = {value!r}", "it is true or false")
        return value

    def seed(self) -> int:
        """Any whole number."""
        value = self.take("seed", 0)
        if isinstance(value, bool) or not isinstance(value, int):
            raise TracelibError(f"{self.name} seed = {value!r}", "it is a whole number")
        return value

    def _number(self, key: str, value: Any) -> float:
        if value == "inf" or (isinstance(value, float) and math.isinf(value)):
            if key.endswith("_us"):
                raise TracelibError(f"{self.name} {key} = {value!r}", "a time has an end; 0 is none")
            return 0.0
        if isinstance(value, bool) or not isinstance(value, int | float) or value < 0 or math.isnan(value):
            raise TracelibError(f"{self.name} {key} = {value!r}", "use a number from 0, or { uniform = [low, high] }")
        return float(value)

    def choice(self, key: str, choices: tuple[str, ...]) -> str:
        """One of several words, the first by default."""
        value = self.take(key, choices[0])
        if value not in choices:
            raise TracelibError(f"{self.name} {key} = {value!r} is not known", f"use {', '.join(choices)}")
        return value

    def end(self) -> None:
        """Refuse what nobody took."""
        for key in self._given:
            near = difflib.get_close_matches(key, self._known, 1)
            hint = f"did you mean {near[0]}?" if near else f"it knows {', '.join(sorted(self._known))}"
            raise TracelibError(f"{self.name}: {key!r} is not known", hint)


def _is_template(nodes: list[_Table]) -> bool:
    """One [node] without a count is like all of them, as many as there are ranks."""
    return len(nodes) == 1 and "count" not in nodes[0]._given


def _nodes(table: _Table, folder: Path) -> list[Node]:
    count = table.whole("count", 1, 1, MOST_NODES)
    return [_node(table, folder)] * count


def _node(table: _Table, folder: Path) -> Node:
    us = 1e6
    node = Node(
        cpus=table.count("cpus"),
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


def _network(table: _Table, folder: Path) -> Network:
    pieces = _measured(table, "model", folder)
    network = Network(table.quantity("bandwidth_mb", 0.0), table.count("buses"), pieces)
    table.end()
    return network


def _measured(table: _Table, key: str, folder: Path) -> tuple[Piece, ...]:
    """The costs in the LoOgGP model that a key names, or those in the file itself (`pieces`, `intra_pieces`)."""
    model, rows = table.take(key, None), table.take(key.replace("model", "pieces"), None)
    if model is None:
        return _pieces(rows, f"{table.name} {key.replace('model', 'pieces')}") if rows is not None else ()
    if rows is not None:
        raise TracelibError(f"{table.name} has both a model and its pieces", "leave one out")
    from analyzer.replay.measured import pieces_of

    return pieces_of(folder / str(model))


def _pieces(rows: Any, where: str) -> tuple[Piece, ...]:
    width = len(fields(Piece))
    for row in rows if isinstance(rows, list) and rows else [rows]:
        numbers = isinstance(row, list) and all(type(x) in (int, float) and math.isfinite(x) for x in row)
        if not numbers or len(row) != width or row[0] != int(row[0]):
            names = ", ".join(field.name for field in fields(Piece))
            raise TracelibError(f"{where}: {row!r}", f"a row is [{names}], costs in ns")
    found = tuple(Piece(int(row[0]), *map(float, row[1:])) for row in rows)
    if found[0].from_bytes != 0 or any(a.from_bytes >= b.from_bytes for a, b in pairwise(found)):
        raise TracelibError(f"{where}: sizes do not grow from 0", "put the rows in order")
    return found


def _mappings(top: _Table, default: Any) -> tuple[str | tuple[int, ...], ...]:
    """Those of each [[application]]; one that says none has that of all."""
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


def _eager(top: _Table) -> Count | None:
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


def _collectives(table: _Table) -> Mapping[str, CollectiveModel] | None:
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
    """A row of Table 9: fan-in model and size, fan-out model and size."""
    words = [w.upper() for w in words]
    if len(words) == 4 and {words[0], words[2]} <= MODELS.keys() and {words[1], words[3]} <= SIZES.keys():
        return CollectiveModel(MODELS[words[0]], SIZES[words[1]], MODELS[words[2]], SIZES[words[3]])
    raise TracelibError(
        f"{where} = {' '.join(words)!r}",
        f"four words: model ({', '.join(MODELS)}) and size ({', '.join(SIZES)}), twice",
    )
