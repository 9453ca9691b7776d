"""Writing a machine as a Dimemas configuration file (.cfg), which `read_cfg` and Dimemas read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from analyzer.errors import TracelibError
from analyzer.machine.description import (
    COLLECTIVE_NAMES,
    CollectiveModel,
    CpuScheduling,
    FileSystem,
    Machine,
    Node,
    PhaseModel,
    PhaseSize,
)
from analyzer.machine.drawn_numbers import OF_NODE
from analyzer.machine.read_cfg import CfgModule, inverse
from analyzer.machine.read_toml import MODELS, SIZES

_PREDEFINED = {"fill": "FILL_NODES", "round-robin": "INTERLEAVED"}
_GROWTH = {1: PhaseModel.CONSTANT, 2: PhaseModel.LINEAR, 3: PhaseModel.LOG}


def cfg_text(
    machine: Machine,
    ranks: int | Sequence[int] | None = None,
    modules: tuple[CfgModule, ...] = (),
    collectives: str = "collectives.cfg",
) -> tuple[str, str]:
    """Write a machine as a Dimemas configuration file (.cfg) and its file of collectives.

    Constructs that make Dimemas 5.5.0 crash (see `crashes_dimemas`) are written only where no other form has the same
    meaning.

    Args:
        machine: The machine.
        ranks: Number of ranks of the run, or of each application. The file then names their nodes. None: the file has
            the machine's own mapping.
        modules: Modules to write.
        collectives: Name of the file of collectives.

    Returns:
        The text of the .cfg, and the text of the file of collectives ("" if it is not needed).

    Raises:
        TracelibError: Dimemas cannot express the machine: random parameters, measured networks, and others.
    """
    counts = (ranks,) if isinstance(ranks, int) else ranks
    if not machine.nodes and not counts:
        raise TracelibError(
            "a .cfg lists every node, and how many this machine has depends on the run",
            "say how many ranks the run has: --ranks N",
        )
    nodes = machine.with_nodes(sum(counts or ()))
    _check_sayable(machine, nodes)
    lines = ["#DIMEMAS_CONFIGURATION"]
    networks = machine.networks
    lines.append(
        f'"wide area network information" {{"", {len(networks)}, 0, 4, 0.0, {_n(machine.wan_bandwidth_mb)}, 1}};;'
    )
    for k, network in enumerate(networks):
        count = sum(node.network == k for node in nodes)
        rate, model = _n(network.bandwidth_mb), _of_environment(machine)
        line = f'"environment information" {{"", {k}, "", {count}, {rate}, {network.buses}, {model}}};;'
        lines.append(line)
    lines += [_node_line(node) for node in nodes]
    lines += _placed(machine, counts) if counts else _mapped(machine)
    table = _collectives_text(_named(machine))
    lines.append(f'"configuration files" {{"", "", "{collectives if table else ""}", ""}};;')
    if machine.files:
        lines.append(_files_line(machine.files))
    lines += [f'"modules information" {{{m.type}, {m.value}, {_n(inverse(m.ratio))}}};;' for m in modules]
    return "\n".join(lines) + "\n", table


def _files_line(files: FileSystem) -> str:
    """Write the line of the file system. Dimemas divides by the block size, so that 0 becomes 1 byte (no rounding)."""
    block = _n((files.block_bytes or 1) / 1024)
    numbers = [_n(files.latency_s), _n(files.read_bandwidth_mb), block, f"{files.servers}", "1.0"]
    return f'"file system parameters" {{{", ".join(numbers)}}};;'


def crashes_dimemas(text: str) -> str:
    """Name the constructs of a .cfg that make Dimemas 5.5.0 end by a segmentation fault. Return "" if it has none."""
    found = ["a list of the tasks' nodes"] if '\n"mapping information"' in text else []
    if '"configuration files" {"", "", ""' not in text:
        found.append("a file of collectives")
    return " and ".join(found)


def _of_environment(machine: Machine) -> int:
    """Return the number of the growth model that most collectives have.

    An environment line gives this model to all collectives that the file of collectives does not name.
    """
    models = [*machine.collective_models().values()]
    return max(_GROWTH, key=lambda number: models.count(_said_by(number)))


def _said_by(number: int) -> CollectiveModel:
    return CollectiveModel(_GROWTH[number], PhaseSize.PHASE, _GROWTH[number], PhaseSize.PHASE)


def _named(machine: Machine) -> dict[str, CollectiveModel]:
    """Return the collectives whose model only the file of collectives can express."""
    unsaid = _said_by(_of_environment(machine))
    return {name: model for name, model in machine.collective_models().items() if model != unsaid}


def _placed(machine: Machine, ranks: Sequence[int]) -> list[str]:
    """Return the nodes of the ranks of each application."""
    nodes = len(machine.with_nodes(sum(ranks)))
    places = machine.place_all(ranks)
    if len(places) == 1 and (predefined := _predefined(places[0], machine, nodes)):
        return [_predefined_line(predefined)]
    return [_mapping_line(place) for place in places]


def _predefined(place: list[int], machine: Machine, nodes: int) -> str:
    """Return the words of the predefined mapping that puts ranks on these nodes; "" if none does."""
    ranks = len(place)
    for mapping, words in _PREDEFINED.items():
        if place == replace(machine, mapping=mapping, mappings=()).place(ranks, nodes):
            return words
    per_node = place.count(place[0]) if place else 1
    return f"{per_node} TASKS_PER_NODE" if place == [k // per_node for k in range(ranks)] else ""


def _predefined_line(words: str) -> str:
    return f'"predefined mapping information" {{"{words}"}};;'


def _mapped(machine: Machine) -> Iterator[str]:
    mappings = (*machine.mappings, machine.mapping)
    for mapping in mappings:
        if not isinstance(mapping, str):
            place = list(mapping)
            words = _predefined(place, machine, len(machine.nodes)) if len(mappings) == 1 else ""
            yield _predefined_line(words) if words else _mapping_line(place)
        elif len(mappings) > 1:
            raise TracelibError(
                f"a .cfg cannot hold the mapping {mapping!r} of one of several applications",
                "say how many ranks each has: --ranks N,...",
            )
        else:
            yield _predefined_line(_PREDEFINED[mapping])


def _mapping_line(nodes: list[int]) -> str:
    return f'"mapping information" {{"", {len(nodes)}, [{len(nodes)}] {{{", ".join(map(str, nodes))}}}}};;'


def _n(value: object) -> str:
    return repr(float(value))  # type: ignore[arg-type]


def _check_sayable(machine: Machine, nodes: tuple[Node, ...]) -> None:
    quantities: list[object] = [machine.wan_bandwidth_mb, *(n.bandwidth_mb for n in machine.networks)]
    quantities += [n.buses for n in machine.networks]
    for node in nodes:
        quantities += [getattr(node, name) for name in OF_NODE]
        quantities += [node.speed, node.latency_s, node.intra_latency_s, node.intra_bandwidth_mb, node.wan_latency_s]
    if machine.files:
        quantities += vars(machine.files).values()
    unsayable = {
        "random parameters": not all(isinstance(q, int | float) for q in quantities),
        "measured networks": any(n.pieces for n in machine.networks) or any(node.intra for node in nodes),
        "links in one direction only": any(map(_one_way, nodes)),
        "times to open, close and sync files": any(
            getattr(machine.files, name, 0) for name in ("open_s", "close_s", "sync_s")
        ),
        "bandwidth of writing apart from that of reading": (
            machine.files is not None and machine.files.read_bandwidth_mb != machine.files.write_bandwidth_mb
        ),
        "file system that takes no time": machine.files is not None and not _takes_time(machine.files),
        "scheduling policies": machine.scheduling != CpuScheduling(),
        "eager limit": machine.eager_limit is not None,
        "synchronous sends": machine.synchronous,
        "rules of the thesis": machine.dialect == "thesis",
        "two rules for sizes of collectives": any(
            PhaseSize.PHASE in (model.in_size, model.out_size) for model in _named(machine).values()
        ),
        "collectives of the largest sizes": any(model.largest for model in (machine.collectives or {}).values()),
    }
    for what, is_wanted in unsayable.items():
        if is_wanted:
            raise TracelibError(f"a .cfg has no {what}", "keep the machine as TOML")


def _takes_time(files: FileSystem) -> bool:
    return bool(files.latency_s or files.read_bandwidth_mb)


def _one_way(node: Node) -> bool:
    """Check whether a node has links in one direction only. In a .cfg, 0 beside another number means half duplex."""
    outer = not node.half_duplex and (node.links_in == 0) != (node.links_out == 0)
    return outer or (node.intra_links_in == 0) != (node.intra_links_out == 0)


def _node_line(node: Node) -> str:
    into = 0 if node.half_duplex else node.links_in
    numbers = [
        f"{node.cpus or 1}", _n(node.speed), _n(node.intra_latency_s), _n(node.intra_bandwidth_mb),
        f"{node.intra_buses}", f"{node.intra_links_in}", f"{node.intra_links_out}", _n(node.latency_s), f"{into}",
        f"{node.links_out}", _n(node.wan_latency_s),
    ]  # fmt: skip
    return f'"node information" {{{node.network}, "", {", ".join(numbers)}}};;'


def _collectives_text(named: Mapping[str, CollectiveModel]) -> str:
    models = {v: k for k, v in MODELS.items()}
    sizes = {v: k for k, v in reversed(SIZES.items())}
    lines = []
    for number, name in enumerate(COLLECTIVE_NAMES):
        if name not in named:
            continue
        row = named[name]
        words = models[row.in_model], sizes[row.in_size], models[row.out_model], sizes[row.out_size]
        lines.append(f"{number} {' '.join(words)} 0.0\n")
    return "".join(lines)
