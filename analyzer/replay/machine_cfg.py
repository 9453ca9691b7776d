"""Dimemas configuration files (.cfg), read and written, so that a Dimemas user brings his own.

Source: "Dimemas .cfg grammar" (records of new_configuration.c): records `"name" {fields};;`, comments, and the
collective fine tuning file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from analyzer.errors import TracelibError
from analyzer.replay.counts import OF_NODE
from analyzer.replay.machine import AS_CALLS, COLLECTIVE_NAMES, CollectiveModel, Machine, Model, Network, Node
from analyzer.replay.machine_toml import MODELS, SIZES, collective_model

Field = str | float | list[int]

_MODEL_OF = {1: Model.CONSTANT, 2: Model.LINEAR, 3: Model.LOG}


@dataclass(frozen=True)
class Module:
    """A region (event type and value) that takes `ratio` times as long; negative: -ratio seconds."""

    type: int
    value: int
    ratio: float


@dataclass(frozen=True)
class Configuration:
    """What a .cfg file says."""

    machine: Machine
    modules: tuple[Module, ...] = ()

    @property
    def alone(self) -> Machine:
        """The machine, for what scales no computation. Raises TracelibError where there are modules."""
        if self.modules:
            hint = "leave its modules out; analyze what-if scales regions, analyze replay the modules"
            raise TracelibError("the configuration has modules, which only analyze replay scales", hint)
        return self.machine


@dataclass(frozen=True)
class _Record:
    name: str
    fields: list[Field]
    where: str  # "file.cfg:12"


def read_cfg(path: str | Path) -> Configuration:
    """The machine and modules of a .cfg file. Raises TracelibError with the number of the line that is wrong."""
    path = Path(path)
    try:
        text = path.read_text(errors="replace")
    except OSError as error:
        raise TracelibError(f"cannot read {path}: {error.strerror}", "name a machine file") from error
    build = _Builder(path.parent)
    for record in _records(text, str(path)):
        build.add(record)
    return build.finish(str(path))


def _records(text: str, name: str) -> Iterator[_Record]:
    """The records of a file, each on one line; the first line is skipped, whatever it says."""
    text = re.sub(r"/\*.*?\*/", lambda m: "\n" * m[0].count("\n"), text, flags=re.DOTALL)
    for number, line in enumerate(text.splitlines(), 1):
        if number == 1 or not line.strip() or "//" in line or line.lstrip().startswith("#"):
            continue
        where = f"{name}:{number}"
        found = re.fullmatch(r'\s*"([^"]*)"\s*\{(.*)\}\s*;;\s*', line)
        if not found:
            raise TracelibError(f"{where}: not a record", 'a record is "name" {field, ...};; on one line')
        yield _Record(found[1].strip(), _fields(found[2], where), where)


def _fields(text: str, where: str) -> list[Field]:
    pattern = r'\s*(?:"([^"]*)"|\[(\d+)\]\s*\{([^}]*)\}|([^,"{}\[\]]+?))\s*(?:,|$)'
    found: list[Field] = []
    at = 0
    while at < len(text.rstrip()):
        match = re.compile(pattern).match(text, at)
        if not match:
            raise TracelibError(f"{where}: cannot read {text[at:].strip()[:40]!r}", "fields are separated by commas")
        at = match.end()
        if match[1] is not None:
            found.append(match[1])
        elif match[2] is not None:
            values = [_int(v, where) for v in match[3].split(",") if v.strip()]
            if len(values) != int(match[2]):
                raise TracelibError(f"{where}: [{match[2]}] announces another number than {len(values)}", "correct it")
            found.append(values)
        else:
            found.append(_float(match[4], where))
    return found


def _float(text: str, where: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise TracelibError(f"{where}: {text!r} is not a number", "correct the field") from None


def _int(value: Field | str, where: str) -> int:
    number = _float(value, where) if isinstance(value, str) else value
    if not isinstance(number, float) or number != int(number):
        raise TracelibError(f"{where}: {value!r} is not a whole number", "correct the field")
    return int(number)


class _Builder:
    """Collects records into a machine."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._networks: dict[int, Network] = {}
        self._expected: dict[int, int] = {}
        self._nodes: list[Node] = []
        self._models: dict[int, Model] = {}
        self._modules: list[Module] = []
        self._mapping: str | tuple[int, ...] = "fill"
        self._mappings: list[tuple[int, ...]] = []  # of each application
        self._per_node = 0
        self._wan = 0.0
        self._collectives: Mapping[str, CollectiveModel] = {}

    def add(self, record: _Record) -> None:
        """Take one record."""
        known = {
            "wide area network information": (self._wide_area, (7,)),
            "environment information": (self._environment, (7,)),
            "node information": (self._node, (11, 13, 14)),
            "multi node information": (self._multi_node, (14,)),
            "mapping information": (self._explicit_mapping, (3,)),
            "predefined mapping information": (self._predefined_mapping, (1, 2)),
            "configuration files": (self._files, (4,)),
            "modules information": (self._module, (3,)),
            "file system parameters": (lambda _: None, (5,)),
        }
        if record.name not in known:
            raise TracelibError(f"{record.where}: record {record.name!r} is not known", f"known: {', '.join(known)}")
        take, lengths = known[record.name]
        if len(record.fields) not in lengths:
            text = f"{record.where}: {record.name!r} has {len(record.fields)} fields"
            raise TracelibError(text, f"it has {' or '.join(map(str, lengths))}")
        take(record)

    def _numbers(self, record: _Record, first: int = 0) -> list[float]:
        values = record.fields[first:]
        for value in values:
            if not isinstance(value, float):
                raise TracelibError(f"{record.where}: {value!r} is not a number", "correct the field")
        return [v for v in values if isinstance(v, float)]

    def _wide_area(self, record: _Record) -> None:
        *_, bandwidth, _model = self._numbers(record, 1)
        self._wan = bandwidth

    def _environment(self, record: _Record) -> None:
        number = _int(record.fields[1], record.where)
        nodes, bandwidth, buses, model = self._numbers(record, 3)
        if int(model) not in _MODEL_OF:
            raise TracelibError(f"{record.where}: collective model {model:g}", "1 constant, 2 linear, 3 logarithmic")
        self._networks[number] = Network(bandwidth, int(buses))
        self._expected[number], self._models[number] = int(nodes), _MODEL_OF[int(model)]

    def _node(self, record: _Record) -> None:
        fields = list(record.fields)
        if len(fields) == 14:  # a node number after the machine's
            del fields[1]
        if len(fields) == 11:  # before version 4: neither processors' architecture nor the wide area's latency
            raise TracelibError(
                f"{record.where}: a node of Dimemas before version 4", "convert it with DimemasUpdateCFG"
            )
        self._nodes.append(self._make(fields, record))

    def _multi_node(self, record: _Record) -> None:
        fields = list(record.fields)
        count = _int(fields.pop(1), record.where)
        self._nodes += [self._make(fields, record)] * count

    def _make(self, fields: list[Field], record: _Record) -> Node:
        machine = _int(fields[0], record.where)
        numbers = self._numbers(replace(record, fields=fields[2:]))
        cpus, speed, intra_s, intra_mb, buses, intra_in, intra_out, inter_s, in_, out, wan_s = numbers
        if cpus < 1 or speed < 0:
            raise TracelibError(f"{record.where}: a node with {cpus:g} processors of speed {speed:g}", "correct it")
        links = _links(int(in_), int(out))
        inner = _links(int(intra_in), int(intra_out))
        return Node(
            cpus=int(cpus), speed=speed, intra_latency_s=intra_s, intra_bandwidth_mb=intra_mb,
            intra_buses=int(buses), intra_links_in=inner[0], intra_links_out=inner[1], latency_s=inter_s,
            links_in=links[0], links_out=links[1], half_duplex=links[2], wan_latency_s=wan_s, network=machine,
        )  # fmt: skip

    def _explicit_mapping(self, record: _Record) -> None:
        nodes = record.fields[2]
        if not isinstance(nodes, list) or len(nodes) != _int(record.fields[1], record.where):
            raise TracelibError(f"{record.where}: the mapping does not name a node for each task", "[n] {0, 0, ...}")
        self._mappings.append(tuple(nodes))

    def _predefined_mapping(self, record: _Record) -> None:
        text = str(record.fields[-1]).upper()
        found = re.fullmatch(r"(\d+) TASKS_PER_NODE", text)
        if found:
            self._per_node = int(found[1])
        elif text == "INTERLEAVED":
            self._mapping = "round-robin"
        elif text != "FILL_NODES":
            raise TracelibError(f"{record.where}: mapping {text!r}", "FILL_NODES, INTERLEAVED or n TASKS_PER_NODE")

    def _files(self, record: _Record) -> None:
        scheduler, _, collectives, _ = map(str, record.fields)
        if scheduler:
            raise TracelibError(f"{record.where}: scheduler file {scheduler!r}", "say the policy in a TOML machine")
        if collectives:
            self._collectives = read_collectives(self._folder / collectives)

    def _module(self, record: _Record) -> None:
        type_, value, ratio = self._numbers(record)
        self._modules.append(Module(int(type_), int(value), ratio))

    def finish(self, name: str) -> Configuration:
        """The machine; nodes must be as many as announced."""
        if not self._networks or not self._nodes:
            raise TracelibError(f"{name}: no environment or no node", "a machine has both")
        numbers = sorted(self._networks)
        for number in numbers:
            there = sum(node.network == number for node in self._nodes)
            if there != self._expected[number]:
                raise TracelibError(
                    f"{name}: environment {number} announces {self._expected[number]} nodes, {there} are described",
                    "correct the count or the nodes",
                )
        index = {number: k for k, number in enumerate(numbers)}
        nodes = tuple(replace(node, network=index.get(node.network, -1)) for node in self._nodes)
        both = self._models[numbers[0]]
        default = CollectiveModel(in_model=both, out_model=both)
        mapping = self._mappings[-1] if self._mappings else self._mapping
        if self._per_node:
            mapping = tuple(k for k in range(len(nodes)) for _ in range(self._per_node))
        machine = Machine(
            nodes=nodes, networks=tuple(self._networks[n] for n in numbers), wan_bandwidth_mb=self._wan,
            mapping=mapping, mappings=tuple(self._mappings[:-1]), eager_limit=AS_CALLS,
            collectives=dict.fromkeys(COLLECTIVE_NAMES, default) | dict(self._collectives),
        )  # fmt: skip
        return Configuration(machine, tuple(self._modules))


