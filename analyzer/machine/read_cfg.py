"""Reading of Dimemas configuration files (.cfg), so that users of Dimemas can use their machines.

Source: "Dimemas .cfg grammar" (records of new_configuration.c, and the collective fine tuning file).
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

from analyzer.errors import TracelibError
from analyzer.machine.cfg_collectives import CollectiveLine, on_machines, read_collectives
from analyzer.machine.cfg_record import CfgRecord, records
from analyzer.machine.description import (
    COLLECTIVE_NAMES,
    MOST_NODES,
    CollectiveModel,
    FileSystem,
    Machine,
    Network,
    Node,
    PhaseModel,
    PhaseSize,
)

_KB = 1024
_MODEL_OF = {1: PhaseModel.CONSTANT, 2: PhaseModel.LINEAR, 3: PhaseModel.LOG}


@dataclass(frozen=True)
class CfgModule:
    """A region of the program (event type and value) whose computation takes `ratio` times as long.

    A negative ratio is a duration: -ratio seconds.
    """

    type: int
    value: int
    ratio: float


@dataclass(frozen=True)
class MachineConfiguration:
    """Content of a machine file (.cfg or .toml): the machine, and the modules that scale regions."""

    machine: Machine
    modules: tuple[CfgModule, ...] = ()

    @property
    def alone(self) -> Machine:
        """The machine, for a command that cannot scale regions.

        Raises:
            TracelibError: The file has modules.
        """
        if self.modules:
            hint = "leave its modules out; analyze what-if scales regions"
            raise TracelibError("the machine has modules, which only analyze replay and analyze profile scale", hint)
        return self.machine


def read_cfg(path: str | Path) -> MachineConfiguration:
    """Read machine and modules from a .cfg file.

    Raises:
        TracelibError: The file cannot be read or is not valid. The message has the number of the line.
    """
    path = Path(path)
    try:
        text = path.read_text(errors="replace")
    except OSError as error:
        raise TracelibError(f"cannot read {path}: {error.strerror}", "name a machine file") from error
    build = _Builder(path.parent)
    for record in records(text, str(path)):
        build.add(record)
    return build.finish(str(path))


class _Builder:
    """Builder of a machine from the records of a .cfg file."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._networks: dict[int, Network] = {}
        self._expected: dict[int, int] = {}
        self._nodes: list[Node] = []
        self._models: dict[int, PhaseModel] = {}
        self._modules: list[CfgModule] = []
        self._mapping: str | tuple[int, ...] = "fill"
        self._mappings: list[tuple[int, ...]] = []  # mappings of the applications, in order
        self._per_node = 0
        self._wan = 0.0
        self._file_system_said: FileSystem | None = None
        self._collectives: list[CollectiveLine] = []
        self._later: list[Callable[[], None]] = []  # checks that need all records

    def add(self, record: CfgRecord) -> None:
        """Take one record into the machine. Raises TracelibError for an unknown record or number of fields."""
        known = {
            "wide area network information": (self._wide_area, (7,)),
            "environment information": (self._environment, (7,)),
            "node information": (self._node, (11, 13, 14)),
            "multi node information": (self._multi_node, (14,)),
            "mapping information": (self._explicit_mapping, (3,)),
            "predefined mapping information": (self._predefined_mapping, (1, 2)),
            "configuration files": (self._files, (4,)),
            "modules information": (self._module, (3,)),
            "file system parameters": (self._file_system, (5,)),
            "accelerator node information": (lambda _: None, (7,)),
            "dedicated connection information": (self._dedicated, (13,)),
        }
        if record.name not in known:
            raise TracelibError(f"{record.where}: record {record.name!r} is not known", f"known: {', '.join(known)}")
        take, lengths = known[record.name]
        if len(record.fields) not in lengths:
            text = f"{record.where}: {record.name!r} has {len(record.fields)} fields"
            raise TracelibError(text, f"it needs {' or '.join(map(str, lengths))}")
        take(record)

    def _wide_area(self, record: CfgRecord) -> None:
        self._wan = record.number(5)

    def _environment(self, record: CfgRecord) -> None:
        number, model = record.whole(1), record.whole(6)
        if model not in _MODEL_OF:
            raise TracelibError(
                f"{record.where}: collective model {model} does not exist",
                "models are 1 constant, 2 linear, 3 logarithmic",
            )
        if number in self._networks:
            raise TracelibError(f"{record.where}: environment {number} is described twice", "leave one out")
        self._networks[number] = Network(record.number(4), record.whole(5))
        self._expected[number], self._models[number] = record.whole(3), _MODEL_OF[model]

    def _node(self, record: CfgRecord) -> None:
        if len(record.fields) == 11:
            return self._take(self._old_node(record), 1, record)
        number_after_machine = len(record.fields) == 14
        self._take(self._new_node(record, 2 if number_after_machine else 1), 1, record)

    def _multi_node(self, record: CfgRecord) -> None:
        self._take(self._new_node(record, 2), record.whole(1, 1), record)

    def _take(self, node: Node, count: int, record: CfgRecord) -> None:
        if len(self._nodes) + count > MOST_NODES:
            raise TracelibError(f"{record.where}: more than {MOST_NODES} nodes", "correct their number")
        self._nodes += [node] * count
        self._later.append(lambda: self._check_network(node, record))

    def _check_network(self, node: Node, record: CfgRecord) -> None:
        if node.network not in self._networks:
            raise TracelibError(f"{record.where}: there is no environment {node.network}", "describe it, or correct it")

    def _new_node(self, record: CfgRecord, at: int) -> Node:
        """Read a node record. Field `at` is the node's architecture; the node's numbers follow it."""
        cpus, speed, intra_s, intra_mb, buses, intra_in, intra_out, inter_s, into, out, wan_s = range(at + 1, at + 12)
        links = _links(record.whole(into), record.whole(out))
        inner = _links(record.whole(intra_in), record.whole(intra_out))
        return Node(
            cpus=record.whole(cpus, 1), speed=record.number(speed), intra_latency_s=record.number(intra_s),
            intra_bandwidth_mb=record.number(intra_mb), intra_buses=record.whole(buses), intra_links_in=inner[0],
            intra_links_out=inner[1], latency_s=record.number(inter_s), links_in=links[0], links_out=links[1],
            half_duplex=links[2], wan_latency_s=record.number(wan_s), network=record.whole(0),
        )  # fmt: skip

    def _old_node(self, record: CfgRecord) -> Node:
        """Read a node of before version 4 as Dimemas does: one inner bus per CPU, one half duplex link."""
        cpus = record.whole(3, 1)
        links, inner = _links(record.whole(4), record.whole(5)), _links(1, 0)
        return Node(
            cpus=cpus, speed=record.number(8), intra_latency_s=record.number(6), intra_bandwidth_mb=record.number(9),
            intra_buses=cpus, intra_links_in=inner[0], intra_links_out=inner[1], latency_s=record.number(7),
            links_in=links[0], links_out=links[1], half_duplex=links[2], wan_latency_s=record.number(10),
            network=record.whole(0),
        )  # fmt: skip

    def _explicit_mapping(self, record: CfgRecord) -> None:
        nodes = record.fields[2]
        if not isinstance(nodes, list) or len(nodes) != record.whole(1):
            raise TracelibError(
                f"{record.where}: the mapping does not name a node for each task", "write [n] {0, 0, ...}"
            )
        self._mappings.append(tuple(nodes))
        self._later.append(lambda: self._check_mapping(nodes, record))

    def _check_mapping(self, nodes: list[int], record: CfgRecord) -> None:
        if max(nodes, default=0) >= len(self._nodes):
            text = f"{record.where}: the mapping names node {max(nodes)}, but there are {len(self._nodes)}"
            raise TracelibError(text, "the first node is 0")

    def _predefined_mapping(self, record: CfgRecord) -> None:
        text = str(record.fields[-1]).upper()
        found = re.fullmatch(r"0*([1-9]\d{0,8}) TASKS_PER_NODE", text)
        if found:
            self._per_node = int(found[1])
        elif text == "INTERLEAVED":
            self._mapping = "round-robin"
        elif text != "FILL_NODES":
            raise TracelibError(
                f"{record.where}: mapping {text!r} is not known", "use FILL_NODES, INTERLEAVED or n TASKS_PER_NODE"
            )

    def _files(self, record: CfgRecord) -> None:
        scheduler, _, collectives, random = map(str, record.fields)
        if scheduler:
            raise TracelibError(
                f"{record.where}: scheduler files are not read: {scheduler!r}", "name the policy in a TOML machine"
            )
        if random:
            hint = "name distributions in a TOML machine"
            raise TracelibError(f"{record.where}: files of random values are not read: {random!r}", hint)
        if collectives:
            self._collectives = read_collectives(self._folder / collectives)

    def _file_system(self, record: CfgRecord) -> None:
        """Read the file system. A record with latency and rate 0, as templates have it, describes none."""
        latency, rate, block, servers, hits = (*map(record.number, range(3)), record.whole(3), record.number(4))
        if hits > 1:
            raise TracelibError(f"{record.where}: a hit ratio of {hits:g}", "it must be from 0 to 1")
        if not latency and not rate:
            return
        if hits != 1:
            hint = "write 1: then all reads and writes take their time"
            raise TracelibError(f"{record.where}: a hit ratio of {hits:g} is not simulated", hint)
        self._file_system_said = FileSystem(latency, rate, rate, servers, round(block * _KB) if block * _KB > 1 else 0)

    def _module(self, record: CfgRecord) -> None:
        self._modules.append(CfgModule(record.whole(0), record.whole(1), inverse(record.number(2, -math.inf))))

    def _dedicated(self, record: CfgRecord) -> None:
        raise TracelibError(f"{record.where}: dedicated connections are not simulated", "leave them out")

    def finish(self, name: str) -> MachineConfiguration:
        """Return the machine, after checks that need all records, such as the announced numbers of nodes."""
        if not self._networks or not self._nodes:
            raise TracelibError(f"{name}: it describes no environment, or no node", "a machine needs both")
        for check in self._later:
            check()
        numbers = sorted(self._networks)
        self._check_counts(name)
        index = {number: k for k, number in enumerate(numbers)}
        nodes = tuple(replace(node, network=index[node.network]) for node in self._nodes)
        models = [self._models[number] for number in numbers]
        defaults = [CollectiveModel(model, PhaseSize.PHASE, model, PhaseSize.PHASE) for model in models]
        mapping = self._mappings[-1] if self._mappings else self._mapping
        if self._per_node:
            mapping = tuple(islice((k for k in range(len(nodes)) for _ in range(self._per_node)), MOST_NODES))
        machine = Machine(
            nodes=nodes, networks=tuple(self._networks[n] for n in numbers), wan_bandwidth_mb=self._wan,
            mapping=mapping, mappings=tuple(self._mappings[:-1]), dialect="dimemas-5.5",
            collectives=dict.fromkeys(COLLECTIVE_NAMES, defaults[0])
            | on_machines(self._collectives, dict(enumerate(defaults))), file=name, files=self._file_system_said,
        )  # fmt: skip
        return MachineConfiguration(machine, tuple(self._modules))

    def _check_counts(self, name: str) -> None:
        there = Counter(node.network for node in self._nodes)
        for number, expected in self._expected.items():
            if there[number] != expected:
                text = f"{name}: environment {number} announces {expected} nodes, {there[number]} are described"
                raise TracelibError(text, "correct the count or the nodes")


def inverse(ratio: float) -> float:
    """Convert a module's ratio between Dimemas's form and ours, in either direction.

    Dimemas divides bursts by its ratio, a `CfgModule` multiplies by it. Times (negative) and 0 are the same in both.
    """
    return 1 / ratio if ratio > 0 else ratio


def _links(into: int, out: int) -> tuple[int, int, bool]:
    """Return links in, links out, and whether they are shared.

    Dimemas takes a node with links in one direction only for half duplex.
    """
    if into and out:
        return into, out, False
    most = max(into, out)
    return most, most, most > 0
