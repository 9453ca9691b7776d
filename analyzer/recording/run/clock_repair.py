"""Controlled logical clock: repairs violations of causality that remain after the alignment, by moving times later.

Source: R. Rabenseifner, "The controlled logical clock", 1997, and D. Becker, R. Rabenseifner, F. Wolf, J. C. Linford,
"Scalable timestamp synchronization for event traces of message-passing applications", 2009.

* Forward: if a sink (analyzer.pairing.dependences) is earlier than a source it depends on, plus the least latency, the
  sink is moved to that time. Later times of its rank are moved, too, by a clock that is 1/128 slower, so that the move
  becomes smaller little by little. In the order of causes this ends, and no time is moved further than necessary. We go
  through all points, in order of time, until no sink moves: if clocks are nearly right, the order of time is nearly the
  order of causes.
* Backward: the interval before a moved sink must not be stretched all at once. So the times before the sink are moved,
  too, up to the sink, by a clock that is 1/128 faster. A source is moved only as far as the sinks that depend on it
  allow. From there on the clock is as much faster as necessary.

The result is a map of time for each rank, in straight pieces. Times are never moved earlier. No interval is shortened
by more than 1/128. Ranks without moves keep their times exactly. Memory grows with the number of moved sinks.
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
    """Compute maps from times to repaired times, in which no sink is earlier than its sources plus `latency_ns`.

    All members of the team must call this function.

    Args:
        trace: The run.
        team: The processes; the first one computes.
        latency_ns: Least time from a source to its sink, ns.

    Returns:
        A map for each rank that needs one.

    Raises:
        TracelibError: No times can satisfy all dependences.
    """
    if team.rank == 0:
        tables = _tables(trace, latency_ns)
    return {rank: Pieces(table) for rank, table in team.bcast(tables if team.rank == 0 else None).items()}


def violations(points: Iterable[np.ndarray], ranks: int, latency_ns: int = 0) -> tuple[int, int]:
    """Count the sinks that are too early.

    Args:
        points: Blocks of sources and sinks (POINT).
        ranks: Number of ranks.
        latency_ns: Least time from a source to its sink, ns.

    Returns:
        Number of such sinks, and the largest time by which one is too early, ns.
    """
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
    """Sources and sinks (POINT) of all dependences in a temporary file, because they are read repeatedly."""

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
    """Kernel of the repair, csrc/kernels/matching/clock_repair.h."""

    def __init__(self, ranks: int, latency_ns: int) -> None:
        self._repair = ffi.gc(lib.repair_new(ranks, latency_ns), lib.repair_free)
        if self._repair == ffi.NULL:
            raise MemoryError

    def count(self, points: np.ndarray) -> tuple[int, int]:
        """Count the sinks that are too early. Also return the largest time by which one is too early, ns."""
        worst = ffi.new("int64_t *")
        return int(lib.repair_count(self._repair, pointer(points), len(points), worst)), int(worst[0])

    def settle(self, points: _Points) -> bool:
        """Move sinks until none is too early. Return False if none was too early at the begin."""
        for passes in range(MOST_PASSES):
            if not sum(_enough(lib.repair_forward(self._repair, pointer(block), len(block))) for block in points):
                return passes > 0
        raise TracelibError(
            "the clocks cannot be repaired: messages and collectives contradict each other",
            "try a shorter latency; `analyze check` says more about the trace",
        )

    def amortize(self, points: _Points) -> None:
        """Spread each move over the times before it (backward step)."""
        _enough(lib.repair_amortize(self._repair))
        if sum(_enough(lib.repair_cap(self._repair, pointer(block), len(block))) for block in points):
            _enough(lib.repair_amortize(self._repair))

    def map(self, rank: int) -> np.ndarray:
        """Return the map of a rank (PIECE); empty: its times stay."""
        table = np.zeros(lib.repair_map(self._repair, rank, ffi.NULL), PIECE)
        lib.repair_map(self._repair, rank, pointer(table, "struct clock_piece *"))
        return table


def _enough(count: int) -> int:
    """Return the result of a kernel. Raises MemoryError if it is negative."""
    if count < 0:
        raise MemoryError
    return count
