"""Design of a measurement of collectives: operations, numbers of ranks, sizes, segments and repetitions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tracelib.collectives.trees import ALGORITHMS
from tracelib.errors import TracelibError

NATIVE = ("bcast", "scatter")
"""MPI's own collectives from one rank to all, for which the method of measurement is made."""

_LARGEST = (1 << 31) - 1


@dataclass(frozen=True)
class CollectiveSetting:
    """One collective to measure. Every rank gets `bytes`, in segments of `segment_bytes`.

    A native collective counts as one segment, because it is not known how the MPI divides it.

    Attributes:
        name: A name of NATIVE or ALGORITHMS.
        ranks: Number of ranks.
        bytes: Bytes for each rank.
        segment_bytes: Size of a segment.
    """

    name: str
    ranks: int
    bytes: int
    segment_bytes: int

    @property
    def segments(self) -> int:
        """Number of segments. The last one may be smaller."""
        return -(-self.bytes // self.segment_bytes)


@dataclass(frozen=True)
class CollectiveDesign:
    """Design of a measurement: all useful combinations of its values.

    A segment that is not smaller than the whole message is the whole message, and so is 0. Otherwise the message must
    consist of full segments.

    Attributes:
        names: Names of NATIVE or ALGORITHMS.
        ranks: Numbers of ranks.
        sizes: Bytes for each rank.
        segments: Sizes of segments in bytes. 0: one piece.
        iterations: Number of iterations of a measuring loop.
        repetitions: Number of times that everything is measured.
    """

    names: Sequence[str]  # of NATIVE, or of ALGORITHMS
    ranks: Sequence[int]
    sizes: Sequence[int]  # bytes
    segments: Sequence[int] = (0,)  # bytes; 0: in one piece
    iterations: int = 100  # of the loop that is timed
    repetitions: int = 3  # of the whole

    def settings(self) -> Iterator[CollectiveSetting]:
        """Yield each useful combination once."""
        for ranks in self.ranks:
            for name in self.names:
                for size in self.sizes:
                    segments = (0,) if name in NATIVE else self.segments
                    for segment in sorted({piece or size for piece in segments if size % (piece or size) == 0}):
                        yield CollectiveSetting(name, ranks, size, segment)

    def check(self, world: int) -> None:
        """Check that the design can be measured.

        Args:
            world: Number of ranks of the world.

        Raises:
            TracelibError: A name, a number of ranks, a size or a segment cannot be measured.
        """
        for name in self.names:
            if name not in NATIVE + ALGORITHMS:
                raise TracelibError(f"cannot time {name}", f"choose from {', '.join(NATIVE + ALGORITHMS)}")
        for ranks in self.ranks:
            if not 2 <= ranks <= world:
                raise TracelibError(f"cannot time collectives of {ranks} ranks", f"give 2 to {world}")
        largest = max(self.ranks, default=1) if "scatter" in self.names else 1
        for size in self.sizes:
            if not 1 <= size * largest <= _LARGEST:
                raise TracelibError(f"cannot time collectives of {size} bytes", f"give 1 to {_LARGEST // largest}")
        if min(self.segments, default=0) < 0 or self.iterations < 1 or self.repetitions < 1:
            raise TracelibError("segments, iterations and repetitions are positive numbers")
        if not any(True for _ in self.settings()):
            raise TracelibError("no size is a multiple of a segment", "give 0 among the segments for whole messages")
