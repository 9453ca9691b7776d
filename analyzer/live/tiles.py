"""Tiles: what rows do over time at one level of detail, as a browser draws them.

A cell of level k is 2^k ns wide, a tile is BINS cells long and BLOCK rows high, so that each tile of each level begins
and ends where tiles of the level below do, and a tile is of use to any view that has it in sight.

Tiles that have been made, those that were asked for last.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import NamedTuple

import numpy as np

from analyzer.live.rows import RowGrouping, RowSet
from analyzer.live.run import LiveRun
from analyzer.timeline import ActivityKind

MOST_BYTES = 64 << 20


class TileCache:
    """Cache of the results of a function by key, limited in bytes. Several threads may use it."""

    def __init__(self, make: Callable[..., bytes], most_bytes: int = MOST_BYTES) -> None:
        self._make, self._most = make, most_bytes
        self._kept: OrderedDict[Hashable, bytes] = OrderedDict()
        self._bytes, self._lock = 0, Lock()

    def get(self, key: Hashable) -> bytes:
        """Return the bytes of a key; make them now unless they are kept."""
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
        made = self._make(key)
        with self._lock:
            if key not in self._kept:
                self._kept[key] = made
                self._bytes += len(made)
            while self._bytes > self._most:
                self._bytes -= len(self._kept.popitem(last=False)[1])
        return made

    @property
    def bytes(self) -> int:
        """Size of everything that is kept, in bytes."""
        return self._bytes


BINS, BLOCK = 256, 64
STEPS = 255
"""A share is told as a whole number of these."""
MOST_LEVELS = 54
_LANES = 256
"""Threads that are looked at together."""
_STRETCHES = 400


class Tile(NamedTuple):
    """Which one: of which rows, its level, the number of its stretch of time and of its block of rows from the top."""

    by: RowGrouping
    ranks: str
    level: int
    stretch: int
    block: int

    @property
    def edges(self) -> np.ndarray:
        """Edges of the tile's cells, ns."""
        return (np.arange(BINS + 1, dtype=np.int64) + self.stretch * BINS) << self.level


class Tiles:
    """Tiles of a run. Those that were asked for last are kept."""

    def __init__(self, run: LiveRun, most_bytes: int = MOST_BYTES) -> None:
        self._run = run
        self._kept = TileCache(self._made, most_bytes)
        self.cells = self._kept.get

    def ns(self, tile: Tile) -> np.ndarray:
        """ns of each ActivityKind, all threads of a row together: int64 of shape (doings, rows of the block, BINS)."""
        rows = self._block(tile)
        edges = tile.edges
        found = np.zeros((len(ActivityKind), len(rows), BINS), np.int64)
        of_row = np.repeat(np.arange(len(rows)), rows.threads)
        for first in range(0, len(rows.lanes), _LANES):
            some = slice(first, first + _LANES)
            met, begins = np.unique(of_row[some], return_index=True)
            found[:, met] += np.add.reduceat(self._run.times(rows.lanes[some], edges), begins, axis=1)
        return found

    def _made(self, tile: Tile) -> bytes:
        """Return shares of the time of a row's threads, in steps of 1 / STEPS: uint8 of shape (rows, BINS, doings)."""
        lengths = np.diff(tile.edges.clip(max=self._run.trace.duration_ns)).clip(1)  # the last cell may be cut short
        below = np.cumsum(self.ns(tile).clip(0), axis=0) / (self._block(tile).threads[:, None] * lengths)
        steps = np.rint(np.minimum(below, 1.0) * STEPS).astype(np.int64)  # of sums: rounding does not add up
        cells = np.diff(steps, axis=0, prepend=0).astype(np.uint8)
        return np.ascontiguousarray(np.moveaxis(cells, 0, -1)).tobytes()

    def _block(self, tile: Tile) -> RowSet:
        return self._run.rows(tile.by, tile.ranks).part(tile.block * BLOCK, (tile.block + 1) * BLOCK)

    def overview(self, by: RowGrouping, ranks: str) -> np.ndarray:
        """Return shares of the time of all rows together in equal stretches of the run, of shape (doings,
        stretches)."""
        lanes = self._run.rows(by, ranks).lanes
        edges = np.linspace(0, self._run.trace.duration_ns, _STRETCHES + 1).astype(np.int64)
        parts = [lanes[first : first + _LANES] for first in range(0, len(lanes), _LANES)]
        ns = sum(
            (self._run.times(part, edges).sum(axis=1) for part in parts), np.zeros((len(ActivityKind), _STRETCHES))
        )
        return ns / np.maximum(len(lanes) * np.diff(edges), 1)

    @property
    def kept_bytes(self) -> int:
        """Size of all tiles that are kept, in bytes."""
        return self._kept.bytes
