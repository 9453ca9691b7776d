"""Tiles: the activities of rows over time at one zoom level, as a browser draws them.

A cell of level k is 2^k ns wide. A tile is BINS cells long and BLOCK rows high. So each tile begins and ends where
tiles of the level below do, and every view that shows its time and rows can use it. The latest tiles stay in memory.
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
    """Cache of the results of a function by key, of limited size in bytes. Several threads may use it."""

    def __init__(self, make: Callable[..., bytes], most_bytes: int = MOST_BYTES) -> None:
        self._make, self._most = make, most_bytes
        self._kept: OrderedDict[Hashable, bytes] = OrderedDict()
        self._bytes, self._lock = 0, Lock()

    def get(self, key: Hashable) -> bytes:
        """Return the bytes for a key, from the cache or computed now. The least recently used results are dropped."""
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
        """Size of all cached results in bytes."""
        return self._bytes


BINS, BLOCK = 256, 64
STEPS = 255
"""Number of steps of a share: a share of time is stored as a whole number from 0 to STEPS."""
MOST_LEVELS = 54
_LANES = 256
"""Number of threads whose times are computed at once."""
_STRETCHES = 400


class Tile(NamedTuple):
    """Key of a tile.

    Attributes:
        by, ranks: What a row stands for, and the ranks whose rows are drawn ("": all).
        level: Zoom level; a cell is 2^level ns wide.
        stretch: Number of the stretch of BINS cells.
        block: Number of the block of BLOCK rows, from the top.
    """

    by: RowGrouping
    ranks: str
    level: int
    stretch: int
    block: int

    @property
    def edges(self) -> np.ndarray:
        """Edges of the tile's cells in ns, int64 of shape (BINS + 1,)."""
        return (np.arange(BINS + 1, dtype=np.int64) + self.stretch * BINS) << self.level


class Tiles:
    """Tiles of a run. The most recently used tiles stay in memory."""

    def __init__(self, run: LiveRun, most_bytes: int = MOST_BYTES) -> None:
        self._run = run
        self._kept = TileCache(self._made, most_bytes)
        self.cells = self._kept.get

    def ns(self, tile: Tile) -> np.ndarray:
        """Return the time in ns of each ActivityKind, summed over the threads of a row.

        Returns:
            int64 of shape (activities, rows of the block, BINS).
        """
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
        """Compute each activity's share of the time of a row's threads, in steps of 1 / STEPS.

        Returns:
            The bytes of uint8 of shape (rows, BINS, activities).
        """
        lengths = np.diff(tile.edges.clip(max=self._run.trace.duration_ns)).clip(1)  # the last cell may be cut short
        below = np.cumsum(self.ns(tile).clip(0), axis=0) / (self._block(tile).threads[:, None] * lengths)
        steps = np.rint(np.minimum(below, 1.0) * STEPS).astype(np.int64)  # of sums: rounding does not add up
        cells = np.diff(steps, axis=0, prepend=0).astype(np.uint8)
        return np.ascontiguousarray(np.moveaxis(cells, 0, -1)).tobytes()

    def _block(self, tile: Tile) -> RowSet:
        return self._run.rows(tile.by, tile.ranks).part(tile.block * BLOCK, (tile.block + 1) * BLOCK)

    def overview(self, by: RowGrouping, ranks: str) -> np.ndarray:
        """Return the shares of time of each activity, all rows together, in _STRETCHES equal stretches of the run.

        Returns:
            float64 of shape (activities, stretches).
        """
        lanes = self._run.rows(by, ranks).lanes
        edges = np.linspace(0, self._run.trace.duration_ns, _STRETCHES + 1).astype(np.int64)
        parts = [lanes[first : first + _LANES] for first in range(0, len(lanes), _LANES)]
        ns = sum(
            (self._run.times(part, edges).sum(axis=1) for part in parts), np.zeros((len(ActivityKind), _STRETCHES))
        )
        return ns / np.maximum(len(lanes) * np.diff(edges), 1)

    @property
    def kept_bytes(self) -> int:
        """Size of all cached tiles in bytes."""
        return self._kept.bytes
