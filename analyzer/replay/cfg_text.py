"""A machine written as a Dimemas configuration file (.cfg): what `read_cfg` and Dimemas read."""

from __future__ import annotations

from analyzer.errors import TracelibError
from analyzer.replay.counts import OF_NODE
from analyzer.replay.machine import AS_CALLS, COLLECTIVE_NAMES, CollectiveModel, Machine, Node, Scheduling
from analyzer.replay.machine_cfg import Module, inverse
from analyzer.replay.machine_toml import MODELS, SIZES


def cfg_text(machine: Machine, ranks: int, modules: tuple[Module, ...] = ()) -> tuple[str, str]:
    """A .cfg that says the same, and its collective fine tuning file ("collectives.cfg").

    Raises TracelibError for what Dimemas has no word for: random parameters, measured networks, and others.
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
    lines += [f'"modules information" {{{m.type}, {m.value}, {_n(inverse(m.ratio))}}};;' for m in modules]
    return "\n".join(lines) + "\n", _collectives_text(machine)


def _n(value: object) -> str:
    return repr(float(value))  # type: ignore[arg-type]


def _check_sayable(machine: Machine, nodes: tuple[Node, ...]) -> None:
    quantities: list[object] = [machine.wan_bandwidth_mb, *(n.bandwidth_mb for n in machine.networks)]
    quantities += [n.buses for n in machine.networks]
    for node in nodes:
        quantities += [getattr(node, name) for name in OF_NODE]
        quantities += [node.speed, node.latency_s, node.intra_latency_s, node.intra_bandwidth_mb, node.wan_latency_s]
    unsayable = {
        "random parameters": not all(isinstance(q, int | float) for q in quantities),
        "measured networks": any(n.pieces for n in machine.networks) or any(node.intra for node in nodes),
        "links in one direction only": any(map(_one_way, nodes)),
        "scheduling policies": machine.scheduling != Scheduling(),
        "eager limit": machine.eager_limit not in (None, AS_CALLS),
        "synchronous sends": machine.synchronous,
        "rules of the thesis": machine.dialect == "thesis",
        "collectives of the largest sizes": any(model.largest for model in (machine.collectives or {}).values()),
    }
    for what, is_wanted in unsayable.items():
        if is_wanted:
            raise TracelibError(f"a .cfg has no {what}", "keep the machine as TOML")


def _one_way(node: Node) -> bool:
    """A 0 beside another number stands for half duplex there."""
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
