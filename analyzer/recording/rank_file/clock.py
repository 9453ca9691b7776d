"""Conversion of ticks to ns of the trace, by integer maps in straight pieces that are monotonic and exact."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from analyzer._kernels import lib
from analyzer.c_arrays import pointer

PIECE = np.dtype([("origin", "<i8"), ("value", "<i8"), ("multiplier", "<i8"), ("shift", "<i8")])
"""Straight piece of a map, from x = `origin` on: value(x) = ((x - origin) * multiplier >> shift) + value.

It is `struct clock_piece` of the kernels.
"""

_HALF, _WHOLE = 2**63, 2**64
LATEST_NS = 2**62
"""Bound of times, 2^62 ns, which no clock of a sound file reaches."""


def piece(x: int, value: int, slope: Fraction) -> tuple[int, int, int, int]:
    """Return a piece (row of PIECE): the line through (x, value) with this positive slope.

    The multiplier has 62 significant bits, so after 10^18 the value is wrong by less than 1.
    """
    shift = 62 - max(int(slope).bit_length(), 0)
    return _signed(x), value, max(int(slope * (1 << shift)), 1), shift


def _signed(x: int) -> int:
    return (int(x) + _HALF) % _WHOLE - _HALF


class Pieces:
    """Monotonic map of integers. The first piece also holds for all values before its origin.

    table: the pieces (PIECE), at least one, in order of origin.
    """

    def __init__(self, table: np.ndarray) -> None:
        self.table = np.ascontiguousarray(table, PIECE)
        self._only: tuple[int, int, int, int] | None = self.table[0].item() if len(self.table) == 1 else None
        self.origin = int(self.table["origin"][0])

    @classmethod
    def of(cls, *rows: tuple[int, int, int, int]) -> Pieces:
        """Make a map of these pieces, each a row of PIECE."""
        return cls(np.array(list(rows), PIECE))

    def value(self, x: int) -> int:
        """Return the value of the map at x."""
        if self._only:
            origin, value, multiplier, shift = self._only
            return (((x - origin + _HALF) % _WHOLE - _HALF) * multiplier >> shift) + value
        first = self.origin
        at = max(bisect_left(self.table, _signed(x - first) + 1, key=lambda row: int(row["origin"]) - first) - 1, 0)
        origin, value, multiplier, shift = self.table[at].tolist()
        return (_signed(x - origin) * multiplier >> shift) + value

    def values(self, x: np.ndarray) -> np.ndarray:
        """Return the values of the map at an array of x, int64."""
        x = np.require(x, requirements=("C", "A")).view(np.int64)  # a field of rows is not aligned
        values = np.empty(len(x), np.int64)
        lib.clock_values(self.struct, len(self.table), pointer(x, "int64_t *"), len(x), pointer(values, "int64_t *"))
        return values

    def first(self, value: int) -> int:
        """Return the smallest x whose value is `value` or more. It is signed, as origins are."""
        at = 0 if self._only else max(bisect_left(self.table["value"], value) - 1, 0)
        origin, start, multiplier, shift = self._only or self.table[at].tolist()
        x = origin - ((start - int(value) << shift) // multiplier)
        return min(x, int(self.table["origin"][at + 1])) if at + 1 < len(self.table) else x

    @property
    def furthest(self) -> int:
        """Largest difference value(x) - x over the origins and the points just before them."""
        starts = self.table["origin"]
        ends = self.values(starts[1:] - 1) - (starts[1:] - 1)
        return int(max((self.table["value"] - starts).max(), ends.max(initial=0)))

    @cached_property
    def struct(self) -> Any:
        """C pointer to the pieces, `const struct clock_piece *`."""
        return pointer(self.table, "const struct clock_piece *")


@dataclass(frozen=True, eq=False)
class Clock:
    """Clock that maps ticks to ns of the trace, with an optional correction from these to corrected ns."""

    pieces: Pieces
    correction: Pieces | None = None

    @classmethod
    def through(cls, ticks: int, ns: int, ns_per_tick: Fraction) -> Clock:
        """Make a clock that is the line through (ticks, ns) with this positive slope."""
        return cls(Pieces.of(piece(ticks, ns, ns_per_tick)))

    def later(self, ns: int) -> Clock:
        """Return the clock without correction, with all times `ns` later."""
        table = self.pieces.table.copy()
        table["value"] += ns
        return Clock(Pieces(table))

    def corrected(self, correction: Pieces | None) -> Clock:
        """Return the clock with this correction, a map of ns to corrected ns; None: without correction."""
        return Clock(self.pieces, correction) if correction or self.correction else self

    @property
    def ns_per_tick(self) -> Fraction:
        """Slope of the first piece, ns per tick, without correction."""
        _, _, multiplier, shift = self.pieces.table[0].tolist()
        return Fraction(multiplier, 1 << shift)

    def ns(self, ticks: int) -> int:
        """Return the time of a tick, ns. It is limited to +-LATEST_NS, which only damaged ticks reach.

        Differences of times then fit into int64.
        """
        ns = self.pieces.value(int(ticks))
        ns = self.correction.value(ns) if self.correction else ns
        return max(-LATEST_NS, min(ns, LATEST_NS))

    def times(self, ticks: np.ndarray) -> np.ndarray:
        """Return the times of an array of ticks, int64 ns. They are not limited as in `ns`."""
        ns = self.pieces.values(ticks)
        return self.correction.values(ns) if self.correction else ns

    def ticks(self, ns: int) -> int:
        """Return the first tick whose time is `ns` or later, within the range of uint64."""
        ns = self.correction.first(int(ns)) if self.correction else int(ns)
        origin = self.pieces.origin
        unsigned = origin % _WHOLE  # ticks beyond 2^63 stand in the table as negative numbers
        return min(max(self.pieces.first(ns) - origin + unsigned, 0), _WHOLE - 1)

    def fill(self, struct) -> None:
        """Set a `struct clock` of the kernels to point to this clock, which must stay alive as long as the struct."""
        struct.pieces, struct.n_pieces = self.pieces.struct, len(self.pieces.table)
        if self.correction:
            struct.corrections, struct.n_corrections = self.correction.struct, len(self.correction.table)
