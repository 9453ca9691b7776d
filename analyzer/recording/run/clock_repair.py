"""A controlled logical clock: what measured clocks leave of violated causality is repaired by moving times later.

After R. Rabenseifner, "The controlled logical clock", 1997, and D. Becker, R. Rabenseifner, F. Wolf, J. C. Linford,
"Scalable timestamp synchronization for event traces of message-passing applications", 2009:

* Forward: a sink (analyzer.pairing.dependences) that is earlier than a source it depends on, plus the least latency, is
  moved there. What follows on its rank is moved with it, a clock of 1/128 slower making up for it little by little. In
  the order of causes this ends, and nothing is moved further than it must be. We pass over all points, in order of
  time, until no sink moves: where clocks are nearly right that order is nearly the order of causes.
* Backward: so that the interval before a moved sink is not stretched all at once, what lies before it is moved, too, by
  a clock of 1/128 faster, up to it. A source only as far as the sinks that depend on it allow; then the clock is as
  much faster as it has to be from there on.

The result is a map of time for each rank, in straight pieces. Times are never moved earlier, no interval is shortened
by more than 1/128, and ranks on which nothing was moved keep theirs to the bit. Memory is that of the moved sinks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from analyzer._kernels import ffi, lib
from analyzer.c_arrays import pointer
from analyzer.columns.spill import Spill
from analyzer.errors import TracelibError
from analyzer.pairing.dependences import POINT, collective_points, message_points
from analyzer.parallel import Team
from analyzer.recording.rank_file.clock import PIECE, Pieces
from analyzer.trace import Trace

MOST_PASSES = 1000


def repairs(trace: Trace, team: Team, latency_ns: int = 0) -> dict[int, Pieces]:
    """For each rank that needs one a map of its times to repaired ones, after which no sink is earlier than its sources
    plus `latency_ns`. Collective over the team.

    Raises TracelibError if no times can satisfy all dependences.
    """
    if team.rank == 0:
        tables = _tables(trace, latency_ns)
    return {rank: Pieces(table) for rank, table in team.bcast(tables if team.rank == 0 else None).items()}


def violations(points: Iterable[np.ndarray], ranks: int, latency_ns: int = 0) -> tuple[int, int]:
    """How many sinks among blocks of POINT are too early, and by how much the worst is (ns)."""
    kernel = _Kernel(ranks, latency_ns)
    counts = [kernel.count(block) for block in points]
    return sum(n for n, _ in counts), max((worst for _, worst in counts), default=0)


def _tables(trace: Trace, latency_ns: int) -> dict[int, np.ndarray]:
    kernel = _Kernel(trace.size, latency_ns)
    points = _Points(trace)
    try:
        if kernel.settle(points):
            kernel.amortize(points)
    finally:
        points.close()
    maps = {rank: kernel.map(rank) for rank in range(trace.size)}
    return {rank: table for rank, table in maps.items() if len(table)}


class _Points:
    """The points of all dependences, put aside to be passed over repeatedly."""

    def __init__(self, trace: Trace) -> None:
        self._spill = Spill(POINT)
        self._blocks = 0
        for messages, collectives in zip(message_points(trace), collective_points(trace), strict=True):
            self._spill.append(self._blocks, messages)
            self._spill.append(self._blocks, collectives)
            self._blocks += 1

    def __iter__(self) -> Iterator[np.ndarray]:
        return (self._spill.read(block) for block in range(self._blocks))

    def close(self) -> None:
        self._spill.close()


class _Kernel:
    """csrc/kernels/matching/clock_repair.h."""

    def __init__(self, ranks: int, latency_ns: int) -> None:
        self._repair = ffi.gc(lib.repair_new(ranks, latency_ns), lib.repair_free)
        if self._repair == ffi.NULL:
            raise MemoryError

    def count(self, points: np.ndarray) -> tuple[int, int]:
        """Sinks that are too early as they are, and by how much the worst is."""
        worst = ffi.new("int64_t *")
        return int(lib.repair_count(self._repair, pointer(points), len(points), worst)), int(worst[0])

    def settle(self, points: _Points) -> bool:
        """Move sinks until none is too early. False: none was."""
        for passes in range(MOST_PASSES):
            if not sum(_enough(lib.repair_forward(self._repair, pointer(block), len(block))) for block in points):
                return passes > 0
        raise TracelibError(
            "the clocks cannot be repaired: messages and collectives contradict each other",
            "try a shorter latency; `analyze check` says more about the trace",
        )

    def amortize(self, points: _Points) -> None:
        """Spread each move over the time before it."""
        _enough(lib.repair_amortize(self._repair))
        if sum(_enough(lib.repair_cap(self._repair, pointer(block), len(block))) for block in points):
            _enough(lib.repair_amortize(self._repair))

    def map(self, rank: int) -> np.ndarray:
        """The map of a rank (PIECE); empty if there is none."""
        table = np.zeros(lib.repair_map(self._repair, rank, ffi.NULL), PIECE)
        lib.repair_map(self._repair, rank, pointer(table, "struct clock_piece *"))
        return table


def _enough(count: int) -> int:
    """What a kernel returned, unless it says that memory is short."""
    if count < 0:
        raise MemoryError
    return count
