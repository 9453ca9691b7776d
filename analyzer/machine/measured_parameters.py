"""Latency, bandwidth and overhead of measured networks. A change keeps the shape of the costs by message size.

A message of S bytes occupies its sender's CPU for cpu(S), arrives wire(S) later, and occupies its links for hold(S)
(`description.CostPiece`). Latency is wire(0), overhead is cpu(0). The bandwidth is 1 / slope of wire for the largest
messages.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

from analyzer.errors import TracelibError
from analyzer.machine.description import CostPiece, Machine
from analyzer.machine.fields import parts_of, with_parts

_NS = 1e9
_Pieces = tuple[CostPiece, ...]


@dataclass(frozen=True)
class MeasuredCost:
    """Measured costs of all networks, or of all nodes. Values are read from the first part that was measured.

    Attributes:
        part: "network" or "node".
        name: Field of the part that holds the costs.
    """

    part: str
    name: str

    def known(self, machine: Machine) -> bool:
        """Check whether any network or node was measured."""
        return any(getattr(part, self.name) for part in parts_of(machine, self.part))

    def latency_s(self, machine: Machine) -> float:
        """Return the time in s of the smallest message from its sender's CPU to its arrival."""
        return self._first(machine)[0].wire / _NS

    def with_latency(self, machine: Machine, value_s: float) -> Machine:
        """Return a copy of the machine with another latency. The arrival of all messages shifts by the same time."""
        later = value_s * _NS - self._first(machine)[0].wire
        return self._changed(machine, lambda pieces: tuple(replace(p, wire=p.wire + later) for p in pieces))

    def overhead_s(self, machine: Machine) -> float:
        """Return the time in s that the smallest message occupies its sender's CPU. NaN: nothing was measured."""
        return self._first(machine)[0].cpu / _NS if self.known(machine) else math.nan

    def with_overhead(self, machine: Machine, value_s: float) -> Machine:
        """Return a copy of the machine with another overhead. The CPU time of all messages changes by the same time.

        Raises:
            TracelibError: Nothing was measured.
        """
        if not self.known(machine):
            raise TracelibError(
                "this machine has no parameter for the overhead",
                "only measured networks have one; where messages cost L + S/BW, the CPU is busy for the latency",
            )
        longer = value_s * _NS - self._first(machine)[0].cpu
        return self._changed(machine, lambda pieces: tuple(replace(p, cpu=p.cpu + longer) for p in pieces))

    def bandwidth(self, machine: Machine) -> float:
        """Return the bandwidth of the largest messages in bytes/s. Infinite: larger messages do not take longer."""
        slope = self._first(machine)[-1].wire_slope
        return _NS / slope if slope > 0 else math.inf

    def with_bandwidth(self, machine: Machine, value: float) -> Machine:
        """Return a copy of the machine with another bandwidth in bytes/s.

        The time beyond the smallest message is scaled, on the wire and on links. Bandwidths of 0 and infinity remove
        that time.

        Raises:
            TracelibError: The measured bandwidth is infinite.
        """
        now = self.bandwidth(machine)
        if math.isinf(now):
            raise TracelibError("the measured network has no bandwidth: large messages cost nothing", "measure more")
        return self._changed(machine, lambda pieces: _stretched(pieces, now / (value or math.inf)))

    def _first(self, machine: Machine) -> _Pieces:
        return next(getattr(p, self.name) for p in parts_of(machine, self.part) if getattr(p, self.name))

    def _changed(self, machine: Machine, change: Callable[[_Pieces], _Pieces]) -> Machine:
        """Apply a change to the parts that were measured; other parts stay as they are."""
        parts = parts_of(machine, self.part)
        new = [replace(p, **{self.name: change(getattr(p, self.name))}) if getattr(p, self.name) else p for p in parts]
        return with_parts(machine, self.part, new)


BETWEEN = MeasuredCost("network", "pieces")
WITHIN = MeasuredCost("node", "intra")


def _stretched(pieces: _Pieces, factor: float) -> _Pieces:
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
