"""A machine with only a part of its network's costs: the other costs are 0."""

from __future__ import annotations

from dataclasses import replace

from analyzer.machine.counts import with_counts
from analyzer.machine.machine import Machine, Network, Node, Piece


def only(
    machine: Machine, *, latency: bool = False, bandwidth: bool = False, contention: bool = False, cpus: int = 0
) -> Machine:
    """The machine with the latency, the bandwidth, the buses and links of its network, or with none of these.

    Latency is what the smallest message costs, bandwidth what others cost more; between nodes, within them, and
    between networks. cpus: of each node; 0: as many as it has.
    """

    def node(of: Node) -> Node:
        if not latency:
            of = replace(of, latency_s=0.0, intra_latency_s=0.0, wan_latency_s=0.0)
        if not bandwidth:
            of = replace(of, intra_bandwidth_mb=0.0)
        if not contention:
            of = replace(of, links_out=0, links_in=0, half_duplex=False)
            of = replace(of, intra_buses=0, intra_links_out=0, intra_links_in=0)
        of = replace(of, intra=_pieces(of.intra, latency, bandwidth))
        return replace(of, cpus=cpus) if cpus else of

    def network(of: Network) -> Network:
        pieces = _pieces(of.pieces, latency, bandwidth)
        return Network(of.bandwidth_mb if bandwidth else 0.0, of.buses if contention else 0, pieces)

    return replace(
        machine,
        node=node(machine.node),
        nodes=tuple(map(node, machine.nodes)),
        networks=tuple(map(network, machine.networks)),
        wan_bandwidth_mb=machine.wan_bandwidth_mb if bandwidth else 0.0,
    )


def _pieces(pieces: tuple[Piece, ...], latency: bool, bandwidth: bool) -> tuple[Piece, ...]:
    """Of what was measured: the costs of its smallest message, what others cost more, both or none."""
    if not pieces or (latency and bandwidth):
        return pieces
    first = pieces[0]
    if latency:
        return (Piece(0, cpu=first.cpu, wire=first.wire, hold=first.hold),)
    if not bandwidth:
        return ()
    return tuple(replace(p, cpu=p.cpu - first.cpu, wire=p.wire - first.wire, hold=p.hold - first.hold) for p in pieces)


def pinned(machine: Machine, ranks: int) -> Machine:
    """The machine with each rank named the node that it is on, so that it stays there whatever else changes."""
    return replace(machine, mapping=tuple(with_counts(machine, ranks).place(ranks)), mappings=())