def _links(into: int, out: int) -> tuple[int, int, bool]:
    """Of links in and out, and whether they are one: Dimemas takes a node with only one kind for half duplex."""
    if into and out:
        return into, out, False
    most = max(into, out)
    return most, most, most > 0


def read_collectives(path: Path) -> Mapping[str, CollectiveModel]:
    """A collective fine tuning file: lines `id model size model size contention`."""
    try:
        lines = path.read_text(errors="replace").splitlines()
    except OSError as error:
        raise TracelibError(f"cannot read {path}: {error.strerror}", "the machine names it") from error
    found = {}
    for number, line in enumerate(lines, 1):
        words = line.split()
        if not words or not words[0].isdigit():
            continue
        where = f"{path}:{number}"
        if int(words[0]) >= len(COLLECTIVE_NAMES):
            raise TracelibError(f"{where}: operation {words[0]} is not known", "0 Barrier to 15 Alltoallw")
        found[COLLECTIVE_NAMES[int(words[0])]] = collective_model(words[1:5], where)
    return found


def cfg_text(machine: Machine, ranks: int, modules: tuple[Module, ...] = ()) -> tuple[str, str]:
    """A .cfg that says the same, and its collective fine tuning file ("collectives.cfg").

    Raises TracelibError for what Dimemas has no word for: random parameters, measured networks, scheduling.
    """
    nodes = machine.with_nodes(ranks)
    _check_sayable(machine, nodes)
    lines = ["#DIMEMAS_CONFIGURATION"]
    networks = machine.networks
    lines.append(
        f'"wide area network information" {{"", {len(networks)}, 0, 4, 0.0, {_n(machine.wan_bandwidth_mb)}, 1}};;'
    )
    for k, network in enumerate(networks):
        count = sum(node.network == k for node in nodes)
        line = f'"environment information" {{"", {k}, "", {count}, {_n(network.bandwidth_mb)}, {network.buses}, 1}};;'
        lines.append(line)
    lines += [_node_line(node) for node in nodes]
    placed = machine.place(ranks)
    lines.append(f'"mapping information" {{"", {ranks}, [{ranks}] {{{", ".join(map(str, placed))}}}}};;')
    lines.append('"configuration files" {"", "", "collectives.cfg", ""};;')
    lines += [f'"modules information" {{{m.type}, {m.value}, {_n(m.ratio)}}};;' for m in modules]
    return "\n".join(lines) + "\n", _collectives_text(machine)


