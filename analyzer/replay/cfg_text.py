"""A machine written as a Dimemas configuration file (.cfg): what `read_cfg` and Dimemas read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from analyzer.errors import TracelibError
from analyzer.replay.counts import OF_NODE
from analyzer.replay.machine import AS_CALLS, COLLECTIVE_NAMES, Machine, Node, Scheduling
from analyzer.replay.machine_cfg import Module, inverse
from analyzer.replay.machine_toml import MODELS, SIZES

_PREDEFINED = {"fill": "FILL_NODES", "round-robin": "INTERLEAVED"}


def cfg_text(
    machine: Machine,
    ranks: int | Sequence[int] | None = None,
    modules: tuple[Module, ...] = (),
    collectives: str = "collectives.cfg",
) -> tuple[str, str]:
    """A .cfg that says the same, and its collective fine tuning file, which it names `collectives`.

    ranks: of the run, or of each of several, whose nodes are then named; None: as the machine's own mapping says.
    Raises TracelibError for what Dimemas has no word for: random parameters, measured networks, and others.
    """
    counts = (ranks,) if isinstance(ranks, int) else ranks
    if not machine.nodes and not counts:
        raise TracelibError("a .cfg names each node, and this machine has as many as a run has ranks", "say --ranks N")
    nodes = machine.with_nodes(max(counts or (0,)))
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
    lines += _placed(machine, counts) if counts else _mapped(machine)
    lines.append(f'"configuration files" {{"", "", "{collectives}", ""}};;')
    lines += [f'"modules information" {{{m.type}, {m.value}, {_n(inverse(m.ratio))}}};;' for m in modules]
    return "\n".join(lines) + "\n", _collectives_text(machine)


def _placed(machine: Machine, ranks: Sequence[int]) -> Iterator[str]:
    """The nodes of the ranks of each application."""
    for k, count in enumerate(ranks):
        yield _mapping_line(machine.place(count, max(ranks), sum(ranks[:k]), k))


def _mapped(machine: Machine) -> Iterator[str]:
    mappings = (*machine.mappings, machine.mapping)
    for mapping in mappings:
        if not isinstance(mapping, str):
            yield _mapping_line(list(mapping))
        elif len(mappings) > 1:
            raise TracelibError(f"a .cfg cannot say {mapping!r} of one of several applications", "say --ranks N,...")
        else:
            yield f'"predefined mapping information" {{"{_PREDEFINED[mapping]}"}};;'


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
    table = machine.collective_models()
    lines = []
    for number, name in enumerate(COLLECTIVE_NAMES):
        row = table[name]
        words = models[row.in_model], sizes[row.in_size], models[row.out_model], sizes[row.out_size]
        lines.append(f"{number} {' '.join(words)} 0.0")
    return "\n".join(lines) + "\n"
