"""What the reference simulator knows of a machine: costs, limited resources, the time of collectives.

Source: "Dimemas specification", sections 1.4, 1.7 to 1.9, formulas F1 to F4.
"""

from __future__ import annotations

import math
from typing import Any

from analyzer.operations.operation import Program
from analyzer.replay.machine import (
    COLLECTIVE_NAMES,
    Machine,
    Model,
    Node,
    Piece,
    Size,
    constant_both_ways,
    simple_collectives,
)


def nearest(x: float) -> int:
    """Halves away from zero."""
    return math.floor(x + 0.5)


def duration(size: float, bandwidth: float) -> int:
    """S / BW in ns; MB are 2^20 bytes and 0 is infinite."""
    return nearest(size * 1e9 / (bandwidth * 2**20)) if bandwidth else 0


def steps(members: int, buses: int) -> int:
    """F4: a binomial tree whose simultaneous messages share the buses."""
    phases = range(1, math.ceil(math.log2(members)) + 1)
    return sum(math.ceil(min(2 ** (i - 1), members - 2 ** (i - 1)) / buses) if buses else 1 for i in phases)


class Costs:
    """Of one program on one machine."""

    def __init__(self, program: Program, machine: Machine) -> None:
        self.program, self.machine = program, machine
        self.dimemas = machine.dialect == "dimemas-5.5"
        self.nodes = machine.with_nodes(program.ranks)
        self.node_of = machine.place(program.ranks)
        default = constant_both_ways() if self.dimemas else simple_collectives(Model.CONSTANT)
        self.models = {**default, **(machine.collectives or {})}
        self.room: dict[tuple[str, int], int] = {}
        """How many there are of the resources that are limited."""
        for k, node in enumerate(self.nodes):
            self.room |= {("out", k): node.links_out, ("in", k): node.links_in, ("bus inside", k): node.intra_buses}
            self.room |= {("out inside", k): node.intra_links_out, ("in inside", k): node.intra_links_in}
        self.room |= {("bus", k): network.buses for k, network in enumerate(machine.networks)}
        self.room = {name: n for name, n in self.room.items() if n}

    def message(self, a: int, b: int, size: int) -> tuple[int, int, int]:
        """From node a to node b, ns: latency on the processor, to the arrival, that links are held."""
        here, there = self.nodes[a], self.nodes[b]
        pieces = self.pieces(here, there, a == b)
        if pieces:
            p = self.piece(pieces, size)
            parts = (p.cpu, p.cpu_slope), (p.wire, p.wire_slope), (p.hold, p.hold_slope)
            return tuple(nearest(at_0 + slope * size) for at_0, slope in parts)  # type: ignore[return-value]
        if a == b:
            latency, bandwidth = here.intra_latency_s, here.intra_bandwidth_mb
        elif here.network != there.network:
            latency, bandwidth = here.wan_latency_s, self.machine.wan_bandwidth_mb
        else:
            latency, bandwidth = here.latency_s, self.machine.networks[here.network].bandwidth_mb
        wire = duration(size, bandwidth)
        return nearest(latency * 1e9), wire, wire

    def pieces(self, here: Node, there: Node, inside: bool) -> tuple[Piece, ...]:
        """What was measured within a node or within a network."""
        if inside:
            return here.intra
        return self.machine.networks[here.network].pieces if here.network == there.network else ()

    @staticmethod
    def piece(pieces: tuple[Piece, ...], size: float) -> Piece:
        """The last that begins at this size or below; below all of them the first."""
        return ([p for p in pieces if p.from_bytes <= size] or [pieces[0]])[-1]

    def needs(self, a: int, b: int) -> list[tuple[str, int]]:
        """What a message from node a to node b takes of the limited resources."""
        if a == b:
            names = [("out inside", a), ("in inside", a), ("bus inside", a)]
        else:
            names = [("out", a), ("out" if self.nodes[b].half_duplex else "in", b)]
            if self.nodes[a].network == self.nodes[b].network:
                names.append(("bus", self.nodes[a].network))
        return [name for name in names if name in self.room]

    def burst(self, rank: int, op: dict[str, Any]) -> int:
        scaled = op["burst"] * float(self.program.factors[op["block"]])
        return nearest(scaled / self.nodes[self.node_of[rank]].speed)

    def collective(self, comm: int, ops: dict[int, dict[str, Any]]) -> int:
        """F3 of the members' operations by rank; L and BW as in point to point, the worst L of the members."""
        first = next(iter(ops.values()))
        model = self.models[COLLECTIVE_NAMES[first["tag"]]]
        root = max(op["peer"] for op in ops.values())  # some traces say it on the root only
        if root >= 0 and not model.largest:
            sent, received = ops[root]["bytes"], ops[root]["other"]
        else:
            sent, received = (max(op[name] for op in ops.values()) for name in ("bytes", "other"))
        sizes = {
            Size.MAX: max(sent, received), Size.MIN: min(sent, received), Size.MEAN: (sent + received) / 2,
            Size.TWICE_MAX: 2 * max(sent, received), Size.SUM: sent + received,
        }  # fmt: skip
        first_node = self.node_of[self.program.communicators[comm][0]]
        each = [self.nodes[self.node_of[m]] for m in self.program.communicators[comm]]
        network = self.machine.networks[each[0].network]
        pieces: tuple[Piece, ...] = ()
        if {self.node_of[m] for m in self.program.communicators[comm]} == {first_node}:
            latency, bandwidth, buses = each[0].intra_latency_s, each[0].intra_bandwidth_mb, each[0].intra_buses
            pieces = each[0].intra
        elif len({node.network for node in each}) > 1:
            latency, bandwidth, buses = max(n.wan_latency_s for n in each), self.machine.wan_bandwidth_mb, 0
        else:
            latency, bandwidth, buses = max(n.latency_s for n in each), network.bandwidth_mb, network.buses
            pieces = network.pieces
        factors = {
            Model.NONE: 0, Model.CONSTANT: 1, Model.LINEAR: len(ops), Model.LOG: steps(len(ops), buses)
        }  # fmt: skip
        total = 0
        for way, which in ((model.in_model, model.in_size), (model.out_model, model.out_size)):
            size = sizes[which]
            one = nearest(latency * 1e9) + duration(size, bandwidth)
            if pieces:
                p = self.piece(pieces, int(size))
                one = nearest(p.cpu + p.wire + (p.cpu_slope + p.wire_slope) * size)
            total += factors[way] * one
        return total

    def exclusive(self, comm: int) -> bool:
        """The collectives of a communicator hold the network."""
        first = self.nodes[self.node_of[self.program.communicators[comm][0]]]
        return not self.dimemas or self.machine.networks[first.network].buses > 0