def _n(value: object) -> str:
    return repr(float(value))  # type: ignore[arg-type]


def _check_sayable(machine: Machine, nodes: tuple[Node, ...]) -> None:
    values: list[object] = [machine.wan_bandwidth_mb, *(n.bandwidth_mb for n in machine.networks)]
    values += [n.buses for n in machine.networks]
    for node in nodes:
        values += [getattr(node, name) for name in OF_NODE]
        values += [node.speed, node.latency_s, node.intra_latency_s, node.intra_bandwidth_mb, node.wan_latency_s]
    if not all(isinstance(v, int | float) for v in values):
        raise TracelibError("a .cfg has no random parameters", "keep the machine as TOML")
    if any(network.pieces for network in machine.networks):
        raise TracelibError("a .cfg has no measured networks", "keep the machine as TOML")


def _node_line(node: Node) -> str:
    into = 0 if node.half_duplex else node.links_in
    numbers = [
        f"{node.cpus or 1}", _n(node.speed), _n(node.intra_latency_s), _n(node.intra_bandwidth_mb),
        f"{node.intra_buses}", f"{node.intra_links_in}", f"{node.intra_links_out}", _n(node.latency_s), f"{into}",
        f"{node.links_out}", _n(node.wan_latency_s),
    ]  # fmt: skip
    return f'"node information" {{{node.network}, "", {", ".join(numbers)}}};;'


def _collectives_text(machine: Machine) -> str:
    models = {v: k for k, v in MODELS.items()}
    sizes = {v: k for k, v in reversed(SIZES.items())}
    table = machine.collectives or {}
    lines = []
    for number, name in enumerate(COLLECTIVE_NAMES):
        row = table.get(name, CollectiveModel())
        words = models[row.in_model], sizes[row.in_size], models[row.out_model], sizes[row.out_size]
        lines.append(f"{number} {' '.join(words)} 0.0")
    return "\n".join(lines) + "\n"
