"""Programs: the computation and communication of ranks, without the times of a network. The simulator's input.

Source: "Dimemas specification", section 1.2 (what a trace must contain).

Also reads and changes the operations of a program piece by piece, wherever they are stored.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from analyzer.program.operation import OP, PORTS, virtual_threads
from analyzer.program.storage import OperationSpill, PackedOperations


@dataclass(frozen=True)
class LeftOut:
    """Calls of one procedure of a trace whose data no network moves, with the time in them, sum over all ranks.

    They have no operation, or are calls on files.
    """

    procedure: str
    calls: int
    time_ns: int


@dataclass(frozen=True)
class Program:
    """Operations of all threads of an application, thread after thread. The operations of one thread are a *stream*.

    Attributes:
        ops: Operations of all streams (OP), as an array or packed.
        offsets: Stream k is the operations offsets[k] to offsets[k + 1].
        rank: Rank of each stream.
        thread: Thread of each stream, within its rank.
        slots: Largest number of requests that each stream has open.
        communicators: Ranks of the members of each communicator.
        ranks: Number of ranks.
        name: Name of the program.
        factors: Factor for the bursts of operations of block b. Negative: such a burst lasts -factor seconds.
        priority: Priority of each rank; smaller is favoured. None: no priorities are given.
        shared_slots: Largest number of open requests with OperationFlag.SHARED of all streams of a rank together. One
            stream may open such a request and another one close it. None: there are no such requests.
        cpu_time: True: bursts are CPU time. False: they are time by the clock.
        left_out: Calls of the trace whose data no network moves, most time first.
        buffered: Size in bytes up to which the run shows that sends with OperationFlag.STANDARD do not wait. -1: the
            run
            does not show it.
    """

    ops: np.ndarray | PackedOperations  # OP
    offsets: np.ndarray  # (streams + 1,) int64
    rank: np.ndarray  # (streams,) int32
    thread: np.ndarray  # (streams,) int32
    slots: np.ndarray  # (streams,) int32
    communicators: tuple[tuple[int, ...], ...]  # members by rank
    ranks: int
    name: str = ""
    factors: np.ndarray = field(default_factory=lambda: np.ones(1))
    priority: np.ndarray | None = None  # (ranks,) int64, smaller is better
    shared_slots: np.ndarray | None = None  # (ranks,) int32; None: no stream closes what another one opens
    cpu_time: bool = False  # bursts are CPU time, not time that passed
    left_out: tuple[LeftOut, ...] = ()  # of the trace, most time first
    buffered: int = -1  # bytes up to which Flag.STANDARD does not wait, as the run shows; -1: it is as it says

    def most_virtual_threads(self) -> int:
        """Return the largest number of virtual threads of an operation; 0: none is parallel."""
        return virtual_threads(self.ops) if isinstance(self.ops, np.ndarray) else self.ops.virtual_threads

    def stream_of(self, rank: int, thread: int) -> int:
        """Return the index of the stream of a thread. Raises IndexError if there is none."""
        of_thread = [k for k in self.streams_of(rank) if self.thread[k] == thread]
        return of_thread[0]

    def streams_of(self, rank: int) -> list[int]:
        """Return the indices of the streams of a rank."""
        order, first = self._by_rank
        return order[first[rank] : first[rank + 1]].tolist()

    @cached_property
    def _by_rank(self) -> tuple[np.ndarray, np.ndarray]:
        """Indices of all streams in order of rank, and where each rank's streams begin among them.

        The last element of the second array is the number of streams.
        """
        order = np.argsort(self.rank, kind="stable")
        return order, np.searchsorted(self.rank[order], np.arange(self.ranks + 1))

    def stream(self, index: int) -> slice:
        """Return the slice of `ops` with the operations of a stream."""
        return slice(int(self.offsets[index]), int(self.offsets[index + 1]))

    @classmethod
    def from_streams(
        cls, streams: Sequence[np.ndarray], communicators: Sequence[Sequence[int]] | None = None, **more: Any
    ) -> Program:
        """Make a program in which each rank has one thread.

        Args:
            streams: Operations (OP) of each rank.
            communicators: Ranks of the members of each communicator. None: communicator 0 has all ranks.
            more: Other attributes of the program.
        """
        lengths = [len(s) for s in streams]
        ranks = len(streams)
        empty = np.zeros(0, OP)
        world = (tuple(range(ranks)),)
        return cls(
            ops=np.concatenate([empty, *streams]),
            offsets=np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
            rank=np.arange(ranks, dtype=np.int32),
            thread=np.zeros(ranks, np.int32),
            slots=np.array([int(s["request"].max(initial=-1)) + 1 for s in streams], np.int32),
            communicators=tuple(map(tuple, communicators)) if communicators is not None else world,
            ranks=ranks,
            **more,
        )


_PIECE = 1 << 14
"""Number of operations that are read at a time."""


def pieces(program: Program, stream: int | None = None) -> Iterator[np.ndarray]:
    """Yield operations (OP) in arrays of limited length (2^14 of an array, or as packed operations give them).

    `stream`: only the operations of this stream. None: all operations of the program.
    """
    everything = slice(0, len(program.ops))
    range_ = everything if stream is None else program.stream(stream)
    if isinstance(program.ops, PackedOperations):
        yield from program.ops.pieces(range_.start, range_.stop)
        return
    for first in range(range_.start, range_.stop, _PIECE):
        yield program.ops[first : min(first + _PIECE, range_.stop)]


def has_ports(program: Program) -> bool:
    """Return True if the program exchanges messages with other applications."""
    return any(np.isin(ops["kind"], PORTS).any() for ops in pieces(program))


def rewritten(program: Program, change: Callable[[int, np.ndarray], None]) -> Program:
    """Return the program with changed operations.

    Args:
        program: The program.
        change: Function of (stream, operations) that changes fields of the operations (OP) of one stream in place.
    """

    def change_each(streams: range, ops: np.ndarray, cuts: np.ndarray) -> None:
        for stream, first, last in zip(streams, cuts[:-1].tolist(), cuts[1:].tolist(), strict=True):
            change(stream, ops[first:last])

    return rewritten_together(program, change_each)


def rewritten_together(program: Program, change: Callable[[range, np.ndarray, np.ndarray], None]) -> Program:
    """Return the program with changed operations, of several streams at a time.

    Args:
        program: The program.
        change: Function of (streams, operations, cuts) that changes fields of operations (OP) in place. It gets
            neighbouring streams; the operations of streams[k] are operations[cuts[k]:cuts[k + 1]].
    """
    spill = OperationSpill()
    for streams in _neighbours(program):
        cuts = program.offsets[streams.start : streams.stop + 1]
        ops = np.array(program.ops[int(cuts[0]) : int(cuts[-1])])
        change(streams, ops, cuts - cuts[0])
        for first, last in pairwise((cuts - cuts[0]).tolist()):
            spill.begin_stream()
            spill.append(ops[first:last])
    return replace(program, ops=spill.operations())


def _neighbours(program: Program) -> Iterator[range]:
    """Yield all streams in ranges: neighbours with at most _PIECE (2^14) operations in all, longer streams alone."""
    ends, first = program.offsets[1:], 0
    while first < len(ends):
        last = int(np.searchsorted(ends, program.offsets[first] + _PIECE, side="right"))
        yield range(first, max(last, first + 1))
        first = max(last, first + 1)
