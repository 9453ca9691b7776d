"""Latency, bandwidth and overhead of networks that were measured: other values keep the shape of the costs by size.

A message of S bytes keeps its sender's CPU for cpu(S), arrives wire(S) later, and holds its links for hold(S)
(`machine.Piece`). Latency is wire(0), overhead cpu(0), bandwidth the slope of wire for the largest messages.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

from analyzer.errors import TracelibError
from analyzer.replay.machine import Machine, Piece

_NS = 1e9


def is_measured(machine: Machine) -> bool:
    """Whether a network has costs by size."""
    return any(network.pieces for network in machine.networks)


def latency_s(machine: Machine) -> float:
    """What the smallest message takes from its sender's CPU to its arrival, of the first measured network."""
    return _first(machine)[0].wire / _NS


def with_latency(machine: Machine, value_s: float) -> Machine:
    """All messages arrive as much later, or earlier, as the smallest."""
    later = value_s * _NS - _first(machine)[0].wire
    return _changed(machine, lambda pieces: tuple(replace(p, wire=p.wire + later) for p in pieces))


def overhead_s(machine: Machine) -> float:
    """How long the smallest message keeps its sender's CPU, of the first measured network; NaN if none is measured."""
    return _first(machine)[0].cpu / _NS if is_measured(machine) else math.nan


def with_overhead(machine: Machine, value_s: float) -> Machine:
    """All messages keep it as much longer, or shorter, as the smallest."""
    if not is_measured(machine):
        raise TracelibError(
            "the network of this machine has no send_overhead of its own",
            "where messages cost L + S/BW the latency is spent on the CPU; measured networks have both",
        )
    longer = value_s * _NS - _first(machine)[0].cpu
    return _changed(machine, lambda pieces: tuple(replace(p, cpu=p.cpu + longer) for p in pieces))


def bandwidth(machine: Machine) -> float:
    """Bytes a second by which the largest messages grow, of the first measured network."""
    slope = _first(machine)[-1].wire_slope
    return _NS / slope if slope > 0 else math.inf


def with_bandwidth(machine: Machine, value: float) -> Machine:
    """What messages take beyond the smallest, on the wire and of the links, in proportion; 0 and infinite: nothing."""
    now = bandwidth(machine)
    if math.isinf(now):
        raise TracelibError("the measured network has no bandwidth: its largest messages grow for free", "measure more")
    return _changed(machine, lambda pieces: _stretched(pieces, now / (value or math.inf)))


def _stretched(pieces: tuple[Piece, ...], factor: float) -> tuple[Piece, ...]:
    wire, hold = pieces[0].wire, pieces[0].hold
    return tuple(
        replace(
            p,
            wire=wire + factor * (p.wire - wire),
            wire_slope=factor * p.wire_slope,
            hold=hold + factor * (p.hold - hold),
            hold_slope=factor * p.hold_slope,
        )
        for p in pieces
    )


def _first(machine: Machine) -> tuple[Piece, ...]:
    return next(network.pieces for network in machine.networks if network.pieces)


def _changed(machine: Machine, change: Callable[[tuple[Piece, ...]], tuple[Piece, ...]]) -> Machine:
    networks = tuple(replace(n, pieces=change(n.pieces)) if n.pieces else n for n in machine.networks)
    return replace(machine, networks=networks)
