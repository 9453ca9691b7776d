"""The machine of the reference simulator: costs, limited resources, the time of collectives.

Source: "Dimemas specification", sections 1.4, 1.7 to 1.9, formulas F1 to F4.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from reference_draws import Draws

from analyzer.machine.description import (
    COLLECTIVE_NAMES,
    CostPiece,
    Machine,
    Node,
    PhaseModel,
    PhaseSize,
    Quantity,
    constant_both_ways,
    simple_collectives,
)
from analyzer.program.model import Program


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
    """Costs of one program on one machine."""

    def __init__(self, program: Program, machine: Machine) -> None:
        self.program, self.machine = program, machine
        self.thesis = machine.dialect == "thesis"
        self.as_dimemas = machine.dialect == "dimemas-5.5"
        self.nodes = machine.with_nodes(program.ranks)
        self.first_time = 1 + 5 * len(self.nodes) + len(machine.networks) + 1  # the parameter after the rates
        self.machine = machine = self.counted(machine)
        self.nodes = machine.nodes
        self.node_of = machine.place(program.ranks)
        default = simple_collectives(PhaseModel.CONSTANT) if self.thesis else constant_both_ways()
        self.models = {**default, **(machine.collectives or {})}
        self.room: dict[tuple[str, int], int] = {}
        """How many there are of the resources that are limited."""
        for k, node in enumerate(self.nodes):
            self.room |= {("out", k): node.links_out, ("in", k): node.links_in, ("bus inside", k): node.intra_buses}
            self.room |= {("out inside", k): node.intra_links_out, ("in inside", k): node.intra_links_in}
        self.room |= {("bus", k): network.buses for k, network in enumerate(machine.networks)}
        self.room = {name: n for name, n in self.room.items() if n}

    def counted(self, machine: Machine) -> Machine:
        """With its numbers of CPUs, links and buses, which are drawn once."""
        number = self.first_time + 4
        nodes, networks = [], []
        for node in self.nodes:
            names = ("cpus", "links_out", "links_in", "intra_buses", "intra_links_out", "intra_links_in")
            drawn = {}
            for name in names:
                number += 1
                drawn[name] = Draws(machine.seed).count(getattr(node, name), number)
            nodes.append(replace(node, **drawn))
        for network in machine.networks:
            number += 1
            networks.append(replace(network, buses=Draws(machine.seed).count(network.buses, number)))
        self.first_level = number + 1  # the parameter after the counts
        self.first_of_files = self.first_level + len(machine.scheduling.levels) + 4
        files = machine.files
        if files:
            files = replace(files, servers=Draws(machine.seed).count(files.servers, self.first_of_files + 6))
        return replace(machine, nodes=tuple(nodes), networks=tuple(networks), files=files)

    def message(self, a: int, b: int, size: int, draws: Draws) -> tuple[int, int, int]:
        """From node a to node b, ns: latency on the processor, to the arrival, that links are held."""
        here, there = self.nodes[a], self.nodes[b]
        pieces = self.pieces(here, there, a == b)
        if pieces:
            p = self.piece(pieces, size)
            parts = (p.cpu, p.cpu_slope), (p.wire, p.wire_slope), (p.hold, p.hold_slope)
            return tuple(nearest(at_0 + slope * size) for at_0, slope in parts)  # type: ignore[return-value]
        latency = draws.time(*self.latency(a, a == b, here.network == there.network))
        wire = duration(size, draws.rate(*self.bandwidth(a, a == b, here.network == there.network)))
        return nearest(latency * 1e9), wire, wire

    def latency(self, a: int, inside: bool, near: bool) -> tuple[Quantity, int]:
        """Return the latency of node a (within it, within its network, or beyond) and the parameter's number."""
        node, first = self.nodes[a], 1 + 5 * a
        if inside:
            return node.intra_latency_s, first + 2
        return (node.latency_s, first + 1) if near else (node.wan_latency_s, first + 4)

    def bandwidth(self, a: int, inside: bool, near: bool) -> tuple[Quantity, int]:
        """Return the bandwidth of node a, and the parameter's number, as `latency` does."""
        node, first, behind = self.nodes[a], 1 + 5 * a, 1 + 5 * len(self.nodes)
        if inside:
            return node.intra_bandwidth_mb, first + 3
        if near:
            return self.machine.networks[node.network].bandwidth_mb, behind + node.network
        return self.machine.wan_bandwidth_mb, behind + len(self.machine.networks)

    def pieces(self, here: Node, there: Node, inside: bool) -> tuple[CostPiece, ...]:
        """Return the measured costs within a node or within a network."""
        if inside:
            return here.intra
        return self.machine.networks[here.network].pieces if here.network == there.network else ()

    @staticmethod
    def piece(pieces: tuple[CostPiece, ...], size: float) -> CostPiece:
        """The last that begins at this size or below; below all of them the first."""
        return ([p for p in pieces if p.from_bytes <= size] or [pieces[0]])[-1]

    def needs(self, a: int, b: int) -> list[tuple[str, int]]:
        """Return the limited resources that a message from node a to node b takes."""
        if a == b:
            names = [("out inside", a), ("in inside", a), ("bus inside", a)]
        else:
            names = [("out", a), ("out" if self.nodes[b].half_duplex else "in", b)]
            if self.nodes[a].network == self.nodes[b].network:
                names.append(("bus", self.nodes[a].network))
        return [name for name in names if name in self.room]

    def burst(self, rank: int, op: dict[str, Any], draws: Draws) -> int:
        scaled, node = op["burst"] * float(self.program.factors[op["block"]]), self.node_of[rank]
        return nearest(scaled / draws.rate(self.nodes[node].speed, 1 + 5 * node)) if scaled else 0

    def collective(self, comm: int, ops: dict[int, dict[str, Any]], draws: Draws) -> int:
        """F3 of the members' operations by rank; L and BW as in point to point, the worst L of the members."""
        model = self.models[COLLECTIVE_NAMES[next(iter(ops.values()))["tag"]]]
        root = max(op["peer"] for op in ops.values())  # some traces say it on the root only
        if self.as_dimemas and not model.largest:
            last = [*ops.values()][-1]
            sent, received = last["bytes"], last["other"]
        elif root >= 0 and not model.largest:
            sent, received = ops[root]["bytes"], ops[root]["other"]
        else:
            sent, received = (max(op[name] for op in ops.values()) for name in ("bytes", "other"))
        sizes = {
            PhaseSize.MAX: max(sent, received), PhaseSize.MIN: min(sent, received),
            PhaseSize.MEAN: (sent + received) / 2,
            PhaseSize.TWICE_MAX: 2 * max(sent, received), PhaseSize.SUM: sent + received,
        }  # fmt: skip
        places = [self.node_of[m] for m in self.program.communicators[comm]]
        first = self.nodes[places[0]]
        inside, near = len(set(places)) == 1, len({self.nodes[k].network for k in places}) == 1
        latency = max(draws.time(*self.latency(k, inside, near)) for k in (places[:1] if inside else places))
        bandwidth = draws.rate(*self.bandwidth(places[0], inside, near))
        network = self.machine.networks[first.network]
        pieces = first.intra if inside else network.pieces if near else ()
        buses = first.intra_buses if inside else network.buses if near else 0
        factors = {
            PhaseModel.NONE: 0, PhaseModel.CONSTANT: 1, PhaseModel.LINEAR: len(ops),
            PhaseModel.LOG: steps(len(ops), buses),
        }  # fmt: skip
        total = 0
        phases = ("in", model.in_model, model.in_size), ("out", model.out_model, model.out_size)
        for way, growth, which in phases:
            size = {**sizes, PhaseSize.PHASE: sent if way == "in" else received}[which]
            one = nearest(latency * 1e9) + duration(size, bandwidth)
            if pieces:
                p = self.piece(pieces, int(size))
                one = nearest(p.cpu + p.wire + (p.cpu_slope + p.wire_slope) * size)
            total += factors[growth] * one
        return total

    def exclusive(self, comm: int) -> bool:
        """The collectives of a communicator hold the network."""
        first = self.nodes[self.node_of[self.program.communicators[comm][0]]]
        return self.thesis or self.machine.networks[first.network].buses > 0
